//! The HTTP side: what a request asks for, bodies in, answers out.

mod body;
pub(crate) mod content;
mod request;

pub use body::Body;
pub(crate) use content::{Representation, decode, negotiate};
pub(crate) use request::{Query, Request, Target};
