//! Values that are text and come as something else: text views have attributed strings, links have URLs, date pickers have
//! dates.

use super::attributes::Value;
use super::tree::{Id, View};
use crate::world::{Inner, World};

/// What the text of a widget comes as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dress {
    /// An attributed string.
    Attributed,
    /// A URL.
    Url,
    /// A date, in seconds since 2001, whatever the text is.
    Date(f64),
}

impl World {
    /// Has the value of a widget come as something else than a plain string.
    pub fn dress(&self, app: &str, widget: &str, dress: Dress) {
        self.inner().dresses.lock().insert((self.pid(app), widget.to_owned()), dress);
    }

    /// Scrolls the text areas of an app, so that this part of their text can be seen, in UTF-16 units.
    pub fn show_text(&self, app: &str, start: isize, count: isize) {
        self.inner().visible_text.lock().insert(self.pid(app), (start, count));
    }
}

impl Inner {
    /// The value of an attribute as the widget has it.
    pub(super) fn dressed(&self, pid: u32, view: &View<'_>, id: Id, name: &str, value: Value) -> Value {
        let widget = view.model.widget(id.widget()).and_then(|widget| widget.id.clone());
        let dress =
            widget.filter(|_| name == "AXValue").and_then(|id| self.dresses.lock().get(&(pid, id)).copied());
        match (dress, value) {
            (Some(Dress::Attributed), Value::Text(text)) => Value::Attributed(text),
            (Some(Dress::Url), Value::Text(text)) => Value::Url(text),
            (Some(Dress::Date(seconds)), _) => Value::Date(seconds),
            (_, value) => value,
        }
    }
}
