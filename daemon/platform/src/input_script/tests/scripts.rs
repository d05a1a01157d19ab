//! What is asked, paused and sent for particular scripts.

use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::keys::Key;

use super::fake::{Event, FakeDevices, LEFT, Record, SHIFT, Trouble, step};
use crate::input_script::{InputPace, KeyOrButton, WheelTurn};
use crate::{Failure, FailureKind, InputStep, Sent, Stretch};

fn ran(pace: InputPace, steps: &[InputStep]) -> Record {
    let mut devices = FakeDevices::new(pace, Record::default());
    assert_eq!(devices.run(steps).0, Ok(()));
    std::mem::take(&mut *devices.record.lock())
}

fn stopped(steps: &[InputStep], at: usize, trouble: Trouble) -> (Failure, Record) {
    let record = Record { trouble: Some((at, trouble)), ..Record::default() };
    let mut devices = FakeDevices::new(InputPace::IMMEDIATE, record);
    let failure = devices.run(steps).0.unwrap_err();
    (failure, std::mem::take(&mut *devices.record.lock()))
}

fn combo(character: char) -> Vec<InputStep> {
    let key = KeyOrButton::Key(Key::Char(character));
    vec![step(SHIFT, true), step(key, true), step(key, false), step(SHIFT, false)]
}

#[test]
fn the_judge_is_asked_once_for_a_row_of_keys_and_again_after_a_pause() {
    let steps = combo('a');
    assert_eq!(ran(InputPace::IMMEDIATE, &steps).questions, 1);
    let time = Duration::from_millis(3);
    let paced = ran(InputPace { between_keys: time, ..InputPace::IMMEDIATE }, &steps);
    assert_eq!((paced.questions, paced.pauses), (2, vec![time; 3]), "once for each press");
    let single = ran(InputPace { keys_per_stretch: 1, ..InputPace::IMMEDIATE }, &steps);
    assert_eq!((single.questions, single.pauses), (2, vec![]));
}

#[test]
fn releases_ask_nobody() {
    let release = [step(SHIFT, false), step(LEFT, false)];
    let record = ran(InputPace::IMMEDIATE, &release);
    assert_eq!((record.questions, record.events.len()), (0, 2));
}

#[test]
fn the_pointer_dwells_between_a_move_a_press_and_a_release() {
    let [moved, pressed, dragged] = [4, 5, 6].map(Duration::from_millis);
    let pace =
        InputPace { after_move: moved, after_press: pressed, after_drag: dragged, ..InputPace::IMMEDIATE };
    let to = InputStep::Move(Point { x: 1, y: 1 });
    let click = [to.clone(), step(LEFT, true), step(LEFT, false)];
    assert_eq!(ran(pace, &click).pauses, [moved, pressed]);
    let drag = [step(LEFT, true), to.clone(), to.clone(), step(LEFT, false)];
    assert_eq!(ran(pace, &drag).pauses, [pressed, dragged]);
    // What comes between does not count as time that has passed.
    let between = [to.clone(), InputStep::Arrive, step(SHIFT, true), step(LEFT, true), step(LEFT, false)];
    assert_eq!(ran(pace, &between).pauses, [moved, pressed]);
}

#[test]
fn a_pause_of_the_script_counts_towards_the_dwell() {
    let pace = InputPace { after_press: Duration::from_millis(5), ..InputPace::IMMEDIATE };
    for (own, rest) in [(3, vec![3, 2]), (5, vec![5]), (9, vec![9])] {
        let steps = [step(LEFT, true), InputStep::Pause(Duration::from_millis(own)), step(LEFT, false)];
        let rest: Vec<Duration> = rest.into_iter().map(Duration::from_millis).collect();
        assert_eq!(ran(pace, &steps).pauses, rest);
    }
}

#[test]
fn a_press_is_held_long_enough_though_its_script_ends_or_is_stopped() {
    let time = Duration::from_millis(5);
    let pace = InputPace { after_press: time, ..InputPace::IMMEDIATE };
    let record = ran(pace, &[step(LEFT, true)]);
    assert_eq!((record.pauses, record.holds), (vec![], vec![time]), "the next script may release it");
    let mut devices =
        FakeDevices::new(pace, Record { trouble: Some((5, Trouble::Close)), ..Record::default() });
    assert!(devices.run(&[step(LEFT, true), step(LEFT, false)]).0.is_err());
    let record = devices.record.lock();
    assert_eq!(record.events, [Event::Press(LEFT), Event::Release(LEFT)]);
    assert_eq!(record.holds, [time], "a cancellation does not shorten it");
}

