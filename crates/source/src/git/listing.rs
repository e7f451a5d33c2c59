//! The files of a commit, by directory. A directory that did not change is the same value in the next commit.

use std::cmp::Ordering;
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use crate::archive::{Entry, Kind};

/// A directory whose files are all there.
#[derive(Debug)]
pub(super) struct Listing {
    /// The tree that it was read from.
    pub(super) id: ObjectId,
    /// Whether all that the tree has is listed, and not only what was wanted of it.
    pub(super) is_whole: bool,
    items: Vec<Item>,
    /// One name after the other.
    names: String,
    /// How many files and directories there are below.
    count: u64,
    /// The bytes in memory that everything below takes.
    below: u64,
    has_submodules: bool,
}

#[derive(Debug)]
struct Item {
    /// Where its name ends.
    end: u32,
    id: ObjectId,
    what: What,
}

/// What stands in a directory.
#[derive(Clone, Debug)]
pub(super) enum What {
    File { executable: bool },
    Directory(Arc<Listing>),
    Submodule,
}

impl Listing {
    pub(super) fn new(id: ObjectId, is_whole: bool) -> Self {
        Listing {
            id,
            is_whole,
            items: Vec::new(),
            names: String::new(),
            count: 0,
            below: 0,
            has_submodules: false,
        }
    }

    /// Adds what comes next in Git's order.
    pub(super) fn push(&mut self, name: &str, id: ObjectId, what: What) {
        self.count += 1;
        match &what {
            What::Directory(inner) => {
                self.count += inner.count;
                self.below += inner.bytes();
                self.has_submodules |= inner.has_submodules;
            }
            What::Submodule => self.has_submodules = true,
            What::File { .. } => {}
        }
        self.names.push_str(name);
        let end = u32::try_from(self.names.len()).expect("a tree is read only if it is smaller than that");
        self.items.push(Item { end, id, what });
    }

    /// Gives back what was reserved and not needed.
    pub(super) fn shrink(&mut self) {
        self.items.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    /// How many files and directories there are below.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The bytes in memory that it takes, with all below.
    pub(super) fn bytes(&self) -> u64 {
        let own = size_of::<Listing>() + self.items.capacity() * size_of::<Item>() + self.names.capacity();
        self.below + own as u64
    }

    fn name(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.items[before].end);
        &self.names[start as usize..self.items[at].end as usize]
    }

    /// What has this name; Git sorts directories as if a slash ended their names.
    pub(super) fn get(&self, name: &str, is_directory: bool) -> Option<(ObjectId, &What)> {
        let (mut low, mut high) = (0, self.items.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let item = &self.items[middle];
            let is_tree = matches!(item.what, What::Directory(_));
            match order((self.name(middle), is_tree), (name, is_directory)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some((item.id, &item.what)),
            }
        }
        None
    }

    /// Whether there is a file or directory of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        match path.split_once('/') {
            None => self.get(path, true).or_else(|| self.get(path, false)).is_some(),
            Some((first, rest)) => {
                matches!(self.get(first, true), Some((_, What::Directory(inner))) if inner.has(rest))
            }
        }
    }

    /// All files and directories with their paths. The content of a file is the object that comes with it.
    pub(super) fn entries(&self, prefix: &str, out: &mut Vec<(Entry, Option<ObjectId>)>) {
        for (at, item) in self.items.iter().enumerate() {
            let path = [prefix, self.name(at)].concat();
            match &item.what {
                What::File { executable } => {
                    let kind = Kind::File {
                        executable: *executable,
                    };
                    out.push((Entry { path, kind }, Some(item.id)));
                }
                What::Submodule => out.push((directory(path), None)),
                What::Directory(inner) => {
                    let below = format!("{path}/");
                    out.push((directory(path), None));
                    inner.entries(&below, out);
                }
            }
        }
    }

    /// Where submodules are, and which commits of them.
    pub(super) fn submodules(&self, prefix: &str, out: &mut Vec<(String, ObjectId)>) {
        for (at, item) in self.items.iter().enumerate() {
            match &item.what {
                What::Submodule => out.push(([prefix, self.name(at)].concat(), item.id)),
                What::Directory(inner) if inner.has_submodules => {
                    inner.submodules(&format!("{prefix}{}/", self.name(at)), out);
                }
                What::Directory(_) | What::File { .. } => {}
            }
        }
    }
}

fn directory(path: String) -> Entry {
    Entry {
        path,
        kind: Kind::Directory,
    }
}

fn order((left, left_is_tree): (&str, bool), (right, right_is_tree): (&str, bool)) -> Ordering {
    let end = |is_tree: bool| is_tree.then_some(b'/');
    let left = left.bytes().chain(end(left_is_tree));
    left.cmp(right.bytes().chain(end(right_is_tree)))
}

impl What {
    /// Whether an entry of a tree is the same as this, but for what it contains.
    pub(super) fn is(&self, kind: EntryKind) -> bool {
        match self {
            What::File { executable: false } => kind == EntryKind::Blob,
            What::File { executable: true } => kind == EntryKind::BlobExecutable,
            What::Directory(_) => kind == EntryKind::Tree,
            What::Submodule => kind == EntryKind::Commit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> ObjectId {
        ObjectId::from_bytes_or_panic(&[byte; 20])
    }

    const FILE: What = What::File { executable: false };

    /// `a-b`, `a/` with `x` and the submodule `m`, `a.yaml`, `b`: as Git sorts them.
    fn listing() -> Listing {
        let mut inner = Listing::new(id(9), true);
        inner.push("m", id(1), What::Submodule);
        inner.push("x", id(2), FILE);
        let mut listing = Listing::new(id(10), true);
        listing.push("a-b", id(3), FILE);
        listing.push("a.yaml", id(4), FILE);
        listing.push("a", id(9), What::Directory(Arc::new(inner)));
        listing.push("b", id(5), FILE);
        listing
    }

    #[test]
    fn what_is_there_is_found_by_name_and_by_path() {
        let listing = listing();
        for (name, is_directory, found) in [
            ("a-b", false, Some(id(3))),
            ("a.yaml", false, Some(id(4))),
            ("a", true, Some(id(9))),
            ("a", false, None),
            ("b", false, Some(id(5))),
            ("c", false, None),
        ] {
            assert_eq!(listing.get(name, is_directory).map(|(id, _)| id), found, "{name}");
        }
        for (path, is_there) in [
            ("a", true),
            ("a/x", true),
            ("a/y", false),
            ("b", true),
            ("b/x", false),
        ] {
            assert_eq!(listing.has(path), is_there, "{path}");
        }
    }

    #[test]
    fn all_below_is_counted_and_listed() {
        let listing = listing();
        let (mut entries, mut submodules) = (Vec::new(), Vec::new());
        listing.entries("", &mut entries);
        listing.submodules("", &mut submodules);
        let paths: Vec<&str> = entries.iter().map(|(entry, _)| entry.path.as_str()).collect();
        assert_eq!(paths, ["a-b", "a.yaml", "a", "a/m", "a/x", "b"]);
        assert_eq!(listing.count(), 6);
        assert_eq!(submodules, [("a/m".to_owned(), id(1))]);
    }
}
