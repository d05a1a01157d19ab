//! Whatever a script does and whatever goes wrong at any of its operations: what is said to be sent was sent, nothing is sent
//! twice or without permission, and nothing stays held.

use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};
use proptest::prelude::*;

use super::fake::{Event, FakeDevices, MISSING_KEY, Record, SHIFT, Trouble, UNTYPABLE, step};
use crate::input_script::{InputPace, KeyOrButton, WheelTurn};
use crate::{Failure, FailureKind, InputStep, Sent, Stretch};

/// What is held before the script.
const HELD_BEFORE: [KeyOrButton; 2] = [KeyOrButton::Key(Key::Char('h')), KeyOrButton::Button(Button::Middle)];

#[derive(Debug, Clone)]
struct Case {
    steps: Vec<InputStep>,
    pace: InputPace,
    prepared: usize,
    slow_receivers: bool,
}

fn steps() -> impl Strategy<Value = Vec<InputStep>> {
    let what = prop_oneof![
        Just(SHIFT),
        prop::sample::select(vec!['a', 'b']).prop_map(|character| KeyOrButton::Key(Key::Char(character))),
        prop::sample::select(vec![Button::Left, Button::Right]).prop_map(KeyOrButton::Button),
    ];
    let step = prop_oneof![
        8 => (what, any::<bool>()).prop_map(|(what, down)| step(what, down)),
        1 => prop::sample::select(HELD_BEFORE.to_vec()).prop_map(|what| step(what, false)),
        2 => (0..9).prop_map(|x| InputStep::Move(Point { x, y: 0 })),
        2 => (-5..6, -5..6).prop_map(|(right, down)| InputStep::Wheel { right, down }),
        3 => "[a-d]{0,5}".prop_map(InputStep::Text),
        1 => (0..2u64).prop_map(|time| InputStep::Pause(Duration::from_millis(time))),
        1 => Just(InputStep::Arrive),
        1 => Just(InputStep::Expect(Stretch::Keys)),
    ];
    // Nobody presses what is down already: the fake would be right to complain.
    prop::collection::vec(step, 0..14).prop_map(|steps| {
        let mut down = HELD_BEFORE.to_vec();
        let mut fits = |step: &InputStep| match changed(step) {
            Some((what, true)) if down.contains(&what) => false,
            Some((what, is_down)) => {
                down.retain(|other| *other != what);
                down.extend(is_down.then_some(what));
                true
            }
            None => true,
        };
        steps.into_iter().filter(|step| fits(step)).collect()
    })
}

fn case() -> impl Strategy<Value = Case> {
    let time = || (0..2u64).prop_map(Duration::from_millis);
    let times = (time(), time(), time(), time(), time(), time());
    let pace = (times, 1..5usize, 1..4usize, 1..3usize, 1..4u32).prop_map(|parts| {
        let (after_move, after_press, after_drag, between_keys, text_hold, between_texts) = parts.0;
        InputPace {
            after_move,
            after_press,
            after_drag,
            between_keys,
            text_hold,
            between_texts,
            arrival_timeout: Duration::ZERO,
            keys_per_stretch: parts.1,
            text_pieces_per_stretch: parts.2,
            turns_per_stretch: parts.3,
            notches_per_turn: parts.4,
        }
    });
    (steps(), pace, 1..4usize, any::<bool>()).prop_map(|(steps, pace, prepared, slow_receivers)| Case {
        steps,
        pace,
        prepared,
        slow_receivers,
    })
}

/// What a step presses or releases.
fn changed(step: &InputStep) -> Option<(KeyOrButton, bool)> {
    match step {
        InputStep::Key(key, down) => Some((KeyOrButton::Key(*key), *down)),
        InputStep::Button(button, down) => Some((KeyOrButton::Button(*button), *down)),
        _ => None,
    }
}

/// What the steps send if nothing goes wrong.
fn expected_events(case: &Case) -> Vec<Event> {
    let each = |step: &InputStep| match step {
        InputStep::Move(to) => vec![Event::Move(to.x)],
        InputStep::Text(text) => text.chars().map(Event::Type).collect(),
        InputStep::Wheel { right, down } => {
            let turn = WheelTurn { right: *right, down: *down };
            turn.split(case.pace.notches_per_turn).map(Event::Turn).collect()
        }
        step => match changed(step) {
            Some((what, true)) => vec![Event::Press(what)],
            Some((what, false)) => vec![Event::Release(what)],
            None => vec![],
        },
    };
    case.steps.iter().flat_map(each).collect()
}

/// Runs the script with this trouble, and returns what was recorded.
fn run(case: &Case, trouble: Option<(usize, Trouble)>) -> (Result<(), Failure>, Record, u32) {
    let record = Record { trouble, held: HELD_BEFORE.into(), ..Record::default() };
    let mut devices = FakeDevices::new(case.pace, record);
    (devices.prepared, devices.slow_receivers) = (case.prepared, case.slow_receivers);
    let (result, gate) = devices.run(&case.steps);
    let record = std::mem::take(&mut *devices.record.lock());
    (result, record, gate.characters())
}

