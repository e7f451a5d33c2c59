//! Errors of commands whose exit codes say more than that something is wrong.

use std::fmt;
use std::process::ExitCode;

/// An error, and the code that the program ends with because of it.
#[derive(Debug)]
pub(crate) struct WithCode {
    code: u8,
    error: anyhow::Error,
}

impl WithCode {
    /// An error of a command that ends with 1 if it finds differences, and so ends with 2 if it cannot look for them.
    pub(crate) fn wrong(error: anyhow::Error) -> Self {
        WithCode { code: 2, error }
    }
}

impl fmt::Display for WithCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl std::error::Error for WithCode {}

/// What the program ends with because of an error.
pub(crate) fn code(error: &anyhow::Error) -> ExitCode {
    let own = error.downcast_ref::<WithCode>();
    own.map_or(ExitCode::FAILURE, |own| ExitCode::from(own.code))
}
