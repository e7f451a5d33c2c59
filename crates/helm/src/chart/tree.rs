//! Where the files of an unpacked chart come from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

/// A file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path from the root of the tree, with `/` between its parts.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Files that can be listed and read, wherever they are: on disk, in a Git repository, in memory.
pub trait FileTree {
    /// All files and directories, each directory before what is in it, ordered by the parts of their paths.
    ///
    /// # Errors
    /// Where the tree cannot be read.
    fn entries(&self) -> io::Result<Vec<Entry>>;

    /// The content of a file.
    ///
    /// # Errors
    /// Where it cannot be read or is no file.
    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>>;

    /// The first bytes of a file, no more than a limit. Trees that know how large their files are read them sooner.
    ///
    /// # Errors
    /// Where it cannot be read or is no file.
    fn read(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.open(path)?.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    /// By the parts of their paths.
    files: BTreeMap<Vec<String>, Vec<u8>>,
}

impl MemoryTree {
    /// A tree of these files.
    pub fn new<P: AsRef<str>, C: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, C)>) -> Self {
        let parts = |path: &str| path.split('/').map(str::to_owned).collect();
        MemoryTree {
            files: files
                .into_iter()
                .map(|(path, content)| (parts(path.as_ref()), content.into()))
                .collect(),
        }
    }
}

impl FileTree for MemoryTree {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut directories = BTreeSet::new();
        let mut entries = Vec::new();
        for parts in self.files.keys() {
            for depth in 1..parts.len() {
                let path = parts[..depth].join("/");
                if directories.insert(path.clone()) {
                    entries.push(Entry {
                        path,
                        is_directory: true,
                    });
                }
            }
            entries.push(Entry {
                path: parts.join("/"),
                is_directory: false,
            });
        }
        Ok(entries)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let content = self
            .files
            .get(&parts)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Box::new(content.as_slice()))
    }
}
