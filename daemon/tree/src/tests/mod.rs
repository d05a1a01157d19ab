//! The tree held to its word: that it stays a tree, that its stream says what it is, and that its ids keep.

mod app;
mod ids;
mod properties;
mod unread;
mod views;
