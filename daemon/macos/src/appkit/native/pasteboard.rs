//! The general pasteboard.

use std::path::PathBuf;

use objc2::rc::Retained;
use objc2::runtime::{AnyObject, ProtocolObject};
use objc2::{ClassType, msg_send, sel};
use objc2_app_kit::{
    NSBitmapImageFileType, NSBitmapImageRep, NSPasteboard, NSPasteboardURLReadingFileURLsOnlyKey,
    NSPasteboardWriting,
};
use objc2_foundation::{NSArray, NSData, NSDictionary, NSInteger, NSNumber, NSString, NSURL};

use super::{path_of, plain, url_of};
use crate::appkit::host::HostItem;

/// `NSPasteboardAccessBehaviorAlwaysDeny`.
const ALWAYS_DENY: NSInteger = 3;

/// Whether the user has forbidden programs to read the pasteboard. Only newer systems can say.
pub fn pasteboard_denied() -> bool {
    let pasteboard = NSPasteboard::generalPasteboard();
    // SAFETY: any object may be asked.
    let is_told: bool = unsafe { msg_send![&*pasteboard, respondsToSelector: sel!(accessBehavior)] };
    if !is_told {
        return false;
    }
    // SAFETY: it responds to the selector, which takes nothing and returns an integer.
    let behavior: NSInteger = unsafe { msg_send![&*pasteboard, accessBehavior] };
    behavior == ALWAYS_DENY
}

/// The types of all that is on the pasteboard.
pub fn pasteboard_types() -> Vec<String> {
    let types = NSPasteboard::generalPasteboard().types();
    types.map(|types| types.iter().map(|kind| plain(&kind)).collect()).unwrap_or_default()
}

/// The pasteboard's content of this type. An image is converted to PNG.
pub fn pasteboard_read(kind: &str) -> Option<Vec<u8>> {
    let pasteboard = NSPasteboard::generalPasteboard();
    let data = pasteboard.dataForType(&NSString::from_str(kind));
    if data.is_none() && kind == "public.png" {
        let tiff = pasteboard.dataForType(&NSString::from_str("public.tiff"))?;
        let image = NSBitmapImageRep::imageRepWithData(&tiff)?;
        // SAFETY: no properties are asked for.
        let png = unsafe {
            image.representationUsingType_properties(NSBitmapImageFileType::PNG, &NSDictionary::new())
        };
        return png.map(|png| png.to_vec());
    }
    data.map(|data| data.to_vec())
}

/// The files on the pasteboard.
pub fn pasteboard_files() -> Vec<PathBuf> {
    let classes = NSArray::from_slice(&[NSURL::class()]);
    let yes: Retained<NSNumber> = NSNumber::new_bool(true);
    let yes: Retained<AnyObject> = yes.into();
    // SAFETY: the key is a constant of AppKit with a boolean as its value, and the class can be read from a pasteboard.
    let urls = unsafe {
        let options = NSDictionary::from_retained_objects(&[NSPasteboardURLReadingFileURLsOnlyKey], &[yes]);
        NSPasteboard::generalPasteboard().readObjectsForClasses_options(&classes, Some(&options))
    };
    let urls = urls.map(|urls| urls.to_vec()).unwrap_or_default();
    urls.into_iter().filter_map(|url| path_of(&*url.downcast::<NSURL>().ok()?)).collect()
}

/// Replaces the pasteboard's content with one item in these types; clears it if there are none.
pub fn pasteboard_write(items: Vec<HostItem>) -> bool {
    let pasteboard = NSPasteboard::generalPasteboard();
    pasteboard.clearContents();
    items.iter().all(|item| {
        let data = NSData::with_bytes(&item.bytes);
        pasteboard.setData_forType(Some(&data), &NSString::from_str(&item.kind))
    })
}

/// Replaces the pasteboard's content with these files.
pub fn pasteboard_write_files(files: Vec<PathBuf>) -> bool {
    let pasteboard = NSPasteboard::generalPasteboard();
    pasteboard.clearContents();
    let urls: Vec<Retained<ProtocolObject<dyn NSPasteboardWriting>>> =
        files.iter().map(|path| ProtocolObject::from_retained(url_of(path))).collect();
    pasteboard.writeObjects(&NSArray::from_retained_slice(&urls))
}
