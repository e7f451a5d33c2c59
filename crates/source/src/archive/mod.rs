//! Trees of files and the archives that hold them.
//!
//! | | |
//! |---|---|
//! | [`Tree`] | files to be packed, wherever they are |
//! | [`ignore`] | which of them are left out |
//! | [`pack()`] | a tree to a gzipped tar archive, the same bytes every time |
//! | [`unpack()`], [`read`] | such an archive, from anyone, to a directory or into memory |
//! | [`Hasher`], [`Hashing`] | digests, computed on the way |

mod hash;
pub mod ignore;
pub mod overlay;
mod pack;
mod tree;
mod unpack;

pub use hash::{Hasher, Hashing};
pub use overlay::Overlay;
pub use pack::{Modes, Packed, pack, pack_into};
pub use tree::{Directory, Entry, Kind, MemoryTree, Stoppable, Tree};
pub use unpack::{Error, Limits, Unpacked, read, unpack};
