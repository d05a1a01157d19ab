//! What is allowed, as the engine enforces it; the decisions are those of `axd-policy`.
//!
//! `facts` gathers what a decision depends on. `permit` asks before a request begins. `guard` asks again just before something is
//! sent, about whoever would receive it. What the policy leaves to a person fails there; then `approvals` has it approved, and the
//! request is tried again from its beginning, so that the time that a person takes is not the request's. `pause` stops everything
//! at once. `painted_over` keeps windows out of pictures. `rates` counts. `record` writes the audit, by `audit` and `audit_file`.

pub(crate) mod approvals;
mod audit;
mod audit_file;
pub(crate) mod facts;
mod follow;
pub(crate) mod guard;
pub(crate) mod painted_over;
pub(crate) mod pause;
pub(crate) mod permit;
pub(crate) mod rates;
mod record;

pub use audit::{Audit, AuditHealth, Entry, Launched};
pub(crate) use rates::Rates;
pub(crate) use record::{RecordIfDropped, is_refused};
