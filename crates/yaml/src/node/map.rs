use thin_vec::ThinVec;

use super::{Node, Text};

/// The pairs of a map, in the order they were put in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    entries: ThinVec<(Text, Node)>,
}

/// Up to this many keys a map grows by one at a time.
const SMALL: usize = 16;

impl Map {
    /// An empty map with room for `capacity` pairs.
    pub fn with_capacity(capacity: usize) -> Self {
        Map {
            entries: ThinVec::with_capacity(capacity),
        }
    }

    /// A map of pairs of which the caller knows that no key stands twice.
    pub fn from_entries(entries: impl ExactSizeIterator<Item = (Text, Node)>) -> Self {
        let mut map = Map::with_capacity(entries.len());
        map.entries.extend(entries);
        map
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|(other, _)| other.as_str() == key)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// The value of `key`, for change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.position(key).map(|at| &mut self.entries[at].1)
    }

    /// Whether `key` is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key`; a new one goes to the end.
    pub fn insert(&mut self, key: impl AsRef<str> + Into<Text>, value: Node) {
        match self.position(key.as_ref()) {
            Some(at) => self.entries[at].1 = value,
            None => self.push(key, value),
        }
    }

    /// Appends a pair without looking for the key: the caller knows that it is new.
    pub fn push(&mut self, key: impl Into<Text>, value: Node) {
        // Most maps are small and get few more keys: room for as many again would be most of what a tree takes.
        if self.entries.len() < SMALL {
            self.entries.reserve_exact(1);
        }
        self.entries.push((key.into(), value));
    }

    /// The value of `key`, which is set to what `make` gives where it is missing.
    pub fn entry(&mut self, key: impl AsRef<str> + Into<Text>, make: impl FnOnce() -> Node) -> &mut Node {
        let at = self.position(key.as_ref()).unwrap_or_else(|| {
            self.push(key, make());
            self.entries.len() - 1
        });
        &mut self.entries[at].1
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        self.position(key).map(|at| self.entries.remove(at).1)
    }

    /// Keeps only the pairs for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Node) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Node)> + DoubleEndedIterator {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The pairs in order, values for change.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Node)> {
        self.entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The pairs as one block.
    pub(crate) fn entries(&self) -> &[(Text, Node)] {
        &self.entries
    }
}

impl IntoIterator for Map {
    type Item = (Text, Node);
    type IntoIter = thin_vec::IntoIter<(Text, Node)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
