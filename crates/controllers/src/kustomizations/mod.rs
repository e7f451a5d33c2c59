//! Kustomizations: a spec to what is built, and the variables of it.

mod request;
mod variables;

pub use request::{common_metadata, request};
pub use variables::{VariablesError, variables};
