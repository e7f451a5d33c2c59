//! Label and field selectors, read as the API server reads them, with its error texts.

mod field;
mod label;
mod parse;
mod structured;

pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelSelector, Operator, Requirement};

/// Why a selector is none, in the real server's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(crate) String);
