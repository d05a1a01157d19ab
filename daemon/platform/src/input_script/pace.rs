//! How fast input is sent, and how much of it at once. Pure.

use std::time::Duration;

/// How fast a platform sends input, and how much of it at once. The judge is asked again before each stretch and after each
/// pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputPace {
    /// The pause after a move of the pointer, if a button is pressed or released next.
    pub after_move: Duration,
    /// The pause after the press of a button, if the pointer is moved or a button is pressed or released next.
    pub after_press: Duration,
    /// The pause after a move with a button held, if a button is pressed or released next.
    pub after_drag: Duration,
    /// The pause between two keys of a row. If there is one, each key is a stretch.
    pub between_keys: Duration,
    /// How long a piece of a text is held down, where it is a press and a release.
    pub text_hold: Duration,
    /// The pause between two stretches of a text.
    pub between_texts: Duration,
    /// How long to wait at most until input has been received.
    pub arrival_timeout: Duration,
    /// How many keys of a row are one stretch at most.
    pub keys_per_stretch: usize,
    /// How many pieces of a text are one stretch at most.
    pub text_pieces_per_stretch: usize,
    /// How many turns of the wheel are one stretch at most.
    pub turns_per_stretch: usize,
    /// How many notches the wheel is turned at once at most.
    pub notches_per_turn: u32,
}

/// A turn of the wheel, by notches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WheelTurn {
    /// To the right; negative to the left.
    pub right: i32,
    /// Down; negative up.
    pub down: i32,
}

impl InputPace {
    /// Without pauses, and everything at once.
    pub const IMMEDIATE: InputPace = InputPace {
        after_move: Duration::ZERO,
        after_press: Duration::ZERO,
        after_drag: Duration::ZERO,
        between_keys: Duration::ZERO,
        text_hold: Duration::ZERO,
        between_texts: Duration::ZERO,
        arrival_timeout: Duration::ZERO,
        keys_per_stretch: usize::MAX,
        text_pieces_per_stretch: usize::MAX,
        turns_per_stretch: usize::MAX,
        notches_per_turn: u32::MAX,
    };
}

impl WheelTurn {
    /// Splits the turn into turns of at most so many notches, down or up first.
    pub(super) fn split(self, notches: u32) -> impl Iterator<Item = WheelTurn> {
        let limit = i32::try_from(notches.max(1)).unwrap_or(i32::MAX);
        let mut left = self;
        std::iter::from_fn(move || {
            let down = left.down.clamp(-limit, limit);
            let room = limit - down.abs();
            let part = WheelTurn { right: left.right.clamp(-room, room), down };
            left = WheelTurn { right: left.right - part.right, down: left.down - part.down };
            (part.right != 0 || part.down != 0).then_some(part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_turn_of_the_wheel_is_several_turns() {
        let split = |right, down, notches| -> Vec<(i32, i32)> {
            WheelTurn { right, down }.split(notches).map(|turn| (turn.right, turn.down)).collect()
        };
        assert_eq!(split(0, 3, 10), [(0, 3)]);
        assert_eq!(split(-25, 4, 10), [(-6, 4), (-10, 0), (-9, 0)]);
        assert_eq!(split(1, -2, 1), [(0, -1), (0, -1), (1, 0)]);
        assert_eq!(split(0, i32::MIN, u32::MAX), [(0, -i32::MAX), (0, -1)]);
        assert!(split(0, 0, 1).is_empty());
    }
}
