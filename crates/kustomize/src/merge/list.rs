//! Lists whose elements are merged by keys.

use std::collections::{HashMap, HashSet};

use yaml::node::{List, Node, Text};

use super::element::{self, Positions, Wanted};
use super::{Directive, Merger, Outcome, Sources, directive, is_missing};
use crate::schema::Place;

/// The elements of both lists. kyaml's lists share elements; here they are positions in one arena.
struct Elements {
    arena: List,
    dest: Positions,
    origin: Positions,
    /// Whether both lists are the same one.
    same: bool,
}

/// Elements by the values of one key.
struct Distinct {
    /// All values, the patch's first.
    values: Vec<Text>,
    dest: HashMap<Text, usize>,
    origin: HashMap<Text, usize>,
}

/// So many elements may be compared with one another.
const MAX_ELEMENTS: usize = 10_000;

impl Merger<'_> {
    pub(super) fn merged_list(
        &self,
        dest: Option<Node>,
        origin: Option<Node>,
        keys: &[Text],
        elements: Option<Place<'_>>,
    ) -> Result<Outcome, String> {
        if is_missing(dest.as_ref()) {
            return match origin {
                Some(origin) if !origin.is_null() => {
                    let node = self.settle_list(origin, keys, elements)?;
                    Ok(Outcome::Origin { node, dest })
                }
                _ => Ok(Outcome::Gone { dest }),
            };
        }
        let mut origin = match origin {
            Some(origin) if origin.is_null() => return Ok(Outcome::Gone { dest }),
            other => other,
        };
        let directive = match &mut origin {
            Some(origin) => directive::of_list(origin)?,
            None => Directive::Merge,
        };
        match (directive, dest, origin) {
            (Directive::Delete, dest, _) => Ok(Outcome::Gone { dest }),
            (Directive::Replace, dest, Some(origin)) => {
                let node = self.settle_list(origin, keys, elements)?;
                Ok(Outcome::Origin { node, dest })
            }
            (_, Some(Node::List(dest)), origin) => {
                let mut arena = dest;
                let dest = (0..arena.len()).collect();
                let first = arena.len();
                if let Some(Node::List(origin)) = origin {
                    arena.extend(origin);
                }
                let elements_of_both = Elements {
                    origin: (first..arena.len()).collect(),
                    arena,
                    dest,
                    same: false,
                };
                self.merge_elements(elements_of_both, keys, elements)
                    .map(Outcome::Dest)
            }
            (_, dest, _) => Ok(Outcome::Gone { dest }),
        }
    }

    /// Merges a list of the patch with itself, as it becomes part of the object.
    pub(super) fn settle_list(
        &self,
        list: Node,
        keys: &[Text],
        elements: Option<Place<'_>>,
    ) -> Result<Node, String> {
        let Node::List(arena) = list else {
            return Ok(list);
        };
        let all: Positions = (0..arena.len()).collect();
        let both = Elements {
            arena,
            origin: all.clone(),
            dest: all,
            same: true,
        };
        self.merge_elements(both, keys, elements)
    }

    fn merge_elements(
        &self,
        mut both: Elements,
        keys: &[Text],
        place: Option<Place<'_>>,
    ) -> Result<Node, String> {
        if let [key] = keys
            && let Some(index) = both.by_distinct(key)
        {
            return self.merge_distinct(both, key, &index, place);
        }
        if both.arena.len() > MAX_ELEMENTS {
            return Err(format!(
                "a list of more than {MAX_ELEMENTS} elements that have no single key cannot be merged"
            ));
        }
        let primitive = [Text::default()];
        let mut tuples = both.tuples(keys);
        let keys = if tuples.is_empty() && keys.is_empty() {
            tuples = both.texts();
            &primitive[..]
        } else {
            keys
        };
        if keys.len() > 1 {
            unite(&mut tuples);
        }
        let mut items = Positions::new();
        let mut last_keys: Vec<Text> = Vec::new();
        for values in &tuples {
            let (valid_keys, valid_values) = valid(&tuples, values, keys);
            let wanted = Wanted {
                keys: &valid_keys,
                values: &valid_values,
            };
            match self.merge_one(&mut both, wanted, place)? {
                Some(at) => {
                    complete(&mut both.arena[at], wanted);
                    element::set(&mut items, &both.arena, Some(at), wanted)?;
                }
                None => element::set(&mut both.dest, &both.arena, None, wanted)?,
            }
            last_keys = valid_keys;
        }
        if !tuples.is_empty() {
            append(&mut items, &both, &last_keys)?;
            both.dest = items;
        }
        Ok(both.into_list())
    }

    /// Merges lists in which each element has a value of its own for the one key: as nearly all have.
    fn merge_distinct(
        &self,
        mut both: Elements,
        key: &Text,
        index: &Distinct,
        place: Option<Place<'_>>,
    ) -> Result<Node, String> {
        let keys = [key.clone()];
        let mut items = Positions::new();
        for value in &index.values {
            let (dest, origin) = (index.dest.get(value).copied(), index.origin.get(value).copied());
            let Some(at) = self.merge_pair(&mut both, dest, origin, place)? else {
                continue;
            };
            let values = [value.clone()];
            complete(
                &mut both.arena[at],
                Wanted {
                    keys: &keys,
                    values: &values,
                },
            );
            // The object's own element takes the place of what replaced it.
            items.push(dest.unwrap_or(at));
        }
        both.dest = items;
        Ok(both.into_list())
    }

    /// Merges the elements with some values, and says where the result is; `None` if nothing is left.
    fn merge_one(
        &self,
        both: &mut Elements,
        wanted: Wanted<'_>,
        place: Option<Place<'_>>,
    ) -> Result<Option<usize>, String> {
        let one = [wanted.values.to_vec()];
        let (keys, values) = valid(&one, wanted.values, wanted.keys);
        let filled = Wanted {
            keys: &keys,
            values: &values,
        };
        let find = |list: &Positions| list.iter().copied().find(|&at| filled.finds(&both.arena[at]));
        let (dest, origin) = (find(&both.dest), find(&both.origin));
        self.merge_pair(both, dest, origin, place)
    }

    /// Merges two elements, either of which may be missing.
    fn merge_pair(
        &self,
        both: &mut Elements,
        dest: Option<usize>,
        origin: Option<usize>,
        place: Option<Place<'_>>,
    ) -> Result<Option<usize>, String> {
        let sources = match (dest, both.same) {
            (Some(at), true) => Sources::Same(both.take(at)),
            _ => Sources::Two(
                dest.map(|at| both.take(at)),
                origin.map(|at| both.arena[at].clone()),
            ),
        };
        let outcome = self.walk(sources, place)?;
        let (result, old) = match outcome {
            Outcome::Dest(node) => (None, Some(node)),
            Outcome::Origin { node, dest } => (Some(node), dest),
            Outcome::Gone { dest: old } => {
                if let (Some(at), Some(old)) = (dest, old) {
                    both.arena[at] = old;
                }
                return Ok(None);
            }
        };
        if let (Some(at), Some(old)) = (dest, old) {
            both.arena[at] = old;
        }
        let at = match (result, dest) {
            (Some(node), _) => {
                both.arena.push(node);
                both.arena.len() - 1
            }
            (None, Some(at)) => at,
            (None, None) => return Ok(None),
        };
        let node = &both.arena[at];
        let empty = node.is_null() || node.as_map().is_some_and(|map| map.is_empty());
        Ok((!empty).then_some(at))
    }
}

