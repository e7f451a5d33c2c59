//! JSON in and out of [`Value`], as the Kubernetes API server reads and writes it.
//!
//! Reading follows Go's `encoding/json` with the settings of the API server: the last of equal keys wins, whole
//! numbers that fit 64 bits stay whole, bytes that are no UTF-8 become U+FFFD, and the error texts are Go's. Maps come
//! out sorted. Writing escapes what the API server escapes, so that the same object gives the same bytes.
//!
//! **Deviation**: nesting ends at [`MAX_DEPTH`], not at 10,000, so that the recursive code that works on a [`Value`]
//! (dropping it, to begin with) stays inside a thread's stack. Of a number that is out of range the first hundred
//! characters are told, not all.

mod error;
mod memory;
mod read;
mod text;
mod write;

pub use error::Error;
pub use memory::memory;
pub use read::{parse, parse_strict};
pub use write::{to_string, to_vec, write, write_pretty};

#[cfg(doc)]
use crate::Value;

/// How deeply lists and maps may be nested in what is read.
pub const MAX_DEPTH: usize = 256;
