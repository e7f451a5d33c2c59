//! A tree of files that can be listed and read, wherever it is: in a Git object database, on disk, in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Whether anyone may execute it.
        executable: bool,
    },
}

/// A file or directory of a tree. Links and special files are never entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path from the root, with `/` between its parts, without `.` and `..` and without a slash at either end.
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// Files that can be listed and read. Whoever packs a tree reads its files one after another, so that nothing is held whole.
pub trait Tree {
    /// All files and directories below the root, each directory before what is in it, ordered by path components.
    ///
    /// # Errors
    /// Where the tree cannot be read, with the path it is about.
    fn entries(&self) -> io::Result<Vec<Entry>>;

    /// The content of a file.
    ///
    /// # Errors
    /// Where it cannot be read or is no file.
    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>>;

    /// The number of bytes of a file, where that is known without reading it. A large file whose size is not known is held
    /// whole while it is packed.
    ///
    /// # Errors
    /// Where the file is not there.
    fn size(&self, _path: &str) -> io::Result<Option<u64>> {
        Ok(None)
    }
}

/// A tree that can be read until a flag is set. Whoever packs it on another thread ends with an error then.
pub struct Stoppable<'t> {
    tree: &'t dyn Tree,
    stop: &'t AtomicBool,
}

impl<'t> Stoppable<'t> {
    /// The same files, until `stop` is set.
    pub fn new(tree: &'t dyn Tree, stop: &'t AtomicBool) -> Self {
        Stoppable { tree, stop }
    }

    fn check(&self) -> io::Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("nobody waits for the archive any more")),
            false => Ok(()),
        }
    }
}

impl Tree for Stoppable<'_> {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        self.check()?;
        self.tree.entries()
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        self.check()?;
        self.tree.open(path)
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        self.check()?;
        self.tree.size(path)
    }
}

/// A directory on disk. Symbolic links are left out, whatever they point to.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The tree below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Directory { root: root.into() }
    }

    fn collect(&self, directory: &Path, prefix: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
        let named = |error: io::Error, path: &Path| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let mut children = Vec::new();
        for child in fs::read_dir(directory).map_err(|error| named(error, directory))? {
            let child = child.map_err(|error| named(error, directory))?;
            let Some(name) = child.file_name().to_str().map(str::to_owned) else {
                let error = io::Error::new(io::ErrorKind::InvalidData, "the name is not UTF-8");
                return Err(named(error, &child.path()));
            };
            children.push((name, child));
        }
        children.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, child) in children {
            let path = format!("{prefix}{name}");
            let kind = child.file_type().map_err(|error| named(error, &child.path()))?;
            if kind.is_dir() {
                entries.push(Entry {
                    path: path.clone(),
                    kind: Kind::Directory,
                });
                self.collect(&child.path(), &format!("{path}/"), entries)?;
            } else if kind.is_file() {
                let metadata = child.metadata().map_err(|error| named(error, &child.path()))?;
                let kind = Kind::File {
                    executable: is_executable(&metadata),
                };
                entries.push(Entry { path, kind });
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

impl Tree for Directory {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.collect(&self.root, "", &mut entries)?;
        Ok(entries)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.root.join(path))?))
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        Ok(Some(fs::symlink_metadata(self.root.join(path))?.len()))
    }
}

/// A tree in memory: of tests, and of content that is small and was made here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryTree {
    nodes: BTreeMap<Vec<String>, Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File { executable: bool, content: Vec<u8> },
}

impl MemoryTree {
    /// An empty tree.
    pub fn new() -> Self {
        MemoryTree::default()
    }

    /// Adds a file; its directories come by themselves.
    #[must_use]
    pub fn with(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.insert_file(path, false, content.into());
        self
    }

    /// Adds a file that can be executed.
    #[must_use]
    pub fn with_executable(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.insert_file(path, true, content.into());
        self
    }

    /// Adds a directory, which may stay empty.
    #[must_use]
    pub fn with_directory(mut self, path: &str) -> Self {
        self.insert_directory(path);
        self
    }

    /// The content of a file, where there is one of that name.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        match self.nodes.get(&parts(path)) {
            Some(Node::File { content, .. }) => Some(content),
            _ => None,
        }
    }

    pub(super) fn insert_file(&mut self, path: &str, executable: bool, content: Vec<u8>) {
        let node = Node::File { executable, content };
        self.nodes.insert(parts(path), node);
    }

    pub(super) fn insert_directory(&mut self, path: &str) {
        self.nodes.insert(parts(path), Node::Directory);
    }
}

fn parts(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

impl Tree for MemoryTree {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for (path, node) in &self.nodes {
            let above = match node {
                Node::Directory => path.len(),
                Node::File { .. } => path.len() - 1,
            };
            let shared = open
                .iter()
                .zip(&path[..above])
                .take_while(|(left, right)| left == right);
            open.truncate(shared.count());
            while open.len() < above {
                open.push(path[open.len()].clone());
                entries.push(Entry {
                    path: open.join("/"),
                    kind: Kind::Directory,
                });
            }
            if let Node::File { executable, .. } = node {
                entries.push(Entry {
                    path: path.join("/"),
                    kind: Kind::File {
                        executable: *executable,
                    },
                });
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        match self.get(path) {
            Some(content) => Ok(Box::new(content)),
            None => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{path}: no such file"),
            )),
        }
    }

    fn size(&self, path: &str) -> io::Result<Option<u64>> {
        Ok(self.get(path).map(|content| content.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tree: &dyn Tree) -> Vec<String> {
        let entries = tree.entries().unwrap();
        entries.into_iter().map(|entry| entry.path).collect()
    }

    #[test]
    fn a_tree_in_memory_has_the_directories_of_its_files() {
        let tree = MemoryTree::new()
            .with("b/c/d", "")
            .with("a", "")
            .with("b/x", "")
            .with("b-", "");
        assert_eq!(paths(&tree), ["a", "b", "b/c", "b/c/d", "b/x", "b-"]);
    }

    #[test]
    fn a_directory_is_listed_in_the_same_order_without_links() {
        let root = tempfile::tempdir().unwrap();
        for path in ["b/c/d", "a", "b/x", "b-"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", root.path().join("b/link")).unwrap();
        assert_eq!(
            paths(&Directory::new(root.path())),
            ["a", "b", "b/c", "b/c/d", "b/x", "b-"]
        );
    }

    #[test]
    fn a_directory_in_memory_may_be_empty() {
        let tree = MemoryTree::new().with_directory("a/b").with("a/c", "");
        assert_eq!(paths(&tree), ["a", "a/b", "a/c"]);
    }

    #[test]
    fn files_are_read() {
        let tree = MemoryTree::new().with("a/b", "content");
        let mut text = String::new();
        tree.open("a/b").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        assert!(tree.open("a").is_err());
    }
}
