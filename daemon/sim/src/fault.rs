//! The faults that an app can be given, so that tests can reproduce behaviour that is rare in real apps.

use super::model::{Handle, Model};

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// This many of the next notifications are lost, or all of them without a number.
    DropEvents(Option<u64>),
    /// The app answers nothing until it is healed.
    Hang,
    /// The app ends at once, as by a crash.
    Die,
    /// The value of a widget changes this many times at once.
    Flood(Option<String>, u64),
    /// A widget moves to another parent.
    Reparent(Option<(String, String)>),
    /// A widget claims its own window as a child.
    Cycle(Option<String>),
    /// A widget is claimed by a second parent, its window.
    DoubleParent(Option<String>),
    /// This many elements are listed as children, but no longer exist when they are read.
    Vanish(u64),
    /// Every call takes this many milliseconds longer.
    Slow(u64),
    /// A list of this many items appears.
    Huge(u32),
    /// Actions on elements report success without doing anything.
    Deaf,
    /// Actions on elements are done at once and answered this many milliseconds later.
    Late(u64),
    /// An action that opens a modal dialog is answered when the dialog is closed.
    Blocks,
}

/// The name of every fault, and the text that it takes.
const FAULTS: [(&str, &str); 13] = [
    ("drop-events", "[COUNT]"),
    ("hang", ""),
    ("die", ""),
    ("flood", "[COUNT] or 'WIDGET COUNT'"),
    ("reparent", "['WIDGET NEW-PARENT']"),
    ("cycle", "[WIDGET]"),
    ("double-parent", "[WIDGET]"),
    ("vanish", "[COUNT]"),
    ("slow", "[MILLISECONDS]"),
    ("huge", "[COUNT]"),
    ("deaf", ""),
    ("late", "[MILLISECONDS]"),
    ("blocks", ""),
];

impl Fault {
    /// Parses the name of a fault and its text.
    pub fn parse(name: Option<&str>, text: Option<&str>) -> Result<Fault, String> {
        let there = || {
            let all = FAULTS.map(|(name, takes)| format!("{name} {takes}").trim_end().to_owned());
            format!("faults: {}", all.join(", "))
        };
        let Some(name) = name else { return Err(format!("which fault? {}", there())) };
        let takes = FAULTS.iter().find(|(known, _)| *known == name).map(|(_, takes)| *takes);
        let takes = takes.ok_or_else(|| format!("fault '{name}' not found; {}", there()))?;
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        let bad = || format!("fault {name} takes {takes}, not '{}'", text.unwrap_or_default());
        let count = |default: u64| match words.as_slice() {
            [] => Ok(default),
            [word] => word.parse::<u64>().map_err(|_| bad()),
            _ => Err(bad()),
        };
        let widget = || match words.as_slice() {
            [] => Ok(None),
            [word] => Ok(Some((*word).to_owned())),
            _ => Err(bad()),
        };
        match (name, words.as_slice()) {
            ("drop-events", []) => Ok(Fault::DropEvents(None)),
            ("drop-events", _) => Ok(Fault::DropEvents(Some(count(0)?))),
            ("hang" | "die" | "deaf" | "blocks", [_, ..]) => Err(format!("fault {name} takes no text")),
            ("hang", []) => Ok(Fault::Hang),
            ("die", []) => Ok(Fault::Die),
            ("deaf", []) => Ok(Fault::Deaf),
            ("blocks", []) => Ok(Fault::Blocks),
            ("late", _) => Ok(Fault::Late(count(250)?)),
            ("flood", [widget, number]) => {
                let number = number.parse().map_err(|_| bad())?;
                Ok(Fault::Flood(Some((*widget).to_owned()), number))
            }
            ("flood", _) => Ok(Fault::Flood(None, count(5_000)?)),
            ("reparent", []) => Ok(Fault::Reparent(None)),
            ("reparent", [widget, into]) => {
                Ok(Fault::Reparent(Some(((*widget).to_owned(), (*into).to_owned()))))
            }
            ("cycle", _) => Ok(Fault::Cycle(widget()?)),
            ("double-parent", _) => Ok(Fault::DoubleParent(widget()?)),
            ("vanish", _) => Ok(Fault::Vanish(count(3)?)),
            ("slow", _) => Ok(Fault::Slow(count(100)?)),
            ("huge", _) => Ok(Fault::Huge(u32::try_from(count(10_000)?).map_err(|_| bad())?)),
            _ => Err(bad()),
        }
    }
}

/// Finds the widget for a fault: the named one, or the first in tree order that `fits`.
pub(super) fn find_target(
    model: &Model,
    named: Option<&str>,
    fits: impl Fn(&Model, Handle) -> bool,
) -> Result<Handle, String> {
    if let Some(id) = named {
        let there = || format!("widget '{id}' not found; widgets: {}", model.ids().join(", "));
        return model.find(id).ok_or_else(there);
    }
    let mut waiting = vec![Handle::APP];
    while let Some(handle) = waiting.pop() {
        if fits(model, handle) {
            return Ok(handle);
        }
        if let Some(widget) = model.widget(handle) {
            waiting.extend(widget.children.iter().rev());
        }
    }
    Err("the app has no widget for this fault; name one".to_owned())
}

/// Whether the widget is inside a window.
pub(super) fn is_inside(model: &Model, handle: Handle) -> bool {
    model.path(handle).is_some_and(|path| path.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_with_their_counts_and_widgets() {
        let parse = |name, text| Fault::parse(Some(name), text).unwrap();
        assert_eq!(parse("drop-events", None), Fault::DropEvents(None));
        assert_eq!(parse("flood", Some("display 9")), Fault::Flood(Some("display".into()), 9));
        assert_eq!(parse("slow", Some("250")), Fault::Slow(250));
        assert_eq!(parse("reparent", Some("a b")), Fault::Reparent(Some(("a".into(), "b".into()))));
    }

    #[test]
    fn what_is_no_fault_lists_those_there_are() {
        assert!(Fault::parse(Some("melt"), None).unwrap_err().contains("drop-events [COUNT], hang, die"));
        assert!(Fault::parse(None, None).unwrap_err().starts_with("which fault?"));
        assert!(Fault::parse(Some("slow"), Some("very")).unwrap_err().contains("takes [MILLISECONDS]"));
        assert!(Fault::parse(Some("hang"), Some("5")).unwrap_err().contains("takes no text"));
    }
}
