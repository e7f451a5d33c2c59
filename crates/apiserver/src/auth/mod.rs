//! Who is asking, and what they may do.
//!
//! A request passes through here in this order:
//!
//! 1. [`authenticate`]: headers (or a client certificate that the TLS layer checked) → [`User`];
//! 2. [`impersonate`]: `Impersonate-*` headers → another [`User`], if the first one may act as that one;
//! 3. [`Rbac::authorize`]: [`Attributes`] of the request → [`Decision`];
//! 4. for writes of roles and bindings, [`rbac::escalation`]: nobody gives away rights they do not have.
//!
//! [`review`] answers the same questions when a client asks them (`kubectl auth can-i`), [`token_request`] hands out
//! service-account tokens and [`bootstrap`] lists the objects that a new cluster starts with.
//!
//! Everything here is pure: time and randomness are arguments, objects come in through a lookup function.

pub mod attributes;
pub mod authenticate;
pub mod bootstrap;
pub mod impersonate;
pub mod rbac;
pub mod review;
pub mod token;
pub mod token_request;
pub mod user;

mod quote;

pub use attributes::{Attributes, Resource, Target};
pub use authenticate::Authenticator;
pub use rbac::{Decision, Rbac, RbacKind};
pub use token::Issuer;
pub use user::User;

/// Looks an object up by resource (`pods`), namespace and name.
pub type Find<'a> = &'a dyn Fn(&str, &str, &str) -> Option<model::Value>;
