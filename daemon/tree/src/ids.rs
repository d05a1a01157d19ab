//! Stable ids for new nodes.
//!
//! A node's *path* is a hash of the app's identity and of the keys from the window down. A key is what a person would say:
//! which window, which list, the button called Save. So a path, and the id made of it, is the same after a restart of the app
//! or the daemon. Where a key does not distinguish a node from its siblings, the path is salted with the native key: such an id
//! becomes stale after a restart, rather than mean another element.

use std::hash::Hasher;

use axd_protocol::id::{LONG_DIGITS, MAX_DIGITS, SHORT_DIGITS};
use axd_protocol::role::Keyed;
use axd_protocol::{NodeId, Role};
use siphasher::sip::SipHasher13;

use crate::ElementKey;

/// The path of an app, which survives restarts: its identity, and the number of the instance among several.
pub fn app_path(identity: &str, ordinal: u32) -> u64 {
    hash(0, b"app", &[identity.as_bytes(), &ordinal.to_le_bytes()])
}

/// What distinguishes a node from its siblings: its developer's identifier, else its name or that of its contents, else (for
/// containers and untitled windows) its place among siblings of its role. Kept as a hash, because most keys are made only to be
/// compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct SiblingKey {
    hash: u64,
    /// Whether siblings with an equal key are distinguished by their place.
    pub ordinal: bool,
}

impl SiblingKey {
    /// The key of an element; `label` computes a name from its contents.
    pub fn of(
        role: Role,
        identifier: Option<&str>,
        name: Option<&str>,
        label: impl FnOnce() -> String,
    ) -> SiblingKey {
        let key = |kind: &[u8], word: &str| hash(0, kind, &[role.name().as_bytes(), word.as_bytes()]);
        if let Some(identifier) = identifier.filter(|identifier| !identifier.is_empty()) {
            return SiblingKey { hash: key(b"id", identifier), ordinal: false };
        }
        let name = name.filter(|name| !name.is_empty());
        match (role.keyed(), name) {
            (Keyed::ByOrdinal, _) | (Keyed::ByTitle, None) => {
                SiblingKey { hash: key(b"nth", ""), ordinal: true }
            }
            (_, Some(name)) => SiblingKey { hash: key(b"name", name), ordinal: false },
            (Keyed::ByContent, None) => SiblingKey { hash: key(b"name", &label()), ordinal: false },
            (_, None) => SiblingKey { hash: key(b"name", ""), ordinal: false },
        }
    }

    /// The path of an element with this key, below `parent`. `place` is the number of siblings with an equal key before it.
    pub fn path(&self, parent: u64, place: u32) -> u64 {
        let place = if self.ordinal { place } else { 0 };
        hash(parent, b"step", &[&self.hash.to_le_bytes(), &place.to_le_bytes()])
    }
}

/// The path of an element that its key does not distinguish from another. It is valid only as long as the element lives.
pub(super) fn weak_path(path: u64, salt: u64, key: ElementKey) -> u64 {
    hash(path, b"weak", &[&salt.to_le_bytes(), &key.0.to_le_bytes()])
}

/// The possible ids of a path, the preferred one first.
pub(super) fn forms(role: Role, path: u64) -> [NodeId; 3] {
    [SHORT_DIGITS, LONG_DIGITS, MAX_DIGITS].map(|digits| NodeId::new(role, path, digits))
}

/// One step of a path. The hash is unkeyed and must never change: ids that people have written down depend on it.
fn hash(parent: u64, kind: &[u8], parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(0x6178_6420_7061_7468, parent);
    hasher.write(kind);
    for part in parts {
        // Lengths are hashed too, so that ("ab", "c") and ("a", "bc") differ.
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(role: Role, name: &str) -> SiblingKey {
        SiblingKey::of(role, None, Some(name), || unreachable!("it has a name"))
    }

    #[test]
    fn an_id_made_today_is_the_id_made_tomorrow() {
        let path = named(Role::Button, "Save").path(app_path("org.example.Notes", 0), 0);
        assert_eq!(forms(Role::Button, path)[0].as_str(), "btn_8rfjms");
    }

    #[test]
    fn an_identifier_wins_over_a_name_and_contents_stand_in_for_one() {
        let saved = SiblingKey::of(Role::Button, Some("save"), Some("Save"), String::new);
        assert_eq!(saved, SiblingKey::of(Role::Button, Some("save"), Some("Save as"), String::new));
        assert_ne!(saved, named(Role::Button, "save"));
        assert_eq!(SiblingKey::of(Role::Row, None, None, || "Milk".into()), named(Role::Row, "Milk"));
    }

    #[test]
    fn containers_and_untitled_windows_are_told_apart_by_their_place() {
        for key in [
            SiblingKey::of(Role::Group, None, Some("Details"), String::new),
            SiblingKey::of(Role::Window, None, None, String::new),
        ] {
            assert!(key.ordinal);
            assert_ne!(key.path(1, 0), key.path(1, 1));
        }
        assert_eq!(named(Role::Button, "x").path(1, 0), named(Role::Button, "x").path(1, 1));
        assert_ne!(named(Role::Button, "x").path(1, 0), named(Role::Button, "x").path(2, 0));
    }

    #[test]
    fn parts_of_a_key_do_not_run_into_each_other() {
        assert_ne!(hash(1, b"id", &[b"ab", b"c"]), hash(1, b"id", &[b"a", b"bc"]));
    }
}
