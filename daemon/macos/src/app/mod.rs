//! An attached app: the thread that owns its elements and observers, and all that reads from it.
//!
//! Read in this order: `thread` (how others reach the thread), `attached_app` (what runs on it), `registration` and
//! `notifications` (what the app is asked to announce, and what each announcement means), `announcements` (who is told), `reader` (reads elements) with
//! `attributes`, `children`, `geometry` and `handles`; `content` and `roles` are pure and turn what was read into facts.
//! `enable_accessibility` is for apps that build their tree only on request, `recovery` for panics. What acts on elements is in `action`.

mod announcements;
pub mod attached_app;
pub mod attributes;
mod children;
pub mod content;
pub mod enable_accessibility;
mod geometry;
mod handles;
mod notifications;
mod reader;
mod recovery;
mod registration;
pub mod roles;
pub mod thread;
