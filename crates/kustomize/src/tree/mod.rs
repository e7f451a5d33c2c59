//! The files that a build may read: a tree that cannot be left.

mod memory;
pub(crate) mod path;

use std::borrow::Cow;

pub use memory::Memory;

/// A read-only tree of files.
///
/// Paths are relative to its root, with `/` between names and without `.`, `..`, empty names or a slash at either end;
/// the root itself is the empty path. A tree never hands out what is outside of it, whatever links lead there.
pub trait Tree {
    /// The content of a file; `None` if there is no such file.
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String>;

    /// Whether there is such a directory.
    fn is_dir(&self, path: &str) -> bool;

    /// The path with links followed; `None` if there is no such file or directory in the tree.
    fn resolve(&self, path: &str) -> Option<String>;

    /// Why a path leads nowhere; `None` where there simply is nothing.
    fn why_missing(&self, _path: &str) -> Option<String> {
        None
    }

    /// The names of what is in a directory, in order; `None` if there is no such directory, or the tree cannot tell.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    fn names_in(&self, _directory: &str) -> Result<Option<Vec<String>>, String> {
        Ok(None)
    }

    /// Whether its root is that of a file system, above which there is nothing: `..` leads from there to there.
    fn is_file_system(&self) -> bool {
        false
    }

    /// The path as it is shown to people.
    fn show(&self, path: &str) -> String {
        path.to_owned()
    }
}
