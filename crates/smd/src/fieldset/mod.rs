//! Sets of fields: who owns what.
//!
//! A [`FieldSet`] is a tree of [`PathElement`]s. A node may be a member itself, have members below it, or both: the
//! owner of a list element (`.` in FieldsV1) need not own all that is in it.

mod algebra;
mod element;
mod fields_v1;
mod order;

pub use element::{Path, PathElement};
pub use fields_v1::Error;

/// A set of fields of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Ascending by element. A node that is no member has members below it.
    pub(crate) nodes: Vec<Node>,
}

/// One element of a [`FieldSet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) element: PathElement,
    /// The field itself is in the set.
    pub(crate) member: bool,
    /// What is in the set below the field.
    pub(crate) below: FieldSet,
}

/// What a set says of one field: whether it is in it, and which fields below it are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branch {
    pub(crate) member: bool,
    pub(crate) below: FieldSet,
}

impl FieldSet {
    /// An empty set.
    pub const fn new() -> Self {
        FieldSet { nodes: Vec::new() }
    }

    /// The set of these paths.
    pub fn from_paths(paths: impl IntoIterator<Item = Path>) -> Self {
        let mut set = FieldSet::new();
        paths.into_iter().for_each(|path| set.insert(path));
        set
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of fields in the set.
    pub fn len(&self) -> usize {
        self.nodes
            .iter()
            .map(|node| usize::from(node.member) + node.below.len())
            .sum()
    }

    /// Whether the field at `path` is in the set.
    pub fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.get(last).is_some_and(|node| node.member),
            [first, rest @ ..] => self.get(first).is_some_and(|node| node.below.contains(rest)),
        }
    }

    /// Adds the field at `path`; fields above it are not added. The empty path, the whole object, is never in a set.
    pub fn insert(&mut self, path: Path) {
        let mut set = self;
        let mut elements = path.0.into_iter().peekable();
        while let Some(element) = elements.next() {
            let node = set.node_mut(element);
            if elements.peek().is_none() {
                node.member = true;
                return;
            }
            set = &mut node.below;
        }
    }

    /// Calls `visit` with the path of every field in the set: the fields of one level first, then what is below each.
    pub fn for_each(&self, mut visit: impl FnMut(&[PathElement])) {
        self.walk(&mut Vec::new(), &mut visit);
    }

    /// The paths of all fields in the set, in the order of [`FieldSet::for_each`].
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.for_each(|path| paths.push(Path(path.to_vec())));
        paths
    }

    fn walk(&self, prefix: &mut Vec<PathElement>, visit: &mut impl FnMut(&[PathElement])) {
        for node in self.nodes.iter().filter(|node| node.member) {
            prefix.push(node.element.clone());
            visit(prefix);
            prefix.pop();
        }
        for node in self.nodes.iter().filter(|node| !node.below.is_empty()) {
            prefix.push(node.element.clone());
            node.below.walk(prefix, visit);
            prefix.pop();
        }
    }

    /// The node of `element`.
    pub(crate) fn get(&self, element: &PathElement) -> Option<&Node> {
        self.nodes
            .binary_search_by(|node| node.element.cmp(element))
            .ok()
            .map(|at| &self.nodes[at])
    }

    /// The node of the field called `name`.
    pub(crate) fn get_field(&self, name: &str) -> Option<&Node> {
        let place = self.nodes.binary_search_by(|node| match &node.element {
            PathElement::Field(other) => other.as_str().cmp(name),
            _ => std::cmp::Ordering::Greater,
        });
        place.ok().map(|at| &self.nodes[at])
    }

    /// The node of `element`, which is added where it is missing. The caller makes it a member or adds some below.
    fn node_mut(&mut self, element: PathElement) -> &mut Node {
        let at = match self.nodes.binary_search_by(|node| node.element.cmp(&element)) {
            Ok(at) => at,
            Err(at) => {
                self.nodes.insert(
                    at,
                    Node {
                        element,
                        member: false,
                        below: FieldSet::new(),
                    },
                );
                at
            }
        };
        &mut self.nodes[at]
    }

    /// Adds what is said of `element`. Elements mostly come in order, so the end is looked at first.
    pub(crate) fn add(&mut self, element: PathElement, branch: Branch) {
        if branch.is_empty() {
            return;
        }
        let Branch { member, below } = branch;
        if self.nodes.last().is_none_or(|last| last.element < element) {
            self.nodes.push(Node {
                element,
                member,
                below,
            });
            return;
        }
        let node = self.node_mut(element);
        node.member |= member;
        node.below.extend(below);
    }
}

impl Branch {
    /// The field alone.
    pub(crate) fn leaf() -> Self {
        Branch {
            member: true,
            below: FieldSet::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl FromIterator<Path> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        FieldSet::from_paths(paths)
    }
}
