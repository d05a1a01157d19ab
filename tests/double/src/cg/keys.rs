//! The virtual key codes of a Mac's ANSI keyboard.

use axd_macos::appkit::host::{HostKey, HostKeyboard};
use axd_protocol::keys::{Key, Modifier, Named};

/// The keys that type: code, character, and character with shift.
const ANSI: &[(u16, char, char)] = &[
    (0, 'a', 'A'),
    (1, 's', 'S'),
    (2, 'd', 'D'),
    (3, 'f', 'F'),
    (4, 'h', 'H'),
    (5, 'g', 'G'),
    (6, 'z', 'Z'),
    (7, 'x', 'X'),
    (8, 'c', 'C'),
    (9, 'v', 'V'),
    (11, 'b', 'B'),
    (12, 'q', 'Q'),
    (13, 'w', 'W'),
    (14, 'e', 'E'),
    (15, 'r', 'R'),
    (16, 'y', 'Y'),
    (17, 't', 'T'),
    (18, '1', '!'),
    (19, '2', '@'),
    (20, '3', '#'),
    (21, '4', '$'),
    (22, '6', '^'),
    (23, '5', '%'),
    (24, '=', '+'),
    (25, '9', '('),
    (26, '7', '&'),
    (27, '-', '_'),
    (28, '8', '*'),
    (29, '0', ')'),
    (30, ']', '}'),
    (31, 'o', 'O'),
    (32, 'u', 'U'),
    (33, '[', '{'),
    (34, 'i', 'I'),
    (35, 'p', 'P'),
    (37, 'l', 'L'),
    (38, 'j', 'J'),
    (39, '\'', '"'),
    (40, 'k', 'K'),
    (41, ';', ':'),
    (42, '\\', '|'),
    (43, ',', '<'),
    (44, '/', '?'),
    (45, 'n', 'N'),
    (46, 'm', 'M'),
    (47, '.', '>'),
    (50, '`', '~'),
];

const NAMED: &[(u16, Key)] = &[
    (36, Key::Named(Named::Return)),
    (48, Key::Named(Named::Tab)),
    (49, Key::Named(Named::Space)),
    (51, Key::Named(Named::Backspace)),
    (53, Key::Named(Named::Escape)),
    (57, Key::Named(Named::CapsLock)),
    (76, Key::Named(Named::Return)),
    (110, Key::Named(Named::Menu)),
    (114, Key::Named(Named::Insert)),
    (115, Key::Named(Named::Home)),
    (116, Key::Named(Named::PageUp)),
    (117, Key::Named(Named::ForwardDelete)),
    (119, Key::Named(Named::End)),
    (121, Key::Named(Named::PageDown)),
    (123, Key::Named(Named::Left)),
    (124, Key::Named(Named::Right)),
    (125, Key::Named(Named::Down)),
    (126, Key::Named(Named::Up)),
    (54, Key::Modifier(Modifier::Cmd)),
    (55, Key::Modifier(Modifier::Cmd)),
    (56, Key::Modifier(Modifier::Shift)),
    (60, Key::Modifier(Modifier::Shift)),
    (58, Key::Modifier(Modifier::Alt)),
    (61, Key::Modifier(Modifier::Alt)),
    (59, Key::Modifier(Modifier::Ctrl)),
    (62, Key::Modifier(Modifier::Ctrl)),
    (122, Key::Function(1)),
    (120, Key::Function(2)),
    (99, Key::Function(3)),
    (118, Key::Function(4)),
    (96, Key::Function(5)),
    (97, Key::Function(6)),
    (98, Key::Function(7)),
    (100, Key::Function(8)),
    (101, Key::Function(9)),
    (109, Key::Function(10)),
    (103, Key::Function(11)),
    (111, Key::Function(12)),
    (105, Key::Function(13)),
    (107, Key::Function(14)),
    (113, Key::Function(15)),
    (106, Key::Function(16)),
    (64, Key::Function(17)),
    (79, Key::Function(18)),
    (80, Key::Function(19)),
    (90, Key::Function(20)),
];

/// An ANSI keyboard, as AppKit reports it.
pub(crate) fn ansi_keyboard() -> HostKeyboard {
    let key = |(code, plain, shifted): &(u16, char, char)| HostKey {
        code: *code,
        plain: Some(*plain),
        shifted: Some(*shifted),
        with_command: Some(*plain),
    };
    let keys: Vec<HostKey> = ANSI.iter().map(key).collect();
    HostKeyboard { current: keys.clone(), latin: keys }
}

/// The key of a code; `None` of codes that no key has.
pub(super) fn key_of(code: u16) -> Option<Key> {
    let typed = ANSI.iter().find(|(other, ..)| *other == code).map(|(_, plain, _)| Key::Char(*plain));
    typed.or_else(|| NAMED.iter().find(|(other, _)| *other == code).map(|(_, key)| *key))
}

/// The modifiers that flags stand for.
pub(super) fn modifiers_of(flags: u64) -> Vec<Modifier> {
    const FLAGS: [(u64, Modifier); 4] = [
        (0x0002_0000, Modifier::Shift),
        (0x0004_0000, Modifier::Ctrl),
        (0x0008_0000, Modifier::Alt),
        (0x0010_0000, Modifier::Cmd),
    ];
    FLAGS.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, modifier)| *modifier).collect()
}

/// The flag of a modifier.
pub(super) fn flag_of(modifier: Modifier) -> u64 {
    match modifier {
        Modifier::Shift => 0x0002_0000,
        Modifier::Ctrl => 0x0004_0000,
        Modifier::Alt => 0x0008_0000,
        Modifier::Cmd => 0x0010_0000,
    }
}