impl Elements {
    /// The object's list, with elements that stand in it several times copied.
    fn into_list(self) -> Node {
        let mut left = vec![0usize; self.arena.len()];
        self.dest.iter().for_each(|&at| left[at] += 1);
        let mut nodes: Vec<Option<Node>> = self.arena.into_iter().map(Some).collect();
        let taken = self.dest.into_iter().map(|at| {
            left[at] -= 1;
            let node = if left[at] == 0 {
                nodes[at].take()
            } else {
                nodes[at].clone()
            };
            node.unwrap_or_else(Node::null)
        });
        Node::List(taken.collect())
    }

    /// The elements by their values for a key, if each has one of its own.
    fn by_distinct(&self, key: &Text) -> Option<Distinct> {
        let mut values = Vec::new();
        let mut number = |list: &Positions| {
            let mut found = HashMap::with_capacity(list.len());
            for &at in list {
                let field = self.arena[at].as_map()?.get(key)?;
                let text = field.as_scalar().filter(|_| !field.is_null())?.text.clone();
                if text.is_empty() || found.insert(text.clone(), at).is_some() {
                    return None;
                }
                values.push(text);
            }
            Some(found)
        };
        let origin = number(&self.origin)?;
        let dest = if self.same {
            origin.clone()
        } else {
            number(&self.dest)?
        };
        let mut seen = HashSet::with_capacity(values.len());
        values.retain(|value| seen.insert(value.clone()));
        Some(Distinct { values, dest, origin })
    }

