//! Metadata in formats that have no nesting: `age__list_0__map_recipient` is the recipient of the first age key.

use std::collections::BTreeMap;

use crate::limits::{MAX_DEPTH, MAX_RECIPIENTS};
use crate::tree::{Branch, Item, Value};

const MAP: &str = "__map_";
const LIST: &str = "__list_";

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Index(usize),
}

#[derive(Default)]
struct Node {
    value: Option<Value>,
    children: BTreeMap<Step, Node>,
}

/// Makes a tree of flat keys. Comments are left out.
pub(crate) fn unflatten(branch: Branch) -> Result<Branch, String> {
    let mut root = Node::default();
    for item in branch {
        let Item::Entry(key, value) = item else { continue };
        let steps = steps(&key).ok_or_else(|| format!("the metadata key '{key}' makes no sense"))?;
        let mut node = &mut root;
        for step in steps {
            node = node.children.entry(step).or_default();
        }
        if node.value.replace(value).is_some() {
            return Err(format!("the metadata key '{key}' stands twice"));
        }
    }
    match convert(root)? {
        Value::Map(branch) => Ok(branch),
        _ => Err("the metadata is no map".to_owned()),
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let (mut rest, mut in_list) = (path, false);
    loop {
        let next_map = rest.find(MAP);
        let next_list = rest.find(LIST);
        let end = next_map.into_iter().chain(next_list).min().unwrap_or(rest.len());
        let part = &rest[..end];
        steps.push(if in_list {
            Step::Index(part.parse().ok().filter(|index| *index < MAX_RECIPIENTS)?)
        } else {
            Step::Key(part.to_owned())
        });
        if steps.len() > MAX_DEPTH {
            return None;
        }
        if end == rest.len() {
            return Some(steps);
        }
        in_list = next_list == Some(end);
        rest = &rest[end + if in_list { LIST.len() } else { MAP.len() }..];
    }
}

fn convert(node: Node) -> Result<Value, String> {
    let Some(value) = node.value else {
        let count = node.children.len();
        let mut map = Branch::new();
        let mut list = Vec::new();
        for (step, child) in node.children {
            match step {
                Step::Key(key) => map.push(Item::Entry(key, convert(child)?)),
                Step::Index(index) if index == list.len() => list.push(convert(child)?),
                Step::Index(_) => return Err("a list of the metadata is not complete".to_owned()),
            }
        }
        return match (map.len(), list.len()) {
            (maps, 0) if maps == count => Ok(Value::Map(map)),
            (0, lists) if lists == count => Ok(Value::List(list)),
            _ => Err("the metadata has a list and a map in the same place".to_owned()),
        };
    };
    if node.children.is_empty() {
        Ok(value)
    } else {
        Err("the metadata has a value and a list or map in the same place".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(keys: &[&str]) -> Result<Branch, String> {
        let entry = |key: &&str| Item::Entry((*key).to_owned(), Value::text(*key));
        unflatten(keys.iter().map(entry).collect())
    }

    #[test]
    fn keys_become_maps_and_lists() {
        let made = flat(&["mac", "age__list_1__map_enc", "age__list_0__map_enc"])
            .ok()
            .unwrap();
        let enc = |text: &str| Value::Map(vec![Item::Entry("enc".to_owned(), Value::text(text))]);
        let list = Value::List(vec![enc("age__list_0__map_enc"), enc("age__list_1__map_enc")]);
        let wanted = vec![
            Item::Entry("age".to_owned(), list),
            Item::Entry("mac".to_owned(), Value::text("mac")),
        ];
        assert!(made == wanted);
    }

    #[test]
    fn what_makes_no_tree_is_refused() {
        assert!(flat(&["a", "a"]).is_err());
        assert!(flat(&["a", "a__map_b"]).is_err());
        assert!(flat(&["a__list_0", "a__map_b"]).is_err());
        assert!(flat(&["a__list_1"]).is_err());
        assert!(flat(&["a__list_x"]).is_err());
        assert!(flat(&["a__list_99999999999999999999"]).is_err());
    }
}