/// What is held after these events.
fn held_after(events: &[Event]) -> Vec<KeyOrButton> {
    let mut held = HELD_BEFORE.to_vec();
    for event in events {
        match event {
            Event::Press(what) => held.push(*what),
            Event::Release(what) => held.retain(|other| other != what),
            _ => {}
        }
    }
    held.sort();
    held
}

/// What the script pressed and had not released when it was stopped, as far as it knows.
fn down_at_stop(regular: &[Event], failed: Option<Event>, trouble: Trouble) -> Vec<KeyOrButton> {
    // A release that failed, although it was done, is not known to be one.
    let known = match (failed, trouble) {
        (Some(Event::Release(_)), Trouble::FailAfter) => &regular[..regular.len() - 1],
        _ => regular,
    };
    let mut down = Vec::new();
    for event in known {
        match event {
            Event::Press(what) => down.push(*what),
            Event::Release(what) => down.retain(|other| other != what),
            _ => {}
        }
    }
    match failed {
        Some(Event::Press(what)) if !down.contains(&what) => down.push(what),
        _ => {}
    }
    down
}

/// Whether anything was sent, as far as anyone can know.
fn known_to_be_sent(regular: &[Event], failed: Option<Event>, trouble: Trouble) -> Sent {
    let is_noted = |event: &Event| !matches!(event, Event::Move(_));
    let doubtful = usize::from(trouble == Trouble::FailAfter && failed.is_some());
    let certain = regular[..regular.len() - doubtful].iter().any(is_noted);
    match (certain, failed.as_ref().is_some_and(is_noted)) {
        (true, _) if trouble == Trouble::Lose => Sent::Maybe,
        (true, _) => Sent::Yes,
        (false, true) => Sent::Maybe,
        (false, false) => Sent::No,
    }
}

/// Checks a run in which something went wrong.
fn check(case: &Case, trouble: Trouble, result: &Result<(), Failure>, record: &Record, characters: u32) {
    let expected = expected_events(case);
    let (regular, after) = record.events.split_at(record.stopped_after.unwrap_or(record.events.len()));
    assert!(expected.starts_with(regular), "everything is sent once and in order");
    let held: Vec<KeyOrButton> = record.held.iter().copied().collect();
    let Err(failure) = result else {
        assert_eq!(record.events, expected);
        assert_eq!((held, after), (held_after(regular), &[][..]));
        return;
    };
    let down = down_at_stop(regular, record.failed, trouble);
    let releases: Vec<Event> = match trouble {
        Trouble::Lose => vec![],
        _ => down.iter().rev().copied().map(Event::Release).collect(),
    };
    assert_eq!(after, releases, "after the stop exactly what the script pressed itself is released");
    if trouble != Trouble::Lose {
        let mut kept = held_after(regular);
        kept.retain(|what| HELD_BEFORE.contains(what));
        assert_eq!(held, kept, "what was held before, and nothing else, stays held");
    }
    assert_eq!(failure.sent, known_to_be_sent(regular, record.failed, trouble));
    let typed = regular.iter().filter(|event| matches!(event, Event::Type(_))).count();
    let uncounted =
        usize::from(trouble == Trouble::FailAfter && matches!(record.failed, Some(Event::Type(_))));
    assert_eq!(usize::try_from(characters).unwrap(), typed - uncounted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 2_000 }))]

    #[test]
    fn whatever_goes_wrong_a_script_stops_tells_the_truth_and_holds_nothing(case in case()) {
        let (result, record, _) = run(&case, None);
        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(&record.events, &expected_events(&case));
        prop_assert_eq!(record.held.iter().copied().collect::<Vec<_>>(), held_after(&record.events));
        for at in 0..record.operations {
            for trouble in
                [Trouble::FailBefore, Trouble::FailAfter, Trouble::Lose, Trouble::Close, Trouble::Refuse]
            {
                let (result, record, characters) = run(&case, Some((at, trouble)));
                check(&case, trouble, &result, &record, characters);
            }
        }
    }

    #[test]
    fn a_script_with_a_step_that_cannot_be_done_sends_nothing(case in case(), at in any::<prop::sample::Index>(), key: bool) {
        let mut case = case;
        let at = at.index(case.steps.len() + 1);
        case.steps.insert(at, match key {
            true => InputStep::Key(MISSING_KEY, true),
            false => InputStep::Text(format!("ab{UNTYPABLE}")),
        });
        let (result, record, characters) = run(&case, None);
        let failure = result.unwrap_err();
        prop_assert!(matches!(failure.kind, FailureKind::NotSupported | FailureKind::Invalid));
        prop_assert_eq!((failure.sent, characters, record.questions), (Sent::No, 0, 0));
        prop_assert_eq!(record.events, vec![]);
    }
}
