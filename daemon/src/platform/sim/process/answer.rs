//! What an app answers to who asks.

use std::time::Duration;

use axd_protocol::State;
use tokio::sync::oneshot;

use super::{App, Native, Owed, Request, Until, now};
use crate::platform::sim::announce::Notification;
use crate::platform::sim::model::{Gesture, Handle, Heard, Refusal};
use crate::platform::{Act, Clip, Facts};

impl App {
    /// Answers a request, or begins to.
    pub(super) fn take(&mut self, request: Request) {
        if request.is_given_up() {
            return;
        }
        if self.faults.slow > Duration::ZERO {
            self.slowly = Some((now() + self.faults.slow, request));
        } else {
            self.answer(request);
        }
    }

    pub(super) fn answer(&mut self, request: Request) {
        match request {
            Request::Observe(observer, answer) => {
                // Who gave up asks again, and must not be told everything twice.
                if answer.send(()).is_ok() {
                    self.observers.push(observer);
                }
            }
            Request::Mark(mark, observer) => {
                let _ = observer.send(Notification::Marker(mark));
            }
            Request::Read(elements, answer) => {
                let read = elements.into_iter().map(|element| self.read(element)).collect();
                let _ = answer.send(read);
            }
            Request::Measure(elements, answer) => {
                let places = elements.into_iter().map(|element| self.model.place(element)).collect();
                let _ = answer.send(places);
            }
            Request::At(point, answer) => {
                let _ = answer.send(self.model.at(point));
            }
            Request::Path(element, answer) => {
                let _ = answer.send(self.model.path(element));
            }
            Request::Front(answer) => {
                let _ = answer.send(self.model.windows().first().copied());
            }
            Request::Act(element, act, answer) => self.act(element, &act, answer),
            Request::Input(gesture, answer) => self.feel(&gesture, answer),
            Request::Close => {
                self.model.quit(now());
                self.publish();
            }
        }
    }

    /// Does what it is asked to do, and says so now or later.
    fn act(&mut self, element: Handle, act: &Act, answer: oneshot::Sender<Result<(), Refusal>>) {
        if self.faults.deaf {
            let _ = answer.send(Ok(()));
            return;
        }
        let before = self.model.modal();
        let result = self.model.perform(element, act, now());
        self.publish();
        let opened = self.model.modal().filter(|modal| self.faults.blocks && Some(*modal) != before);
        let until = match opened {
            Some(dialog) => Until::Closed(dialog),
            None if self.faults.late > Duration::ZERO => Until::Time(now() + self.faults.late),
            None => {
                let _ = answer.send(result);
                return;
            }
        };
        self.owed.push(Owed { answer, result, until });
    }

    /// Takes in what mouse and keyboard do.
    fn feel(&mut self, gesture: &Gesture, answer: oneshot::Sender<Heard>) {
        let pasted = matches!(gesture, Gesture::Key { .. }).then(|| self.desk.clipboard_text()).flatten();
        let mut heard = self.model.feel(gesture, pasted.as_deref(), now());
        if let Some(text) = heard.copied.take() {
            self.desk.copy(Clip::Text(text));
        }
        self.publish();
        let _ = answer.send(heard);
    }

    fn read(&mut self, element: Handle) -> Option<Native> {
        self.faults.ghosts.retain(|(_, ghost)| *ghost != element);
        let widget = self.model.widget(element)?;
        let mut children = widget.children.clone();
        let claimed = self.faults.claims.iter().chain(&self.faults.ghosts);
        children.extend(claimed.filter(|(parent, _)| *parent == element).map(|(_, child)| *child));
        let is_secure = widget.states.has(State::Secure);
        let facts = Facts {
            role: widget.role,
            native_role: widget.native_role.clone(),
            name: widget.name.clone().filter(|name| !name.is_empty()),
            // As real toolkits do: who asks for the value of a secure field gets none.
            value: widget.value.clone().filter(|_| !is_secure),
            description: widget.description.clone(),
            identifier: widget.id.clone(),
            states: widget.states,
            actions: widget.actions(),
            row: widget.row,
            window: widget.window,
        };
        Some(Native { facts, children, total: widget.total() })
    }
}

impl Request {
    /// Whether who asked has stopped waiting.
    fn is_given_up(&self) -> bool {
        match self {
            Request::Observe(_, answer) => answer.is_closed(),
            Request::Mark(_, observer) => observer.is_closed(),
            Request::Read(_, answer) => answer.is_closed(),
            Request::Measure(_, answer) => answer.is_closed(),
            Request::At(_, answer) | Request::Path(_, answer) => answer.is_closed(),
            Request::Front(answer) => answer.is_closed(),
            // What was sent arrives, whoever still waits for the answer.
            Request::Act(..) | Request::Input(..) | Request::Close => false,
        }
    }
}
