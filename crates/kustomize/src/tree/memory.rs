use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Tree, path};

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<String, Vec<u8>>,
    directories: BTreeSet<String>,
}

impl Memory {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and the directories above it. `.` and `..` are taken out of the path; what would leave the tree is
    /// not added.
    pub fn insert(&mut self, name: &str, content: impl Into<Vec<u8>>) {
        let name = path::clean(name);
        if name.is_empty() || path::escapes(&name) {
            return;
        }
        let mut above = path::parent(&name);
        while !above.is_empty() && self.directories.insert(above.to_owned()) {
            above = path::parent(above);
        }
        self.files.insert(name, content.into());
    }

    /// The paths of all files, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

impl<N: AsRef<str>, C: Into<Vec<u8>>> FromIterator<(N, C)> for Memory {
    fn from_iter<I: IntoIterator<Item = (N, C)>>(files: I) -> Self {
        let mut memory = Memory::new();
        for (name, content) in files {
            memory.insert(name.as_ref(), content);
        }
        memory
    }
}

/// The name of a path, if it lies directly in a directory.
fn name_in(directory: &str, path: &str) -> Option<String> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    (parent == directory && !name.is_empty()).then(|| name.to_owned())
}

impl Tree for Memory {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        Ok(self
            .files
            .get(path)
            .map(|content| Cow::Borrowed(content.as_slice())))
    }

    fn is_dir(&self, path: &str) -> bool {
        path.is_empty() || self.directories.contains(path)
    }

    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>, String> {
        if !self.is_dir(directory) {
            return Ok(None);
        }
        let all = self.files.keys().chain(&self.directories);
        let mut names: Vec<String> = all.filter_map(|path| name_in(directory, path)).collect();
        names.sort();
        Ok(Some(names))
    }

    fn resolve(&self, path: &str) -> Option<String> {
        (self.files.contains_key(path) || self.is_dir(path)).then(|| path.to_owned())
    }
}
