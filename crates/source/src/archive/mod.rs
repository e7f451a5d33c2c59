//! Trees of files and the archives that hold them.

mod tree;

pub use tree::{Directory, Entry, Kind, MemoryTree, Tree};
