//! Charts rendered: small ones written here, and real ones beside the real program.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod charts;
mod decisions;
mod flux;
mod hostile;
mod program;
mod records;
