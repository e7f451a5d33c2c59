//! Files that can be listed, so that a kustomization can be generated from them.

use kustomize::{Memory, Tree};

/// A tree whose directories can be listed.
pub trait Files: Tree {
    /// What is in a directory, sorted by name.
    ///
    /// # Errors
    /// Says why the directory cannot be read.
    fn list(&self, directory: &str) -> Result<Vec<Entry>, String>;
}

/// Something in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name in the directory.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What is in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// Anything else. A link counts as a file, whatever it leads to: nobody walks through it.
    File,
}

impl Files for Memory {
    fn list(&self, directory: &str) -> Result<Vec<Entry>, String> {
        let prefix = if directory.is_empty() {
            String::new()
        } else {
            format!("{directory}/")
        };
        let below = self.files().filter_map(|path| path.strip_prefix(&prefix));
        let mut entries: Vec<Entry> = below
            .map(|path| match path.split_once('/') {
                Some((name, _)) => (name, EntryKind::Directory),
                None => (path, EntryKind::File),
            })
            .map(|(name, kind)| Entry {
                name: name.to_owned(),
                kind,
            })
            .collect();
        entries.sort();
        entries.dedup();
        Ok(entries)
    }
}
