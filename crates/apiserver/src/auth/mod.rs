//! Who is asking, and what they may do.
//!
//! [`Rbac::authorize`] answers whether a request, described by its [`Attributes`], is allowed; for writes of roles and
//! bindings, [`rbac::escalation`] sees to it that nobody gives away rights they do not have.
//!
//! Everything here is pure: time and randomness are arguments, objects come in through a lookup function.

pub mod attributes;
pub mod rbac;
pub mod user;

mod quote;

pub use attributes::{Attributes, Resource, Target};
pub use rbac::{Decision, Rbac, RbacKind};
pub use user::User;

/// Looks an object up by resource (`pods`), namespace and name.
pub type Find<'a> = &'a dyn Fn(&str, &str, &str) -> Option<model::Value>;
