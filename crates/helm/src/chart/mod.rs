//! Charts: reading them from archives and trees, and packing them.

mod cache;
pub mod files;
pub mod ignore;
mod load;
pub mod metadata;
mod revision;
mod save;
mod tree;
pub mod values;

pub use cache::Charts;
pub use files::{File, Limits};
pub use load::{Chart, Error as LoadError, metadata_of_archive, metadata_of_tree};
pub use metadata::{Dependency, Lock, Metadata};
pub use revision::{RevisionError, Tracked, track_revision};
pub use save::Error as PackError;
pub use save::as_go_writes;
pub use tree::{Entry, FileTree, MemoryTree};
