//! Service-account tokens: JSON web tokens that the server signs and checks itself.

mod claims;
mod issuer;
mod validate;

pub use claims::{Claims, Reference};
pub use issuer::{Issuer, KeyError};
pub use validate::{Accepted, Rejected};
