//! Attached apps: `attach` brings an app's tree into memory and pumps what its worker sends, `app` is one of them, `target` finds the
//! element that a request means, `measure` asks where elements are, `modal` knows which dialogs block an app.

pub(crate) mod app;
pub(crate) mod attach;
pub(crate) mod measure;
pub(crate) mod modal;
pub(crate) mod target;
