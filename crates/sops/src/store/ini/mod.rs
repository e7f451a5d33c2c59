//! Sections of keys, as the Go library `ini.v1` reads and writes them.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

/// The section of what stands before all sections.
const DEFAULT: &str = "DEFAULT";
/// What separates a key from its value.
const DELIMITERS: [char; 2] = ['=', ':'];
