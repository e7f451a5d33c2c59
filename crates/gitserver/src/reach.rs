//! What can be reached from where: the objects that a fetch sends, and where a shallow history ends.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::object::{Id, Kind};
use super::store::Store;
use super::tree::{self, Mode};

/// Where a history is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depth {
    /// So many commits from each wanted one.
    pub(crate) commits: Option<u32>,
    /// None older than this time.
    pub(crate) since: Option<i64>,
    /// None that can be reached from these.
    pub(crate) not: Vec<Id>,
}

impl Depth {
    pub(crate) fn is_limited(&self) -> bool {
        *self != Self::default()
    }
}

/// What is left out of a pack, though it can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Nothing.
    None,
    /// Blobs of this length or longer. Zero leaves all out.
    BlobLimit(u64),
}

/// The commits from these on back, not beyond those where the client's history ends. Tags are followed to what they
/// stand for; what is not a commit then is left out.
pub(crate) fn commits(store: &Store, from: &[Id], ends: &HashSet<Id>) -> Vec<Id> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut open: Vec<Id> = from.iter().map(|id| store.peel(*id).unwrap_or(*id)).collect();
    while let Some(id) = open.pop() {
        let Some(object) = store.get(id).filter(|object| object.kind == Kind::Commit) else {
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        found.push(id);
        if !ends.contains(&id) {
            open.extend(object.parents());
        }
    }
    found
}

/// The commits that a history of limited depth has, and those of them whose parents are cut off.
pub(crate) fn shallow_commits(store: &Store, wants: &[Id], depth: &Depth) -> (Vec<Id>, BTreeSet<Id>) {
    let excluded: HashSet<Id> = commits(store, &depth.not, &HashSet::new()).into_iter().collect();
    let keep = |id: &Id| {
        let old = |since| store.get(*id).is_none_or(|object| object.commit_time() < since);
        !excluded.contains(id) && !depth.since.is_some_and(old)
    };
    let mut included = HashSet::new();
    let mut found = Vec::new();
    let mut open: VecDeque<(Id, u32)> = VecDeque::new();
    open.extend(wants.iter().map(|id| (store.peel(*id).unwrap_or(*id), 1)));
    // Breadth first, so that a commit is met at its least distance.
    while let Some((id, steps)) = open.pop_front() {
        let Some(object) = store.get(id).filter(|object| object.kind == Kind::Commit) else {
            continue;
        };
        if !keep(&id) || !included.insert(id) {
            continue;
        }
        found.push(id);
        if depth.commits.is_none_or(|limit| steps < limit) {
            open.extend(object.parents().into_iter().map(|parent| (parent, steps + 1)));
        }
    }
    let cut = |id: &Id| {
        let parents = store.get(*id).map(|object| object.parents()).unwrap_or_default();
        parents.iter().any(|parent| !included.contains(parent))
    };
    let boundary = found.iter().copied().filter(cut).collect();
    (found, boundary)
}

/// The objects that make up a set of things, each once, in the order in which they were met.
pub(crate) struct Collector<'a> {
    store: &'a Store,
    filter: Filter,
    seen: HashSet<Id>,
    found: Vec<Id>,
}

impl<'a> Collector<'a> {
    /// Collects nothing that is in `had`.
    pub(crate) fn new(store: &'a Store, filter: Filter, had: HashSet<Id>) -> Self {
        Self {
            store,
            filter,
            seen: had,
            found: Vec::new(),
        }
    }

    /// Adds one object that is asked for by its id: itself, whatever the filter says, and what it holds.
    pub(crate) fn wanted(&mut self, id: Id) {
        let mut id = id;
        while let Some(object) = self.store.get(id) {
            match object.kind {
                Kind::Tag => {
                    self.add(id);
                    match object.link("object") {
                        Some(target) => id = target,
                        None => return,
                    }
                }
                Kind::Blob => {
                    self.add(id);
                    return;
                }
                Kind::Tree => return self.tree(id),
                // Commits are added by those who know where the history ends.
                Kind::Commit => return,
            }
        }
    }

    /// Adds a commit with its files, without its parents.
    pub(crate) fn commit(&mut self, id: Id) {
        if self.add(id)
            && let Some(root) = self.store.get(id).and_then(|commit| commit.link("tree"))
        {
            self.tree(root);
        }
    }

    /// Adds an object by itself. Says whether it was new.
    pub(crate) fn add(&mut self, id: Id) -> bool {
        let new = self.seen.insert(id);
        if new {
            self.found.push(id);
        }
        new
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        self.seen.contains(&id)
    }

    fn tree(&mut self, root: Id) {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if !self.add(id) {
                continue;
            }
            for (_, entry) in self.store.get(id).and_then(tree::entries).unwrap_or_default() {
                match entry.mode {
                    Mode::Directory => open.push(entry.id),
                    Mode::Submodule => {}
                    _ if self.is_filtered(entry.id) => {}
                    _ => drop(self.add(entry.id)),
                }
            }
        }
    }

    fn is_filtered(&self, blob: Id) -> bool {
        match self.filter {
            Filter::None => false,
            Filter::BlobLimit(limit) => self
                .store
                .get(blob)
                .is_none_or(|object| object.data.len() as u64 >= limit),
        }
    }

    /// All ids that were found, without those that were had before.
    pub(crate) fn into_found(self) -> Vec<Id> {
        self.found
    }

    /// All ids, with those that were had before.
    pub(crate) fn into_seen(self) -> HashSet<Id> {
        self.seen
    }
}

/// The first object that is missing among those that these stand on.
pub(crate) fn missing(store: &Store, from: Id) -> Option<Id> {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(object) = store.get(id) else {
            return Some(id);
        };
        match object.kind {
            Kind::Commit => {
                open.extend(object.parents());
                open.extend(object.link("tree"));
            }
            Kind::Tag => open.extend(object.link("object")),
            Kind::Tree => {
                let entries = tree::entries(object).unwrap_or_default();
                let present = entries
                    .into_iter()
                    .filter(|(_, entry)| entry.mode != Mode::Submodule);
                open.extend(present.map(|(_, entry)| entry.id));
            }
            Kind::Blob => {}
        }
    }
    None
}
