//! A repository as a test sees it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::change::Change;
use super::fault::PackFault;
use super::object::{Id, Kind, Object};
use super::receive::{Policy, Push};
use super::store::{Store, branch_name};
use super::tag::Tag;
use super::tree::{self, Mode};

/// A repository in memory. Clones are the same repository.
///
/// Where a method takes a branch, `main` means `refs/heads/main`, and a name that begins with `refs/` is taken as it is.
/// Where it takes a revision, that is a full commit id, a tag, a branch, a full reference or `HEAD`.
#[derive(Clone, Default)]
pub struct Repository {
    store: Arc<Mutex<Store>>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("refs", &self.store().refs)
            .finish_non_exhaustive()
    }
}

/// How a repository was used, over HTTP and SSH together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How often its references were listed.
    pub listings: usize,
    /// How many packs were sent.
    pub fetches: usize,
    /// How many objects the last pack held.
    pub objects_sent: usize,
    /// How long the last pack was.
    pub bytes_sent: usize,
    /// How many pushes came, successful or not.
    pub pushes: usize,
}

impl Repository {
    /// An empty repository, whose `HEAD` is the branch `main` that does not exist yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }

    /// Commits files on top of a branch and returns the commit. Other files stay as they are.
    pub fn commit<'a>(
        &self,
        branch: &str,
        message: &str,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Id {
        let change = self.change(branch).message(message);
        files
            .into_iter()
            .fold(change, |change, (path, content)| change.file(path, content))
            .commit()
    }

    /// Begins a commit that says more than [`Repository::commit`] can.
    pub fn change(&self, branch: &str) -> Change {
        Change::new(self.clone(), branch_name(branch))
    }

    /// Sets a light tag.
    pub fn tag(&self, name: &str, target: Id) {
        self.set_ref(&format!("refs/tags/{name}"), target);
    }

    /// Begins an annotated tag.
    pub fn annotated_tag(&self, name: &str, target: Id) -> Tag {
        Tag::new(self.clone(), name, target)
    }

    /// Points a reference to an object.
    ///
    /// # Panics
    /// When the repository lacks the object.
    pub fn set_ref(&self, name: &str, target: Id) {
        let mut store = self.store();
        assert!(store.contains(target), "the repository has no object {target}");
        store.refs.insert(name.to_string(), target);
    }

    /// Removes a reference. Says whether it was there.
    pub fn delete_ref(&self, name: &str) -> bool {
        self.store().refs.remove(name).is_some()
    }

    /// Makes another branch the default one.
    pub fn set_head(&self, branch: &str) {
        self.store().head = branch_name(branch);
    }

    /// All references.
    pub fn refs(&self) -> BTreeMap<String, Id> {
        self.store().refs.clone()
    }

    /// The commit that a revision means.
    pub fn resolve(&self, revision: &str) -> Option<Id> {
        self.store().resolve(revision)
    }

    /// An object.
    pub fn object(&self, id: Id) -> Option<Object> {
        self.store().get(id).cloned()
    }

    /// Stores an object as it is, also one that is malformed.
    pub fn put(&self, object: Object) -> Id {
        self.store().put(object)
    }

    /// The content of a file (or a link's target).
    pub fn read(&self, revision: &str, path: &str) -> Option<String> {
        let files = self.files(revision);
        let id = files.get(path).filter(|(mode, _)| *mode != Mode::Submodule)?.1;
        Some(String::from_utf8_lossy(&self.object(id)?.data).into_owned())
    }

    /// All files of a revision with their modes and ids; none if there is no such revision.
    pub fn files(&self, revision: &str) -> BTreeMap<String, (Mode, Id)> {
        let store = self.store();
        let root = store.resolve(revision).and_then(|id| store.get(id)?.link("tree"));
        let files = root.map(|root| tree::files(&store, root)).unwrap_or_default();
        files
            .into_iter()
            .map(|(path, entry)| (path, (entry.mode, entry.id)))
            .collect()
    }

    /// The commits from a revision back along first parents, newest first.
    pub fn log(&self, revision: &str) -> Vec<(Id, Object)> {
        let store = self.store();
        let mut log = Vec::new();
        let mut next = store.resolve(revision);
        while let Some((id, object)) = next.and_then(|id| Some((id, store.get(id)?.clone()))) {
            if object.kind != Kind::Commit {
                break;
            }
            next = object.parents().first().copied();
            log.push((id, object));
        }
        log
    }

    /// How the repository was used.
    pub fn stats(&self) -> Stats {
        self.store().stats
    }

    /// Breaks the next pack that is sent.
    pub fn break_next_pack(&self, fault: PackFault) {
        self.store().broken_packs.push(fault);
    }

    /// Refuses pushes that would lose commits (or allows them again, as at the beginning).
    pub fn refuse_non_fast_forward(&self, refuse: bool) {
        self.store().policy.refuse_non_fast_forward = refuse;
    }

    /// Asks a callback about each reference that a push wants to move. What it says against it is shown to the client.
    pub fn on_push(&self, hook: impl Fn(&Push) -> Result<(), String> + Send + Sync + 'static) {
        self.store().policy.hook = Some(Arc::new(hook));
    }

    /// Sets all rules for pushes at once.
    pub fn set_policy(&self, policy: Policy) {
        self.store().policy = policy;
    }
}
