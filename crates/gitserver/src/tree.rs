//! Directories: reading tree objects and writing them from flat paths.

use std::collections::BTreeMap;

use super::object::{Id, Kind, Object};
use super::store::Store;

/// What a path in a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file.
    File,
    /// A file that may be run.
    Executable,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A commit of another repository.
    Submodule,
    /// A directory.
    Directory,
}

impl Mode {
    fn digits(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
            Self::Directory => "40000",
        }
    }

    fn parse(digits: &[u8]) -> Option<Self> {
        match digits {
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Symlink),
            b"160000" => Some(Self::Submodule),
            b"40000" => Some(Self::Directory),
            _ => None,
        }
    }
}

/// An entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: Mode,
    pub(crate) id: Id,
}

/// All paths below a tree that are not directories.
pub(crate) type Files = BTreeMap<String, Entry>;

/// The entries of one tree object, or nothing if it is malformed.
pub(crate) fn entries(tree: &Object) -> Option<Vec<(String, Entry)>> {
    let mut entries = Vec::new();
    let mut rest = &tree.data[..];
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = rest
            .iter()
            .position(|byte| *byte == 0)
            .filter(|end| *end > space)?;
        let name = String::from_utf8_lossy(&rest[space + 1..end]).into_owned();
        let mode = Mode::parse(&rest[..space])?;
        let id = Id::from_bytes(rest.get(end + 1..end + 21)?)?;
        entries.push((name, Entry { mode, id }));
        rest = &rest[end + 21..];
    }
    Some(entries)
}

/// All files below a tree.
pub(crate) fn files(store: &Store, root: Id) -> Files {
    let mut files = Files::new();
    let mut open = vec![(String::new(), root)];
    while let Some((prefix, id)) = open.pop() {
        let tree = store.get(id).and_then(entries).unwrap_or_default();
        for (name, entry) in tree {
            let path = format!("{prefix}{name}");
            match entry.mode {
                Mode::Directory => open.push((format!("{path}/"), entry.id)),
                _ => drop(files.insert(path, entry)),
            }
        }
    }
    files
}

/// Stores the trees that hold these files and returns the root.
pub(crate) fn write(store: &mut Store, files: &Files) -> Id {
    let mut root = Directory::default();
    for (path, entry) in files {
        root.insert(path, *entry);
    }
    root.write(store)
}

#[derive(Default)]
struct Directory {
    files: BTreeMap<String, Entry>,
    directories: BTreeMap<String, Directory>,
}

impl Directory {
    fn insert(&mut self, path: &str, entry: Entry) {
        let mut directory = self;
        let mut rest = path;
        while let Some((first, tail)) = rest.split_once('/') {
            directory = directory.directories.entry(first.to_string()).or_default();
            rest = tail;
        }
        directory.files.insert(rest.to_string(), entry);
    }

    /// The depth is that of the paths that a test writes.
    fn write(&self, store: &mut Store) -> Id {
        // Git sorts a directory as if its name ended in a slash.
        let mut sorted: BTreeMap<Vec<u8>, (&str, Entry)> = BTreeMap::new();
        for (name, entry) in &self.files {
            sorted.insert(name.clone().into_bytes(), (name, *entry));
        }
        for (name, directory) in &self.directories {
            let entry = Entry {
                mode: Mode::Directory,
                id: directory.write(store),
            };
            sorted.insert(format!("{name}/").into_bytes(), (name, entry));
        }
        let mut data = Vec::new();
        for (name, entry) in sorted.into_values() {
            data.extend_from_slice(format!("{} {name}\0", entry.mode.digits()).as_bytes());
            data.extend_from_slice(&entry.id.0);
        }
        store.put(Object::new(Kind::Tree, data))
    }
}

/// Panics when a path cannot stand in a tree: a mistake in the test.
pub(crate) fn check_path(path: &str) {
    let fine = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    assert!(
        path.split('/').all(fine),
        "{path:?} is not a path inside a repository"
    );
}

/// Whether a path can stand in a tree that others check out.
pub(crate) fn is_path(path: &str) -> bool {
    let fine = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains('\0') && !part.eq_ignore_ascii_case(".git")
    };
    path.split('/').all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_sorted_as_git_does() {
        let mut store = Store::default();
        let id = store.put(Object::new(Kind::Blob, ""));
        let entry = Entry { mode: Mode::File, id };
        let files = ["a/x", "a.b", "a0"].map(|path| (path.to_string(), entry)).into();
        let root = write(&mut store, &files);
        let names: Vec<_> = entries(store.get(root).unwrap())
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        // "a.b" < "a/" < "a0", though "a" alone would come first.
        assert_eq!(names, ["a.b", "a", "a0"]);
        assert_eq!(super::files(&store, root), files);
    }

    #[test]
    fn a_malformed_tree_is_nothing() {
        for data in [
            "100644",
            "100644 name",
            "100644 name\0short",
            "99 name\0aaaaaaaaaaaaaaaaaaaa",
        ] {
            assert_eq!(entries(&Object::new(Kind::Tree, data)), None, "{data}");
        }
    }
}
