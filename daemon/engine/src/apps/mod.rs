//! Attached apps: `attach` brings an app's tree into memory and applies what its worker sends, `app` is an attached app,
//! `target` resolves the target of a request, `one_match` decides which match of a selector it is, `measure` gets the bounds of
//! elements, `modal` finds the dialogs that block an app, `tree_lock` is the lock of its tree, `causes` knows which changes followed
//! an action.

pub(crate) mod app;
pub(crate) mod attach;
pub(crate) mod causes;
pub(crate) mod measure;
pub(crate) mod modal;
pub(crate) mod one_match;
pub(crate) mod target;
pub(crate) mod tree_lock;
