//! The integration tests of this crate, as one program.

mod catalog;
mod discovery;
