//! Modal dialogs, which block the rest of their app until the user responds.

use axd_protocol::command::Modal;
use axd_protocol::{AppInfo, Role, State};
use axd_service::Call;

use crate::apps::app::App;
use axd_tree::{Ix, Tree};

/// The maximum number of buttons that are listed of a dialog.
const MAX_BUTTONS: usize = 8;

/// The modal dialogs that are open and do not contain the target.
pub(crate) fn modals(tree: &Tree, target: Option<Ix>) -> impl Iterator<Item = Ix> {
    tree.windows().filter(move |window| {
        let states = tree.states(*window);
        let holds = target.is_some_and(|target| tree.is_within(target, *window));
        states.has(State::Modal) && !states.has(State::Hidden) && !holds
    })
}

/// A dialog with the names of its buttons.
pub(crate) fn described(tree: &Tree, window: Ix) -> Modal {
    let buttons = tree
        .subtree(window)
        .filter(|ix| tree.role(*ix) == Role::Button && !tree.states(*ix).has(State::Hidden));
    let names = buttons.filter_map(|ix| tree.name(ix).map(str::to_owned)).take(MAX_BUTTONS);
    Modal { node: tree.node_ref(window), buttons: names.collect() }
}

/// A dialog as a text, with the names of its buttons.
pub(crate) fn in_words(modal: &Modal) -> String {
    let mut out = String::new();
    axd_protocol::text::write_ref(&modal.node, &mut out);
    if !modal.buttons.is_empty() {
        out.push_str(&format!(": {}", axd_protocol::text::one_line(&modal.buttons.join(", "))));
    }
    out
}

impl App {
    /// The app as it appears in an answer about an element, or about the whole app: with the modal dialog that is open over it.
    pub(crate) fn info_about(&self, call: &Call, tree: &Tree, target: Option<Ix>) -> AppInfo {
        let modal = modals(tree, target).next().map(|window| tree.node_ref(window));
        AppInfo { modal, acting: self.queue.others_than(&call.session), ..self.info() }
    }
}

/// The lines of a text answer that say that a modal dialog is open, and who else acts on the app.
pub(crate) fn line(info: &AppInfo) -> String {
    let mut out = String::new();
    if let Some(modal) = &info.modal {
        out.push_str("modal: ");
        axd_protocol::text::write_ref(modal, &mut out);
        out.push('\n');
    }
    for other in &info.acting {
        out.push_str(&format!("also acting here: {}\n", other.in_words()));
    }
    out
}
