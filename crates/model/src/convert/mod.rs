//! Between [`Value`] and types that know serde, such as those of `k8s-openapi`, without JSON text in between.
//!
//! A [`Value`] is itself `Serialize` and `Deserialize`, so it can also be a field of such a type.

mod from_serde;
mod to_serde;
mod value;

use std::fmt;

pub use from_serde::from_serde;
pub use to_serde::to_serde;

#[cfg(doc)]
use crate::Value;

/// Why a value does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}
