//! Which resources the server serves: the built-in ones and those that CustomResourceDefinitions add.
//!
//! A [`Catalog`] is a snapshot: it never changes and is cheap to clone. Adding or removing a definition makes a new
//! one with [`Catalog::with_custom`].

mod builtin;
mod custom;
mod resource;
pub mod version_order;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use model::Str;

pub use custom::{CustomDefinition, CustomVersion};
pub use resource::{Origin, Resource, StorageId, Subresource, api_version, group_version_path};

/// A snapshot of everything served.
#[derive(Clone, Debug)]
pub struct Catalog {
    tables: Arc<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// In discovery order.
    groups: Vec<Group>,
    /// Sorted by group, version and plural.
    by_plural: Vec<Arc<Resource>>,
    /// Sorted by group, version and kind.
    by_kind: Vec<Arc<Resource>>,
}

/// A group with its versions.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name, empty for the core group.
    pub name: Str,
    /// Its versions, the preferred one first.
    pub versions: Vec<Version>,
}

/// A version of a group.
#[derive(Clone, Debug)]
pub struct Version {
    /// Its name.
    pub name: Str,
    /// Its resources, sorted by plural.
    pub resources: Vec<Arc<Resource>>,
}

impl Catalog {
    /// The resources that are part of the server.
    pub fn builtin() -> Self {
        Catalog::new(Grouping::of(builtin::resources().into_iter()).groups)
    }

    /// The built-in resources of this catalog together with what `definitions` serve, and nothing else: definitions
    /// that an earlier call added are gone. Where two resources have the same path, the first one stays.
    pub fn with_custom(&self, definitions: impl IntoIterator<Item = CustomDefinition>) -> Self {
        let builtin = self
            .iter()
            .filter(|resource| resource.origin == Origin::Builtin)
            .cloned();
        let mut grouping = Grouping::of(builtin);
        let builtin_groups = grouping.groups.len();
        for definition in definitions {
            definition.resources().for_each(|resource| grouping.add(resource));
        }
        let mut groups = grouping.groups;
        for group in &mut groups {
            let builtin = group
                .versions
                .iter()
                .take_while(|version| version.is_builtin())
                .count();
            group.versions[builtin..].sort_by(|a, b| version_order::by_preference(&a.name, &b.name));
            for version in &mut group.versions {
                version.resources.sort_by(|a, b| a.plural.cmp(&b.plural));
            }
        }
        groups[builtin_groups..].sort_by(|a, b| a.name.cmp(&b.name));
        Catalog::new(groups)
    }

    fn new(groups: Vec<Group>) -> Self {
        let versions = groups.iter().flat_map(|group| &group.versions);
        let mut by_plural: Vec<_> = versions.flat_map(|version| &version.resources).cloned().collect();
        let mut by_kind = by_plural.clone();
        by_plural.sort_by(|a, b| plural_key(a).cmp(&plural_key(b)));
        by_kind.sort_by(|a, b| kind_key(a).cmp(&kind_key(b)));
        Catalog {
            tables: Arc::new(Tables {
                groups,
                by_plural,
                by_kind,
            }),
        }
    }

    /// Whether both are the very same snapshot.
    pub fn is_same(&self, other: &Catalog) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// The resource at `/apis/{group}/{version}/{plural}`; the core group is empty.
    pub fn lookup(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let table = &self.tables.by_plural;
        let at = table
            .binary_search_by(|resource| plural_key(resource).cmp(&(group, version, plural)))
            .ok()?;
        Some(&table[at])
    }

    /// The resource whose objects have this group, version and kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let table = &self.tables.by_kind;
        let at = table
            .binary_search_by(|resource| kind_key(resource).cmp(&(group, version, kind)))
            .ok()?;
        Some(&table[at])
    }

    /// The groups in discovery order; the core group comes first.
    pub fn groups(&self) -> &[Group] {
        &self.tables.groups
    }

    /// The group called `name`.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups().iter().find(|group| group.name == name)
    }

    /// All resources in discovery order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        let versions = self.groups().iter().flat_map(|group| &group.versions);
        versions.flat_map(|version| &version.resources)
    }
}

impl Group {
    /// Whether definitions alone make up the group.
    pub fn is_custom(&self) -> bool {
        self.versions.iter().all(|version| !version.is_builtin())
    }

    /// The version called `name`.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version that clients should use; `None` only for a group without versions, which a catalog never has.
    pub fn preferred(&self) -> Option<&Version> {
        self.versions.first()
    }
}

impl Version {
    fn is_builtin(&self) -> bool {
        self.resources
            .iter()
            .any(|resource| resource.origin == Origin::Builtin)
    }
}

fn plural_key(resource: &Resource) -> (&str, &str, &str) {
    (&resource.group, &resource.version, &resource.plural)
}

fn kind_key(resource: &Resource) -> (&str, &str, &str) {
    (&resource.group, &resource.version, &resource.kind)
}

/// Puts resources into groups and versions in the order they come.
#[derive(Default)]
struct Grouping {
    groups: Vec<Group>,
    /// Where the version of a group stands: its place among the groups and in the group.
    places: HashMap<(Str, Str), (usize, usize)>,
    group_places: HashMap<Str, usize>,
    taken: HashSet<(Str, Str, Name)>,
}

/// What must be unique in a version.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    Plural(Str),
    Kind(Str),
}

impl Grouping {
    fn of(resources: impl Iterator<Item = Arc<Resource>>) -> Self {
        let mut grouping = Grouping::default();
        resources.for_each(|resource| grouping.add(resource));
        grouping
    }

    /// Puts a resource into its group and version, unless its plural or kind is taken.
    fn add(&mut self, resource: Arc<Resource>) {
        let key = |name| (resource.group.clone(), resource.version.clone(), name);
        let names = [
            Name::Plural(resource.plural.clone()),
            Name::Kind(resource.kind.clone()),
        ]
        .map(key);
        if names.iter().any(|name| self.taken.contains(name)) {
            return;
        }
        self.taken.extend(names);
        let (group, version) = self.place(&resource.group, &resource.version);
        self.groups[group].versions[version].resources.push(resource);
    }

    fn place(&mut self, group: &Str, version: &Str) -> (usize, usize) {
        let key = (group.clone(), version.clone());
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let at = *self
            .group_places
            .entry(group.clone())
            .or_insert(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(Group {
                name: group.clone(),
                versions: Vec::new(),
            });
        }
        let versions = &mut self.groups[at].versions;
        versions.push(Version {
            name: version.clone(),
            resources: Vec::new(),
        });
        let place = (at, versions.len() - 1);
        self.places.insert(key, place);
        place
    }
}
