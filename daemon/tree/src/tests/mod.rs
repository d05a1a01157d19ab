//! Tests that the tree stays a tree, that its differences are correct, and that its ids are stable.

mod app;
mod brief;
mod hiding;
mod ids;
mod look;
mod near;
mod properties;
mod unread;
mod views;
