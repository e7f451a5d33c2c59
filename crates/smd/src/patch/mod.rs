//! The patch forms of the Kubernetes API besides apply: [`json`] (RFC 6902), [`merge`] (RFC 7396) and [`strategic`].
//!
//! All three change a [`Value`](model::Value) in place. After a failure the value may be changed in part: callers work
//! on a copy, which they have anyway.

pub mod go_text;
pub mod json;
pub mod merge;
pub mod strategic;

/// Why a patch cannot be applied, sorted by how the API server answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The patch makes no sense: 400 `BadRequest` with this text.
    #[error("{0}")]
    BadRequest(String),
    /// The patch is too large: 413 `RequestEntityTooLarge` with this text.
    #[error("{0}")]
    TooLarge(String),
    /// The patch does not fit the object: 422 `Invalid`. The server hides this text behind [`REJECTED`].
    #[error("{0}")]
    Unprocessable(String),
    /// The server answers 500 without a reason, with this text.
    #[error("{0}")]
    Failed(String),
}

/// What the server says instead of the text of [`Error::Unprocessable`].
pub const REJECTED: &str = "the server rejected our request due to an error in our request";

/// How the fields of a patch itself are checked: the `fieldValidation` parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checking {
    /// `Strict` and `Warn`: types of fields are checked before anything else, unknown ones are reported.
    Strict,
    /// `Ignore`: what is not looked at may be anything.
    Lax,
}
