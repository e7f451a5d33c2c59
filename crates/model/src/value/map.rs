use thin_vec::ThinVec;

use super::{Str, Value};

/// The pairs of a JSON object, in the order they were put in.
///
/// What is read from JSON is sorted by key, as the API server writes it, and stays so under [`Map::insert`]; such maps
/// are searched by halving. Maps built in another order (YAML that must keep its layout) keep that order and are
/// searched from the front.
#[derive(Clone, Debug)]
pub struct Map {
    entries: ThinVec<(Str, Value)>,
    /// Keys ascend. Insertion keeps this true; it turns false only in [`Map::push`].
    sorted: bool,
}

/// Up to this many keys a scan beats a binary search.
const SCAN_LIMIT: usize = 8;

impl Map {
    /// An empty map whose keys will be kept sorted.
    pub fn new() -> Self {
        Map {
            entries: ThinVec::new(),
            sorted: true,
        }
    }

    /// An empty map with room for `capacity` pairs.
    pub fn with_capacity(capacity: usize) -> Self {
        Map {
            entries: ThinVec::with_capacity(capacity),
            sorted: true,
        }
    }

    /// A map of `pairs`, sorted by key; of equal keys the last one wins, as in Go.
    pub fn from_pairs(pairs: impl ExactSizeIterator<Item = (Str, Value)>) -> Self {
        Map::from_entries(pairs.collect())
    }

    /// The same of pairs that are in their block already.
    #[inline]
    pub(crate) fn from_entries(entries: ThinVec<(Str, Value)>) -> Self {
        let entries = if entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            entries
        } else {
            sorted(entries)
        };
        Map {
            entries,
            sorted: true,
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the keys ascend.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.sorted && self.entries.len() > SCAN_LIMIT {
            return self.search(key).ok();
        }
        self.entries.iter().position(|(k, _)| k == key)
    }

    fn search(&self, key: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(k, _)| k.as_str().cmp(key))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// The value of `key`, for change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).map(|at| &mut self.entries[at].1)
    }

    /// Whether `key` is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key`, and returns what it held before. A new key goes to its place in a sorted map, else to the end.
    pub fn insert(&mut self, key: impl AsRef<str>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.as_ref(), value.into());
        let place = match self.sorted {
            // Building in order is the common case: look at the end first.
            true if self.entries.last().is_none_or(|(last, _)| last.as_str() < key) => {
                Err(self.entries.len())
            }
            true => self.search(key),
            false => self.position(key).ok_or(self.entries.len()),
        };
        match place {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (Str::new(key), value));
                None
            }
        }
    }

    /// Appends a pair without looking for the key: the caller knows it is new.
    pub fn push(&mut self, key: Str, value: Value) {
        self.sorted = self.sorted && self.entries.last().is_none_or(|(last, _)| *last < key);
        self.entries.push((key, value));
    }

    /// The value of `key`, which is set to `null` first where it is missing.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        if !self.contains_key(key) {
            self.insert(key, Value::Null);
        }
        let at = self.position(key).expect("the key was just set");
        &mut self.entries[at].1
    }

    /// Removes `key` and returns its value; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.position(key).map(|at| self.entries.remove(at).1)
    }

    /// Keeps only the pairs for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// Sorts the keys; of equal keys the last one wins, as in Go.
    pub fn sort(&mut self) {
        if self.sorted {
            return;
        }
        self.entries = sorted(std::mem::take(&mut self.entries));
        self.sorted = true;
    }

    /// Gives unused room back.
    pub fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The pairs in order, values for change.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value)> {
        self.entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.entries.iter().map(|(_, value)| value)
    }
}

fn sorted(mut entries: ThinVec<(Str, Value)>) -> ThinVec<(Str, Value)> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    // A stable sort leaves equal keys in reading order: swap the later value into the kept (first) slot.
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            std::mem::swap(&mut later.1, &mut kept.1);
        }
        same
    });
    entries
}

impl Default for Map {
    fn default() -> Self {
        Map::new()
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        if self.sorted && other.sorted {
            return self.entries == other.entries;
        }
        self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl IntoIterator for Map {
    type Item = (Str, Value);
    type IntoIter = thin_vec::IntoIter<(Str, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: AsRef<str>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut map = Map::new();
        for (key, value) in pairs {
            map.insert(key, value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_keys_wins_when_sorted() {
        let mut map = Map::new();
        for (key, value) in [("b", 1), ("a", 2), ("b", 3), ("a", 4), ("b", 5)] {
            map.push(Str::new(key), Value::Int(value));
        }
        map.sort();
        let pairs: Vec<_> = map
            .iter()
            .map(|(key, value)| (key.to_owned(), value.as_i64()))
            .collect();
        assert_eq!(pairs, [("a".to_owned(), Some(4)), ("b".to_owned(), Some(5))]);
    }

    #[test]
    fn maps_are_equal_whatever_their_order() {
        let sorted: Map = [("a", 1i64), ("b", 2)].into_iter().collect();
        let mut ordered = Map::new();
        ordered.push("b".into(), Value::Int(2));
        ordered.push("a".into(), Value::Float(1.0));
        assert!(!ordered.is_sorted());
        assert_eq!(sorted, ordered);
    }
}
