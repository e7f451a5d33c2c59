//! What the crate promises.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod aliases;
mod as_go_reads_it;
mod documents;
mod edit;
mod hostile;
mod masked;
mod options;
mod write;
