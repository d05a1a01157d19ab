//! What is allowed, as the engine enforces it; the decisions are those of `axd-policy`.
//!
//! `facts` gathers what a decision depends on. `permit` asks before a request begins, and has approval asked for where the policy
//! says so (`approvals`). `guard` asks again just before something is sent, about whoever would receive it. `pause` stops
//! everything at once. `painted_over` keeps windows out of pictures. `rates` counts. `record` writes the audit, by `audit` and `audit_file`.

pub(crate) mod approvals;
mod audit;
mod audit_file;
pub(crate) mod facts;
mod follow;
pub(crate) mod guard;
pub(crate) mod painted_over;
pub(crate) mod pause;
pub(crate) mod permit;
mod rates;
mod record;

pub use audit::{Audit, AuditHealth, Entry, Launched};
pub(crate) use rates::Rates;
pub(crate) use record::RecordIfDropped;