#[test]
fn each_piece_of_a_text_is_held() {
    let time = Duration::from_millis(5);
    let record = ran(InputPace { text_hold: time, ..InputPace::IMMEDIATE }, &[InputStep::Text("ab".into())]);
    assert_eq!((record.events.len(), record.holds), (2, vec![time; 2]));
}

#[test]
fn text_and_wheel_go_in_stretches() {
    let pace = InputPace {
        text_pieces_per_stretch: 2,
        between_texts: Duration::from_millis(2),
        turns_per_stretch: 2,
        notches_per_turn: 10,
        ..InputPace::IMMEDIATE
    };
    let text = ran(pace, &[InputStep::Text("abcde".into())]);
    assert_eq!((text.questions, text.pauses.len(), text.events.len()), (3, 2, 5));
    let wheel = ran(pace, &[InputStep::Wheel { right: 0, down: 25 }]);
    let turns = [10, 10, 5].map(|down| Event::Turn(WheelTurn { right: 0, down }));
    assert_eq!((wheel.questions, &wheel.events[..]), (2, &turns[..]));
    let nothing = ran(pace, &[InputStep::Wheel { right: 0, down: 0 }, InputStep::Text(String::new())]);
    assert_eq!((nothing.questions, nothing.events.len()), (0, 0));
}

#[test]
fn a_receiver_that_is_not_ready_is_waited_for_and_judged_again() {
    let mut devices = FakeDevices::new(InputPace::IMMEDIATE, Record::default());
    devices.slow_receivers = true;
    assert_eq!(devices.run(&combo('a')).0, Ok(()));
    let record = devices.record.lock();
    assert_eq!((record.questions, record.events.len()), (2, 4));
}

#[test]
fn expecting_and_moving_send_nothing_that_counts() {
    let steps = [
        InputStep::Move(Point { x: 1, y: 1 }),
        InputStep::Expect(Stretch::Keys),
        InputStep::Text("a".into()),
    ];
    // 0 is the beginning, 1 the move, 2 the receiver that is expected.
    let (failure, record) = stopped(&steps, 2, Trouble::Refuse);
    assert_eq!((failure.kind, failure.sent), (FailureKind::Elsewhere, Sent::No));
    assert_eq!(record.events, [Event::Move(1)]);
}

#[test]
fn what_cannot_be_released_is_released_once_more_in_the_end() {
    let steps = [step(LEFT, true), step(LEFT, false)];
    // 0 is the beginning; the press is locked, placed, judged, sent and unlocked.
    let (failure, record) = stopped(&steps, 6, Trouble::FailBefore);
    assert_eq!(failure.sent, Sent::Yes);
    assert_eq!(record.events, [Event::Press(LEFT), Event::Release(LEFT)]);
    assert!(record.held.is_empty());
}

#[test]
fn nobody_knows_whether_the_first_press_arrived_if_it_failed() {
    for trouble in [Trouble::FailBefore, Trouble::FailAfter, Trouble::Lose] {
        let (failure, _) = stopped(&[step(LEFT, true)], 4, trouble);
        assert_eq!(failure.sent, Sent::Maybe, "{trouble:?}");
    }
}

#[test]
fn a_script_that_is_cancelled_says_whether_something_was_sent() {
    let steps = [step(LEFT, true), InputStep::Text("a".into())];
    let (failure, _) = stopped(&steps, 0, Trouble::Close);
    assert_eq!(failure, Failure::closed());
    let (failure, record) = stopped(&steps, 5, Trouble::Close);
    assert_eq!((failure.kind, failure.sent), (FailureKind::Closed, Sent::Yes));
    assert_eq!(failure.native, "it was cancelled while it was being sent");
    assert_eq!(record.events, [Event::Press(LEFT), Event::Release(LEFT)]);
}
