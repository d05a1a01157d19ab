//! Refs: the numbers that a snapshot gives to what can be acted on. A number stands for an axd id, so it stays right while the element
//! lives, whoever looks at the app meanwhile.

use axd_protocol::{Error, ErrorCode, NodeId, Result, Role};
use serde::{Deserialize, Serialize};

use super::args::invalid;

/// The roles whose elements are numbered.
const NUMBERED: [Role; 10] = [
    Role::Button,
    Role::TextField,
    Role::Checkbox,
    Role::Link,
    Role::MenuItem,
    Role::Tab,
    Role::Slider,
    Role::Combobox,
    Role::TreeItem,
    Role::Cell,
];
/// The maximum length of a ref, in characters.
const MAX_CHARS: usize = 10;
/// The maximum size of the map as a file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The refs of the latest snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefMap {
    /// The run of the daemon that the ids are of.
    boot: u32,
    /// How many snapshots there were before.
    generation: u32,
    /// What `@e1`, `@e2` and so on stand for.
    refs: Vec<RefEntry>,
}

/// What a ref stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefEntry {
    /// The element.
    pub id: NodeId,
    /// The process of its app.
    pub pid: u32,
}

/// A ref as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    numbering: Option<String>,
    number: usize,
}

/// Whether elements of a role are numbered.
pub fn is_numbered(role: Role) -> bool {
    NUMBERED.contains(&role)
}

/// Whether a target is written as a ref.
pub fn is_ref(target: &str) -> bool {
    target.starts_with('@')
}

/// The error for a ref that stands for nothing now.
pub fn stale(target: &str) -> Error {
    Error::new(ErrorCode::StaleRef, format!("{target} not found in current RefMap"))
        .suggest("Run 'snapshot' to refresh, then retry with updated ref")
        .retry("snapshot")
}

