//! Elements of lists: which of them are meant by keys and values, and setting them.

use yaml::node::{List, Node, Text};

/// A list of positions in an arena of nodes: kyaml's lists share their elements.
pub(super) type Positions = Vec<usize>;

/// Keys, and the values that an element has for them. There may be fewer values than keys.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'k> {
    pub(super) keys: &'k [Text],
    pub(super) values: &'k [Text],
}

impl Wanted<'_> {
    fn wants_maps(self) -> bool {
        let filled = |texts: &[Text]| texts.first().is_some_and(|first| !first.is_empty());
        filled(self.keys) && filled(self.values)
    }

    /// Whether the element is meant, for setting: a value that is empty is one that only has to be there, and a key
    /// without a value counts as the one before it.
    fn is_set_by(self, node: &Node) -> Result<bool, String> {
        let mut found = false;
        for (at, key) in self.keys.iter().enumerate() {
            if let Some(value) = self.values.get(at) {
                found = if key.is_empty() {
                    if !matches!(node, Node::Scalar(_)) {
                        return Err(crate::field::wrong_kind("ScalarNode", node));
                    }
                    node.text() == value
                } else {
                    let Node::Map(map) = node else {
                        return Err(crate::field::wrong_kind("MappingNode", node));
                    };
                    map.get(key)
                        .is_some_and(|field| value.is_empty() || field.raw_text() == value)
                };
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the element is meant, for finding: all values must be there.
    pub(super) fn finds(self, node: &Node) -> bool {
        match self.keys.first() {
            None => self.values.first().is_none_or(|value| node.raw_text() == value),
            Some(key) if key.is_empty() => self.values.first().is_some_and(|value| node.raw_text() == value),
            Some(_) => {
                let Node::Map(map) = node else {
                    return false;
                };
                let mut pairs = self.keys.iter().zip(self.values);
                pairs.all(|(key, value)| map.get(key).is_some_and(|field| field.raw_text() == value))
            }
        }
    }
}

/// Replaces the elements that are meant by `element`, or appends it; without one, removes them.
pub(super) fn set(
    list: &mut Positions,
    arena: &[Node],
    element: Option<usize>,
    wanted: Wanted<'_>,
) -> Result<(), String> {
    let mut result = Positions::with_capacity(list.len() + 1);
    let mut found = false;
    for &at in list.iter() {
        let node = &arena[at];
        if node.is_null() || node.as_map().is_some_and(|map| map.is_empty()) {
            continue;
        }
        if !matches!(node, Node::Map(_)) && wanted.wants_maps() {
            result.push(at);
            continue;
        }
        if !wanted.is_set_by(node)? {
            if !wanted.values.is_empty() {
                result.push(at);
            }
            continue;
        }
        found = true;
        result.extend(element);
    }
    if let Some(element) = element
        && !found
        && !arena[element].is_null()
    {
        result.push(element);
    }
    *list = result;
    Ok(())
}

/// Removes the maps that have `key` with this value, and what is empty.
pub(super) fn remove_matching(items: &mut List, key: &str, value: &str) {
    items.retain(|item| match item {
        Node::Map(map) => {
            !map.is_empty()
                && !map
                    .get(key)
                    .is_some_and(|field| value.is_empty() || field.raw_text() == value)
        }
        other => !other.is_null(),
    });
}
