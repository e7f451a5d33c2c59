//! Objects and references of one repository.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::fault::PackFault;
use super::object::{Id, Kind, Object};
use super::receive::Policy;
use super::repository::Stats;

/// The first commit's time unless a test says otherwise: the first second of 2026. Each commit is a minute later.
const FIRST_TIME: i64 = 1_767_225_600;

/// Everything that a repository holds.
pub(crate) struct Store {
    objects: HashMap<Id, Object>,
    pub(crate) refs: BTreeMap<String, Id>,
    /// The branch that `HEAD` stands for, whether it exists or not.
    pub(crate) head: String,
    pub(crate) policy: Policy,
    pub(crate) broken_packs: Vec<PackFault>,
    pub(crate) stats: Stats,
    /// The last snapshots, the newest at the end.
    pub(crate) snapshots: VecDeque<Id>,
    time: i64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            refs: BTreeMap::new(),
            head: "refs/heads/main".to_string(),
            policy: Policy::default(),
            broken_packs: Vec::new(),
            stats: Stats::default(),
            snapshots: VecDeque::new(),
            time: FIRST_TIME,
        }
    }
}

impl Store {
    pub(crate) fn get(&self, id: Id) -> Option<&Object> {
        self.objects.get(&id)
    }

    pub(crate) fn put(&mut self, object: Object) -> Id {
        let id = object.id();
        self.objects.insert(id, object);
        id
    }

    /// Keeps only the objects of which this holds.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&Id) -> bool) {
        self.objects.retain(|id, _| is_kept(id));
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        self.objects.contains_key(&id)
    }

    /// The time of the next commit or tag.
    pub(crate) fn next_time(&mut self) -> i64 {
        let time = self.time;
        self.time += 60;
        time
    }

    /// What `HEAD` points to, if its branch exists.
    pub(crate) fn head_id(&self) -> Option<Id> {
        self.refs.get(&self.head).copied()
    }

    /// The object that an annotated tag stands for in the end, if the id is a tag's.
    pub(crate) fn peel(&self, id: Id) -> Option<Id> {
        let mut peeled = None;
        let mut current = id;
        // A tag of a tag is legal; a circle cannot be built, since ids are hashes.
        while let Some(object) = self.get(current).filter(|object| object.kind == Kind::Tag) {
            current = object.link("object")?;
            peeled = Some(current);
        }
        peeled
    }

    /// The commit that a revision means: a full id, a full reference, a tag, a branch or `HEAD`.
    pub(crate) fn resolve(&self, revision: &str) -> Option<Id> {
        let named = |name: String| self.refs.get(&name).copied();
        let id = match revision {
            "HEAD" => self.head_id(),
            _ => named(revision.to_string())
                .or_else(|| named(format!("refs/tags/{revision}")))
                .or_else(|| named(format!("refs/heads/{revision}")))
                .or_else(|| revision.parse().ok().filter(|id| self.contains(*id))),
        }?;
        Some(self.peel(id).unwrap_or(id))
    }
}

/// The full name of a branch; a name that is full already stays.
pub(crate) fn branch_name(name: &str) -> String {
    if name.starts_with("refs/") {
        name.to_string()
    } else {
        format!("refs/heads/{name}")
    }
}
