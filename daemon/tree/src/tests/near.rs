//! What is offered in place of what is not there.

use axd_protocol::Role;

use crate::tests::app::Fed;

const WINDOW: &str = "
0 application App
  1 window Main
    2 link Save
    3 slider Save
    4 togglebutton Save
    5 list Things
      6 listitem One
      7 treeitem Two
    8 text Row";

fn like(role: Role, name: Option<&str>) -> Vec<Role> {
    Fed::of(WINDOW).tree.like(role, name, 8).iter().map(|node| node.role).collect()
}

#[test]
fn the_nearest_names_come_first_and_among_them_the_nearest_roles() {
    assert_eq!(like(Role::Button, Some("Save")), [Role::ToggleButton, Role::Link, Role::Slider]);
    assert_eq!(like(Role::Slider, Some("Save"))[0], Role::Slider);
    assert_eq!(like(Role::Row, Some("One")), [Role::ListItem]);
}

#[test]
fn a_role_that_is_not_there_is_answered_with_roles_that_are_near() {
    assert_eq!(like(Role::Row, None), [Role::ListItem, Role::TreeItem]);
    assert_eq!(like(Role::Combobox, None), [Role::List]);
    assert_eq!(like(Role::Media, None), []);
}
