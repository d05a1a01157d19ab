//! What the documentation says of the tests: those that it names exist.

use std::fs;
use std::path::Path;

use axd_tests::workspace;

/// Names of tests are sentences: they have at least so many words.
const WORDS: usize = 3;

/// All functions in the sources and scripts below a folder.
fn functions(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir()
            && !["target", "libfuzzer", "corpus", "images"].contains(&&*name)
            && !name.starts_with('.')
        {
            functions(&path, all);
        } else if name.ends_with(".rs") || !name.contains('.') {
            all.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[test]
fn every_test_that_the_pages_on_security_and_reliability_name_exists() {
    let mut all = String::new();
    for folder in ["daemon", "fuzz", "tests", "protocol", "client"] {
        functions(&workspace().join(folder), &mut all);
    }
    let mut named = 0;
    for page in ["docs/security.md", "docs/reliability.md"] {
        let text = fs::read_to_string(workspace().join(page)).expect("a page");
        for word in text.split('`').skip(1).step_by(2) {
            let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            if !is_name || word.split('_').count() < WORDS {
                continue;
            }
            named += 1;
            let is_there =
                [format!("fn {word}("), format!("def {word}(")].iter().any(|head| all.contains(head));
            assert!(is_there, "{page} names {word}, which does not exist");
        }
    }
    assert!(named > 40, "{named} tests are named");
}

#[test]
fn the_page_on_selectors_lists_the_kinds_of_every_role() {
    let page = fs::read_to_string(workspace().join("docs/selectors.md")).expect("a page");
    let rows = page.lines().filter(|line| line.trim_start().starts_with("| `")).count();
    let with_kinds = axd_protocol::Role::ALL.iter().filter(|role| !role.kinds().is_empty());
    assert_eq!(rows, with_kinds.clone().count());
    for role in with_kinds {
        let kinds: Vec<String> = role.kinds().iter().map(|kind| format!("`{kind}`")).collect();
        let row = format!("| `{role}` | {} |", kinds.join(", "));
        assert!(page.contains(&row), "{row}");
    }
}