    fn take(&mut self, at: usize) -> Node {
        std::mem::replace(&mut self.arena[at], Node::null())
    }

    /// The positions in the order in which values are looked for: the patch's first.
    fn in_order(&self) -> impl Iterator<Item = &Node> {
        let dest = if self.same { &[][..] } else { self.dest.as_slice() };
        self.origin.iter().chain(dest).map(|&at| &self.arena[at])
    }

    /// The values that elements have for the keys, each once.
    fn tuples(&self, keys: &[Text]) -> Vec<Vec<Text>> {
        if keys.is_empty() {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let values = self.in_order().map(|node| {
            let value = |key: &Text| match node.get(key) {
                Some(field) if !field.is_empty() => field.shared_text(),
                _ => Text::default(),
            };
            keys.iter().map(value).collect::<Vec<Text>>()
        });
        values.filter(|tuple| seen.insert(tuple.clone())).collect()
    }

    /// The texts of scalars, each once.
    fn texts(&self) -> Vec<Vec<Text>> {
        let mut seen = HashSet::new();
        let texts = self.in_order().map(|node| node.shared_text());
        texts
            .filter(|text| seen.insert(text.clone()))
            .map(|text| vec![text])
            .collect()
    }
}

/// Values that agree where both have one become one.
fn unite(tuples: &mut [Vec<Text>]) {
    for i in 0..tuples.len() {
        for j in 0..tuples.len() {
            if let Some(united) = united(&tuples[i], &tuples[j]) {
                tuples[i].clone_from(&united);
                tuples[j] = united;
            }
        }
    }
}

fn united(a: &[Text], b: &[Text]) -> Option<Vec<Text>> {
    let pairs = || a.iter().zip(b);
    let contradict = pairs().any(|(a, b)| a != b && !a.is_empty() && !b.is_empty());
    if contradict || !pairs().any(|(a, b)| a == b) {
        return None;
    }
    let filled = pairs().map(|(a, b)| if a.is_empty() { b } else { a });
    Some(filled.cloned().collect())
}

/// The keys that any element has a value for, with this element's values for them.
fn valid(tuples: &[Vec<Text>], values: &[Text], keys: &[Text]) -> (Vec<Text>, Vec<Text>) {
    let used = |at: usize| {
        tuples
            .iter()
            .any(|tuple| tuple.get(at).is_some_and(|value| !value.is_empty()))
    };
    let used: Vec<bool> = (0..keys.len()).map(used).collect();
    if !used.contains(&true) {
        return (keys.to_vec(), values.to_vec());
    }
    let chosen = keys.iter().zip(&used).filter(|(_, used)| **used);
    let valid_keys = chosen.map(|(key, _)| key.clone()).collect();
    let chosen = values
        .iter()
        .zip(&used)
        .filter(|(value, used)| **used || !value.is_empty());
    (valid_keys, chosen.map(|(value, _)| value.clone()).collect())
}

/// Sets the keys that a merged element lacks.
fn complete(node: &mut Node, wanted: Wanted<'_>) {
    for (key, value) in wanted.keys.iter().zip(wanted.values) {
        if value.is_empty() {
            continue;
        }
        if let Node::Map(map) = &mut *node {
            if !map.contains_key(key) {
                map.push(key.clone(), Node::plain(value));
            }
        } else if key.is_empty() {
            node.rewrite(value);
        }
    }
}

/// Puts the elements of the object's list in the places of the merged ones, or after them.
fn append(items: &mut Positions, both: &Elements, keys: &[Text]) -> Result<(), String> {
    for &at in &both.dest {
        let node = &both.arena[at];
        if keys.first().is_none_or(|key| key.is_empty()) {
            let values = [node.shared_text()];
            let wanted = Wanted {
                keys: &[Text::default()],
                values: &values,
            };
            element::set(items, &both.arena, Some(at), wanted)?;
            continue;
        }
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            match node.get(key) {
                Some(field) => values.push(field.shared_text()),
                None => items.push(at),
            }
        }
        let wanted = Wanted {
            keys,
            values: &values,
        };
        if keys.len() > 1 {
            element::set(items, &both.arena, None, wanted)?;
        }
        element::set(items, &both.arena, Some(at), wanted)?;
    }
    Ok(())
}
