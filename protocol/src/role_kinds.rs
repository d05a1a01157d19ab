//! How roles are related: which one is a kind of another, and which ones are taken for one another.
//!
//! The two tables below are the only place that says so. Selectors accept the kinds of a role; errors list elements of near roles
//! first.

use crate::role::Role;

/// The kinds of a role, as ARIA has them (a subclass role, or a state that ARIA has instead of a role). The headers of a table are
/// kinds of a cell in ARIA, and are left out: a header names cells, and is not what `cell` is used for.
const KINDS: &[(Role, &[Role])] = &[
    (Role::Button, &[Role::ToggleButton]),
    (Role::Checkbox, &[Role::Switch]),
    (Role::TextField, &[Role::SearchField]),
    (Role::MenuItem, &[Role::MenuItemCheckbox, Role::MenuItemRadio]),
    (Role::ListItem, &[Role::TreeItem]),
    (Role::Table, &[Role::Grid]),
    (Role::Dialog, &[Role::Alert]),
    (Role::Landmark, &[Role::Form]),
];

/// Roles that look or work alike, so that one is often written for another.
const ALIKE: &[&[Role]] = &[
    &[Role::Button, Role::ToggleButton, Role::Link, Role::MenuItem, Role::Menu, Role::Tab],
    &[
        Role::Checkbox,
        Role::Switch,
        Role::ToggleButton,
        Role::Radio,
        Role::MenuItemCheckbox,
        Role::MenuItemRadio,
    ],
    &[Role::Row, Role::ListItem, Role::TreeItem, Role::Cell],
    &[Role::Cell, Role::ColumnHeader, Role::RowHeader],
    &[Role::TextField, Role::SearchField, Role::TextArea, Role::Combobox, Role::SpinButton, Role::DateField],
    &[Role::Combobox, Role::List, Role::Menu, Role::RadioGroup],
    &[Role::MenuItem, Role::MenuItemCheckbox, Role::MenuItemRadio, Role::Menu, Role::ListItem],
    &[Role::List, Role::Tree, Role::Table, Role::Grid],
    &[Role::Window, Role::Dialog, Role::Alert, Role::Notification],
    &[Role::Text, Role::Heading, Role::Paragraph, Role::Link, Role::StatusBar],
    &[Role::Slider, Role::SpinButton, Role::ScrollBar, Role::ProgressBar, Role::Meter],
    &[Role::Image, Role::Canvas, Role::Media],
    &[Role::Document, Role::Iframe, Role::Landmark, Role::Form, Role::Group],
    &[Role::TabList, Role::Toolbar, Role::MenuBar],
];

impl Role {
    /// The other roles that a selector with this role accepts.
    pub fn kinds(self) -> &'static [Role] {
        KINDS.iter().find(|(role, _)| *role == self).map_or(&[], |(_, kinds)| kinds)
    }

    /// Whether a selector with the role `wanted` accepts this role: it is the same, or a kind of it.
    pub fn is_kind_of(self, wanted: Role) -> bool {
        self == wanted || wanted.kinds().contains(&self)
    }

    /// How near another role is: 3 if it is the same, 2 if one is a kind of the other, 1 if they are alike, else 0.
    pub fn nearness(self, other: Role) -> u32 {
        if self == other {
            3
        } else if self.is_kind_of(other) || other.is_kind_of(self) {
            2
        } else {
            u32::from(ALIKE.iter().any(|alike| alike.contains(&self) && alike.contains(&other)))
        }
    }

    /// All roles that are near to this one, the nearest first; the first is the role itself.
    pub fn near(self) -> Vec<Role> {
        let mut near: Vec<Role> = Role::ALL.iter().copied().filter(|role| self.nearness(*role) > 0).collect();
        near.sort_by_key(|role| std::cmp::Reverse(self.nearness(*role)));
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_accepts_its_kinds_and_not_the_other_way_round() {
        for (role, kind) in [
            (Role::Button, Role::ToggleButton),
            (Role::Checkbox, Role::Switch),
            (Role::TextField, Role::SearchField),
            (Role::MenuItem, Role::MenuItemRadio),
            (Role::ListItem, Role::TreeItem),
        ] {
            assert!(kind.is_kind_of(role) && role.is_kind_of(role), "{role} {kind}");
            assert!(!role.is_kind_of(kind), "{role} {kind}");
        }
        assert!(!Role::SpinButton.is_kind_of(Role::TextField));
        assert!(!Role::TextArea.is_kind_of(Role::TextField));
    }

    #[test]
    fn kinds_need_no_chain_and_no_role_is_listed_twice() {
        for (at, (role, kinds)) in KINDS.iter().enumerate() {
            assert!(kinds.iter().all(|kind| kind.kinds().is_empty()), "{role}: kinds are listed whole");
            assert!(KINDS[at + 1..].iter().all(|(other, _)| other != role), "{role}");
        }
    }

    #[test]
    fn near_roles_come_in_the_order_of_their_nearness() {
        assert_eq!(Role::Button.near()[..2], [Role::Button, Role::ToggleButton]);
        assert!(Role::Button.near().contains(&Role::Link));
        for (one, other) in [
            (Role::Row, Role::ListItem),
            (Role::Row, Role::TreeItem),
            (Role::Cell, Role::Row),
            (Role::Link, Role::Button),
            (Role::MenuItem, Role::Button),
            (Role::TextArea, Role::TextField),
            (Role::Combobox, Role::TextField),
        ] {
            assert_eq!((one.nearness(other), other.nearness(one)), (1, 1), "{one} {other}");
        }
        assert_eq!(Role::Button.nearness(Role::Slider), 0);
    }
}
