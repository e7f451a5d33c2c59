//! What differs between what is wanted and what there is. Pure: objects and answers of the API server are handed in.
//!
//! The order in which an object goes through it:
//!
//! 1. [`Normaliser`] brings the desired object into the form in which it is applied.
//! 2. [`digest()`] of it, with the version of the live object, tells whether the question was asked before.
//! 3. A dry run by the API server tells what an apply would make of the live object; without a server, [`offline()`] does.
//! 4. [`drift()`] compares that with the live object, less what [`IgnoreRules`] leave out.
//! 5. [`Takeover`] finds what earlier managers must give up, and [`IgnoreRules::settle`] what the apply must keep.
//!
//! [`unified()`] shows a difference to people, [`Field`]s show it to programs; [`mask()`] hides what is secret in both.

mod authority;
mod digest;
mod drift;
pub mod expression;
mod failure;
mod fields;
pub mod ignore;
mod mask;
mod normalise;
mod offline;
mod owner;
mod path;
pub mod pointer;
pub mod takeover;
mod unified;

pub use authority::drop_unreadable_authority;
pub use digest::digest;
pub use drift::{Drift, drift};
pub use failure::dry_run_failure;
pub use fields::Field;
pub use ignore::{IgnoreRule, IgnoreRules};
pub use mask::{is_secret, mask};
pub use normalise::Normaliser;
pub use offline::offline;
pub use takeover::Takeover;
pub use unified::unified;
