//! How an app answers requests.

use std::time::Duration;

use axd_protocol::State;
use tokio::sync::oneshot;

use super::{AppTask, DelayedReply, ReplyTime, Request, handle, key, now};
use crate::model::{Gesture, GestureOutcome, Handle, Refusal, RefusalKind};
use axd_platform::mirror::Reading;
use axd_platform::worker::{AppNotification, AppRequest, ReplySender};
use axd_platform::{Act, ClipboardContent, Facts, Failure, FailureKind, Measured};

impl AppTask {
    /// Handles a request, at once or, if the app is slow, after a delay.
    pub(super) fn accept_request(&mut self, request: Request) {
        if request.is_given_up() {
            return;
        }
        if self.faults.slow > Duration::ZERO {
            self.slow_request = Some((now() + self.faults.slow, request));
        } else {
            self.handle_request(request);
        }
    }

    pub(super) fn handle_request(&mut self, request: Request) {
        match request {
            Request::Call(call) => self.handle_call(call),
            Request::Input(gesture, answer) => self.handle_gesture(&gesture, answer),
            Request::Inspect(visit) => self.run_inspection(visit),
            Request::Close => {
                self.model.quit(now());
                self.publish();
            }
        }
    }

    fn handle_call(&mut self, call: AppRequest) {
        // Sending a reply fails if the caller has stopped waiting.
        match call {
            AppRequest::Observe(observer, answer) => {
                // A caller that stopped waiting observes again, and must not get everything twice.
                if answer.send(Ok(())).is_ok() {
                    self.observers.push(observer);
                }
            }
            AppRequest::Mark(mark, observer) => {
                let _ = observer.send(AppNotification::Marker(mark));
            }
            AppRequest::Read(elements, answer) => {
                let read = elements.into_iter().map(|element| self.read(handle(element))).collect();
                let _ = answer.send(Ok(read));
            }
            // Its apps list all children at once.
            AppRequest::Unfold(_) => {}
            AppRequest::Measure(elements, answer) => {
                let measured = elements.into_iter().filter_map(|key| {
                    let place = self.model.place(handle(key))?;
                    Some(Measured { key, bounds: place.bounds, visible: place.visible, misplaced: false })
                });
                let _ = answer.send(Ok(measured.collect()));
            }
            AppRequest::At(point, answer) => {
                let path = self.model.hit_test(point).unwrap_or_default();
                let _ = answer.send(Ok(path.into_iter().map(key).collect()));
            }
            AppRequest::Path(element, answer) => {
                let path = self.model.path(handle(element)).unwrap_or_default();
                let _ = answer.send(Ok(path.into_iter().map(key).collect()));
            }
            AppRequest::Front(answer) => {
                let _ = answer.send(Ok(self.model.windows().first().copied().map(key)));
            }
            AppRequest::Awake(answer) => {
                let _ = answer.send(());
            }
            AppRequest::Act(element, act, _, answer) => self.act(handle(element), &act, answer),
        }
    }

    /// Does an action, and replies at once or later.
    fn act(&mut self, element: Handle, act: &Act, answer: ReplySender<()>) {
        if self.faults.deaf {
            let _ = answer.send(Ok(()));
            return;
        }
        let before = self.model.modal();
        let result = self.model.perform(element, act, now()).map_err(failure);
        self.publish();
        let opened = self.model.modal().filter(|modal| self.faults.blocks && Some(*modal) != before);
        let until = match opened {
            Some(dialog) => ReplyTime::Closed(dialog),
            None if self.faults.late > Duration::ZERO => ReplyTime::Time(now() + self.faults.late),
            None => {
                let _ = answer.send(result);
                return;
            }
        };
        self.delayed_replies.push(DelayedReply { answer, result, until });
    }

    /// Handles mouse and keyboard input.
    fn handle_gesture(&mut self, gesture: &Gesture, answer: oneshot::Sender<GestureOutcome>) {
        let pasted = matches!(gesture, Gesture::Key { .. }).then(|| self.session.clipboard_text()).flatten();
        let mut outcome = self.model.handle_gesture(gesture, pasted.as_deref(), now());
        if let Some(text) = outcome.copied.take() {
            self.session.set_clipboard(ClipboardContent::Text(text));
        }
        self.publish();
        let _ = answer.send(outcome);
    }

    fn read(&mut self, element: Handle) -> Option<Reading> {
        self.faults.stale_children.retain(|(_, stale)| *stale != element);
        let widget = self.model.widget(element)?;
        let mut children = widget.children.clone();
        let claimed = self.faults.claims.iter().chain(&self.faults.stale_children);
        children.extend(claimed.filter(|(parent, _)| *parent == element).map(|(_, child)| *child));
        let is_secure = widget.states.has(State::Secure);
        let facts = Facts {
            role: widget.role,
            native_role: widget.native_role.clone(),
            name: widget.name.clone().filter(|name| !name.is_empty()),
            // As real toolkits do, a secure field does not report its value.
            value: widget.value.clone().filter(|_| !is_secure),
            description: widget.description.clone(),
            identifier: widget.id.clone(),
            states: widget.states,
            actions: widget.actions(),
            row: widget.row,
            window: widget.window,
        };
        let children = children.into_iter().map(key).collect();
        Some(Reading { facts, children, total: widget.total() })
    }
}

impl Request {
    /// Whether the caller has stopped waiting.
    fn is_given_up(&self) -> bool {
        match self {
            Request::Call(call) => call.is_given_up(),
            Request::Input(..) | Request::Inspect(_) | Request::Close => false,
        }
    }
}

fn failure(refusal: Refusal) -> Failure {
    let kind = match refusal.kind {
        RefusalKind::Gone => FailureKind::Gone,
        RefusalKind::Unable => FailureKind::NotSupported,
        RefusalKind::Refused => FailureKind::Refused,
        RefusalKind::Invalid => FailureKind::Invalid,
    };
    Failure::new(kind, refusal.text)
}