impl RefMap {
    /// Reads the map from its file. One that cannot be read is empty: its refs are stale.
    pub fn from_json(text: &str) -> RefMap {
        if text.len() > MAX_BYTES {
            return RefMap::default();
        }
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The map for its file. An error if it is too large for one.
    pub fn to_json(&self) -> Result<String> {
        // It has nothing that JSON cannot have.
        let text = serde_json::to_string(self).unwrap_or_default();
        if text.len() > MAX_BYTES {
            let message = format!("the map of {} refs is larger than 1 MB", self.refs.len());
            return Err(Error::new(ErrorCode::PayloadTooLarge, message)
                .suggest("snapshot less: one window, a subtree, or a smaller max-depth"));
        }
        Ok(text)
    }

    /// Starts a numbering in place of the one before.
    pub fn renumber(&mut self, boot: u32) {
        *self = RefMap { boot, generation: self.generation.wrapping_add(1), refs: Vec::new() };
    }

    /// Goes on with the numbering, unless it is of another run of the daemon.
    pub fn go_on(&mut self, boot: u32) {
        if self.boot != boot {
            self.renumber(boot);
        }
    }

    /// The ref of an element: the one that it has, or the next one.
    pub fn number(&mut self, entry: RefEntry) -> String {
        let at = self.refs.iter().position(|known| *known == entry).unwrap_or_else(|| {
            self.refs.push(entry);
            self.refs.len() - 1
        });
        format!("@e{}", at + 1)
    }

    /// The ref of an element that was not numbered before; for whoever goes through a tree, in which each element is once.
    pub fn push(&mut self, entry: RefEntry) -> String {
        self.refs.push(entry);
        format!("@e{}", self.refs.len())
    }

    /// The number of refs.
    pub fn count(&self) -> usize {
        self.refs.len()
    }

    /// The name of the numbering, for refs that say of which they are.
    pub fn numbering(&self) -> String {
        format!("s{:08x}", self.boot.rotate_left(9) ^ self.generation)
    }

    /// The run of the daemon that the ids are of.
    pub fn boot(&self) -> u32 {
        self.boot
    }

    /// What a ref stands for.
    pub fn resolve(&self, target: &str) -> Result<RefEntry> {
        let written = parse(target).ok_or_else(|| invalid("ref_id must match @e{N}"))?;
        if written.numbering.is_some_and(|numbering| numbering != self.numbering()) {
            return Err(stale(target));
        }
        let at = written.number.checked_sub(1).and_then(|at| self.refs.get(at));
        at.copied().ok_or_else(|| stale(target))
    }
}

/// Reads `@e3`, or `@s8f3k2p9:e3`.
fn parse(target: &str) -> Option<Written> {
    let rest = target.strip_prefix('@')?;
    let (numbering, short) = match rest.split_once(':') {
        Some((numbering, short)) => (Some(numbering), short),
        None => (None, rest),
    };
    let is_numbering = |name: &str| {
        name.len() > 1 && name.starts_with('s') && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let digits = short.strip_prefix('e')?;
    let is_well_formed = short.len() < MAX_CHARS
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && numbering.is_none_or(is_numbering);
    let number = digits.parse().ok().filter(|_| is_well_formed)?;
    Some(Written { numbering: numbering.map(ToOwned::to_owned), number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> RefEntry {
        RefEntry { id: NodeId::parse(id).unwrap(), pid: 7 }
    }

    #[test]
    fn a_ref_is_an_e_and_digits() {
        let map = RefMap::default();
        for wrong in
            ["@", "@e", "@3", "@ex", "@e3x", "@e123456789", "@x:e3", "@s8f3k2p9:3", "@s:e1", "@e+1", "@E1"]
        {
            assert_eq!(map.resolve(wrong).unwrap_err().message, "ref_id must match @e{N}", "{wrong}");
        }
        for unknown in ["@e0", "@e1", "@e12345678", "@s8f3k2p9:e3"] {
            let error = map.resolve(unknown).unwrap_err();
            assert_eq!(error.code, ErrorCode::StaleRef);
            assert_eq!(error.message, format!("{unknown} not found in current RefMap"));
            assert_eq!(error.suggestion, "Run 'snapshot' to refresh, then retry with updated ref");
        }
    }

    #[test]
    fn a_snapshot_replaces_the_numbering_and_a_search_goes_on_with_it() {
        let mut map = RefMap::default();
        map.renumber(1);
        assert_eq!(map.push(entry("btn_000001")), "@e1");
        let before = map.numbering();
        map.go_on(1);
        assert_eq!(map.number(entry("btn_000002")), "@e2");
        assert_eq!(map.number(entry("btn_000001")), "@e1");
        assert_eq!(map.resolve(&format!("@{before}:e2")), Ok(entry("btn_000002")));
        map.renumber(1);
        assert_eq!(map.resolve("@e1").unwrap_err().code, ErrorCode::StaleRef);
        assert_eq!(map.push(entry("btn_000002")), "@e1");
        assert!(map.resolve(&format!("@{before}:e1")).is_err());
        assert!(map.resolve(&format!("@{}:e1", map.numbering())).is_ok());
        map.go_on(2);
        assert_eq!((map.count(), map.boot()), (0, 2));
    }

    #[test]
    fn the_map_reads_back_from_its_file_and_is_refused_if_it_is_too_large() {
        let mut map = RefMap::default();
        map.renumber(9);
        map.push(entry("btn_000001"));
        assert_eq!(RefMap::from_json(&map.to_json().unwrap()), map);
        assert_eq!(RefMap::from_json("{ broken"), RefMap::default());
        assert_eq!(RefMap::from_json(&" ".repeat(MAX_BYTES + 1)), RefMap::default());
        (0..40_000).for_each(|_| drop(map.push(entry("btn_000001"))));
        assert_eq!(map.to_json().unwrap_err().code, ErrorCode::PayloadTooLarge);
    }
}
