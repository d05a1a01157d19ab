//! Fetches pixels from the X server: through shared memory where that works, else over the connection.

use std::fs::File;
use std::os::unix::fs::FileExt;

use axd_protocol::Bounds;
use nix::sys::memfd::{MFdFlags, memfd_create};
use tracing::debug;
use x11rb::connection::Connection;
use x11rb::protocol::shm::{ConnectionExt as _, Seg};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, ImageFormat, ImageOrder, Visualid};

use crate::x11::capture::pixels::Layout;
use crate::x11::connection::{Display, XError, XResult};
use axd_platform::{Failure, FailureKind};

/// Rows are read from shared memory in pieces that stay in the processor's cache.
const PIECE: usize = 256 * 1024;

/// Memory that the server writes to.
struct Segment {
    number: Seg,
    memory: File,
    size: usize,
}

/// Fetches pixels.
#[derive(Default)]
pub(crate) struct ImageReader {
    segment: Option<Segment>,
    /// Shared memory does not work here: the server is on another machine, or does not offer it.
    without: bool,
}

impl ImageReader {
    /// The pixels of a part of a drawable, as red, green, blue. The part must lie inside it.
    pub fn read(
        &mut self,
        display: &Display,
        drawable: Drawable,
        part: Bounds,
        layout: &Layout,
    ) -> XResult<Vec<u8>> {
        let (width, height) = (part.width.unsigned_abs(), part.height.unsigned_abs());
        let stride = layout.stride(width);
        let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
        if self.share(display, stride * height as usize)
            && let Some(segment) = &self.segment
        {
            let (x, y, wide, high) = request(part);
            let format = ImageFormat::Z_PIXMAP.into();
            display
                .connection
                .shm_get_image(drawable, x, y, wide, high, u32::MAX, format, segment.number, 0)?
                .reply()?;
            let rows = (PIECE / stride).clamp(1, height as usize);
            let mut piece = vec![0; rows * stride];
            for first in (0..height as usize).step_by(rows) {
                let bytes = &mut piece[..rows.min(height as usize - first) * stride];
                segment.memory.read_exact_at(bytes, (first * stride) as u64)?;
                bytes.chunks_exact(stride).for_each(|row| layout.read_row(row, width, &mut rgb));
            }
            return Ok(rgb);
        }
        let (x, y, wide, high) = request(part);
        let asked =
            display.connection.get_image(ImageFormat::Z_PIXMAP, drawable, x, y, wide, high, u32::MAX)?;
        let image = asked.reply()?;
        image.data.chunks_exact(stride).for_each(|row| layout.read_row(row, width, &mut rgb));
        Ok(rgb)
    }

    /// Makes sure that there is shared memory of this size; false if there cannot be.
    fn share(&mut self, display: &Display, size: usize) -> bool {
        if self.without {
            return false;
        }
        if self.segment.as_ref().is_some_and(|segment| segment.size >= size) {
            return true;
        }
        if let Some(old) = self.segment.take() {
            // A broken connection shows itself in the next request.
            let _ = display.connection.shm_detach(old.number);
        }
        match share(display, size) {
            Ok(segment) => self.segment = Some(segment),
            Err(error) => {
                debug!(%error, "pictures are taken without shared memory");
                self.without = true;
            }
        }
        !self.without
    }
}

fn share(display: &Display, size: usize) -> XResult<Segment> {
    display.require_extension("MIT-SHM")?;
    let memory = memfd_create(c"axd-picture", MFdFlags::MFD_CLOEXEC).map_err(std::io::Error::from)?;
    let memory = File::from(memory);
    memory.set_len(size as u64)?;
    let number = display.connection.generate_id()?;
    display.connection.shm_attach_fd(number, memory.try_clone()?, false)?.check()?;
    Ok(Segment { number, memory, size })
}

/// The part as the protocol wants it. Screens are smaller than these numbers.
fn request(part: Bounds) -> (i16, i16, u16, u16) {
    (part.x as i16, part.y as i16, part.width as u16, part.height as u16)
}

/// How the pixels of a drawable with this depth and visual lie in memory.
pub(crate) fn layout(display: &Display, depth: u8, visual: Visualid) -> Result<Layout, Failure> {
    let setup = display.connection.setup();
    let cannot = |why: String| Failure::new(FailureKind::NotSupported, why);
    let format =
        setup.pixmap_formats.iter().find(|format| format.depth == depth).ok_or_else(|| {
            cannot(format!("the X server does not report the pixel format of depth {depth}"))
        })?;
    let depths = setup.roots.iter().flat_map(|screen| &screen.allowed_depths);
    let masks = depths
        .flat_map(|depth| &depth.visuals)
        .find(|known| known.visual_id == visual)
        .map(|known| [known.red_mask, known.green_mask, known.blue_mask])
        .filter(|masks| masks.iter().all(|mask| *mask != 0))
        .filter(|_| matches!(format.bits_per_pixel, 16 | 24 | 32))
        .ok_or_else(|| {
            cannot(format!(
                "the screen uses a colour palette (depth {depth}); a depth of 16 bits or more is required"
            ))
        })?;
    Ok(Layout {
        bits: format.bits_per_pixel,
        pad: format.scanline_pad,
        big_endian: setup.image_byte_order == ImageOrder::MSB_FIRST,
        masks,
    })
}

/// Whether a request failed because the part does not lie inside the drawable, or is not kept there.
pub(crate) fn is_outside(error: &XError) -> bool {
    use x11rb::protocol::ErrorKind;
    matches!(error, XError::Server(error) if matches!(error.error_kind, ErrorKind::Match | ErrorKind::Value))
}
