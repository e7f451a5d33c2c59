//! Charts, as the crate `helm` reads and packs them, out of the trees of sources.

use std::io::{self, Read};

pub use ::helm::chart::{
    Chart, Dependency, Entry, File, FileTree, Limits, LoadError, Lock, Metadata, PackError, as_go_writes,
    files, ignore, metadata, metadata_of_archive, metadata_of_tree, values,
};

use crate::archive::{Kind, Tree};

/// The tree of a source, for reading charts from it.
pub(in crate::helm) struct ChartTree<'t>(pub &'t dyn Tree);

impl FileTree for ChartTree<'_> {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let entries = self.0.entries()?;
        let entry = |entry: crate::archive::Entry| Entry {
            is_directory: entry.kind == Kind::Directory,
            path: entry.path,
        };
        Ok(entries.into_iter().map(entry).collect())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        self.0.open(path)
    }
}
