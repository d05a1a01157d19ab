//! What the desktop does outside of apps: window operations, starting and ending apps, the clipboard
//! and images.

use std::sync::Arc;

use axd_protocol::{Bounds, DisplayInfo};
use tokio::sync::oneshot;

use super::process::{Control, Process, Request};
use super::render::{self, WindowImage};
use super::session::{SimSession, invalid};
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Failure, FailureKind, Gate, LaunchPlan,
    Launched, NO_WINDOW, Sent, WindowOp,
};

impl SimSession {
    pub(super) async fn arrange_window(&self, window: u64, op: WindowOp, gate: &Gate) -> Result<(), Failure> {
        let gone = || Failure::new(FailureKind::Gone, format!("window {window} not found"));
        let seen = self.windows().into_iter().find(|seen| seen.window == window).ok_or_else(gone)?;
        let process = self.process(seen.pid).ok_or_else(gone)?;
        gate.enter()?;
        match ask(&process, |answer| Control::Window(window, op, answer)).await {
            Some(true) => Ok(()),
            Some(false) => Err(gone()),
            None => Err(gone().sent(Sent::Maybe)),
        }
    }

    pub(super) async fn start_app(
        self: Arc<SimSession>,
        plan: LaunchPlan,
        gate: &Gate,
    ) -> Result<Launched, Failure> {
        let unknown = |failure: Failure| Failure { kind: FailureKind::Gone, ..failure };
        let (script, running) = self.find(&plan.app).map_err(unknown)?;
        let identity = Some(script.identity.clone());
        gate.enter()?;
        let front = running.filter(|_| !script.several);
        let pid = match front {
            // An app that is started a second time brings its running instance to the front.
            Some(pid) => {
                let windows = self.windows();
                let first = windows.iter().find(|seen| seen.pid == pid);
                if let (Some(seen), Some(process)) = (first, self.process(pid)) {
                    let number = seen.window;
                    ask(&process, |answer| Control::Window(number, WindowOp::Focus, answer)).await;
                }
                pid
            }
            None => self.launch_in_front(&script, plan),
        };
        Ok(Launched { pid: Some(pid), identity })
    }

    pub(super) async fn end_app(&self, pid: u32, force: bool, gate: &Gate) -> Result<(), Failure> {
        let gone = || Failure::new(FailureKind::Gone, format!("process {pid} not found"));
        let process = self.process(pid).ok_or_else(gone)?;
        gate.enter()?;
        if force {
            let (answer, reply) = oneshot::channel();
            process.controls.send(Control::Quit(answer)).map_err(|_| gone())?;
            // Without a reply the app has ended already, which is the wanted result.
            let _ = reply.await;
        } else {
            process.requests.send(Request::Close).map_err(|_| gone())?;
        }
        Ok(())
    }

    pub(super) fn pasted(&self, kind: ClipboardKind) -> Option<ClipboardContent> {
        self.clipboard().filter(|clip| match kind {
            ClipboardKind::Any => true,
            ClipboardKind::Text => matches!(clip, ClipboardContent::Text(_)),
            ClipboardKind::Image => matches!(clip, ClipboardContent::Image(_)),
            ClipboardKind::Files => matches!(clip, ClipboardContent::Files(_)),
        })
    }

    pub(super) async fn capture(&self, of: CaptureTarget, cursor: bool) -> Result<CapturedImage, Failure> {
        let mut images = self.window_images().await;
        let mut popups = Vec::new();
        let area = match of {
            CaptureTarget::All => self.span(),
            CaptureTarget::Display(number) => {
                let displays = self.displays();
                let found = displays.iter().find(|display| display.display == number);
                let known: Vec<String> = displays.iter().map(|display| display.display.to_string()).collect();
                let absent = || invalid(format!("display {number} not found; there is {}", known.join(", ")));
                found.ok_or_else(absent)?.bounds
            }
            CaptureTarget::Region(area) => self.on_screen(area)?,
            CaptureTarget::Window(window) => {
                let seen = self.windows().into_iter().find(|seen| seen.window == window);
                let gone = || Failure::new(FailureKind::Gone, format!("window {window} not found"));
                if seen.ok_or_else(gone)?.minimized {
                    let text = format!("window {window} is minimized and cannot be captured");
                    return Err(Failure::new(FailureKind::Refused, text));
                }
                images.retain(|image| image.window == window);
                let image = images.first().ok_or_else(gone)?;
                popups.clone_from(&image.popups);
                self.on_screen(image.bounds)?;
                self.on_screen(render::with_popups(image))?
            }
        };
        let background = match of {
            CaptureTarget::Window(_) => NO_WINDOW,
            _ => render::BACKGROUND,
        };
        let shows = |display: &DisplayInfo| display.bounds.intersection(&area).is_some();
        let displays = self.displays();
        let scales = displays.iter().filter(|display| shows(display)).map(|display| display.scale);
        let scale = scales.fold(1.0, f64::max);
        let pointer = cursor.then(|| self.input_state.lock().pointer());
        let image = render::draw(area, &images, self.active().1, pointer, background);
        Ok(CapturedImage { popups, ..render::enlarged(image, scale) })
    }

    /// The images of all visible windows, front to back. An app that hangs still shows what it showed last.
    async fn window_images(&self) -> Vec<WindowImage> {
        let mut images = Vec::new();
        for (_, process) in self.visible_processes() {
            images.extend(ask(&process, Control::Render).await.into_iter().flatten());
        }
        let order: Vec<u64> = self.windows().iter().map(|seen| seen.window).collect();
        images.sort_by_key(|image| order.iter().position(|window| *window == image.window));
        images
    }

    /// The part of an area that is on the displays.
    fn on_screen(&self, area: Bounds) -> Result<Bounds, Failure> {
        let whole = self.span();
        let words = |area: Bounds| format!("{}x{} at {},{}", area.width, area.height, area.x, area.y);
        let nothing =
            || invalid(format!("the area {} is outside the screen, which is {}", words(area), words(whole)));
        area.intersection(&whole).ok_or_else(nothing)
    }
}

/// Sends a control to an app and waits for the reply; `None` if the app has ended.
pub(super) async fn ask<T>(
    process: &Process,
    control: impl FnOnce(oneshot::Sender<T>) -> Control,
) -> Option<T> {
    let (answer, reply) = oneshot::channel();
    process.controls.send(control(answer)).ok()?;
    reply.await.ok()
}
