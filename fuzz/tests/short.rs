//! A short run of all fuzz targets, without a fuzzer: the corpora, and inputs made of them. `AXD_FUZZ_INPUTS` says how many of these,
//! `AXD_SEED` which.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use axd_fuzz::{TARGETS, Target};

/// The number of inputs that are made for each target.
const INPUTS: u64 = 10_000;
/// Inputs are not made longer than this.
const MAX_BYTES: usize = 4_096;

/// Words that the grammars know: few changes of single bytes make one.
const WORDS: &[&str] = &[
    "{\"id\":1,\"command\":\"",
    "\"args\":{",
    "\"deadline_ms\":",
    "null",
    "1e999",
    "\\ud800",
    "\n",
    "\r\n",
    ":has(",
    ":not(",
    ":nth(",
    " > ",
    "[name~=\"",
    "*",
    "button",
    ":first",
    "[[rule]]\n",
    "verdict = \"deny\"\n",
    "verdict = \"ask\"\n",
    "windows = [\"",
    "commands = [\"@acts\"]\n",
    "roles = [\"*\"]\n",
    "..",
    "18446744073709551615",
    "-1",
    "\u{0}",
    "\u{202e}",
    "\"removed\":[",
    "\"moved\":[{\"id\":\"",
];

/// Numbers that are random enough (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

/// One of the corpus with some changes.
fn input(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(16)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.insert(at, random.next() as u8),
            3 => drop(bytes.drain(at..to)),
            4 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
            5 => {
                let repeated = bytes[at..to].repeat(1 + random.below(6));
                bytes.splice(at..at, repeated);
            }
            6 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                bytes.splice(at..to, other[from..].iter().take(64).copied());
            }
            _ => bytes.truncate(at),
        }
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

/// Feeds one input, and says which it was if something did not hold.
fn feed(name: &str, target: Target, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        eprintln!("{name}: the input is b\"{}\"", input.escape_ascii());
        resume_unwind(panic);
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|(known, _)| *known == name).expect("it is a target").1;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("every target has a corpus")
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let corpus: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(!corpus.is_empty());
    feed(name, target, b"");
    corpus.iter().for_each(|input| feed(name, target, input));
    let mut random = Random(number("AXD_SEED", 0x5eed) | 1);
    for _ in 0..number("AXD_FUZZ_INPUTS", INPUTS) {
        feed(name, target, &input(&mut random, &corpus));
    }
}

#[test]
fn whatever_a_client_sends_is_a_request_or_gets_an_answer() {
    run("line");
}

#[test]
fn any_selector_parses_or_says_where_it_does_not_and_finds_the_same_with_and_without_the_index() {
    run("selector");
}

#[test]
fn any_policy_file_is_in_force_or_told_by_its_lines_and_what_is_not_known_never_allows_more() {
    run("policy");
}

#[test]
#[cfg(target_os = "linux")]
fn whatever_an_app_sends_as_an_event_names_elements_and_nothing_more() {
    run("event");
}

#[test]
fn after_any_updates_the_tree_is_a_tree_and_what_is_hidden_is_absent() {
    run("tree");
}

#[test]
fn the_stream_makes_every_snapshot_the_tree_that_is_there() {
    run("replica");
}

#[test]
fn a_replica_that_is_sent_nonsense_stays_a_tree_or_says_that_it_does_not_fit() {
    run("difference");
}

#[test]
fn every_target_has_a_program_for_the_fuzzer_and_a_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in TARGETS {
        let program = std::fs::read_to_string(folder.join(format!("libfuzzer/fuzz_targets/{name}.rs")));
        assert!(program.is_ok_and(|text| text.contains(&format!("axd_fuzz::{name}("))), "{name}");
        assert!(folder.join("corpus").join(name).is_dir(), "{name}");
    }
}
