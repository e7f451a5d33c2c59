//! Finding one field by a path with list elements in it: `spec`, `containers`, `[name=web]`, `0`, `-`.

use yaml::node::{Map, Node};

enum Step<'p> {
    Index(usize),
    Last,
    Element { key: &'p str, value: &'p str },
    Field(&'p str),
}

fn step(part: &str) -> Result<Step<'_>, String> {
    if let Ok(index) = part.parse::<i64>() {
        return usize::try_from(index)
            .map(Step::Index)
            .map_err(|_| format!("array index {index} cannot be negative"));
    }
    match part {
        "-" => Ok(Step::Last),
        "*" => Err("wildcard is not supported in PathGetter".to_owned()),
        _ if part.starts_with('[') && part.ends_with(']') => {
            let (key, value) = super::select::key_and_value(part)?;
            Ok(Step::Element { key, value })
        }
        _ => Ok(Step::Field(part)),
    }
}

/// Where the step leads to; `None` where there is nothing.
fn position(node: &Node, step: &Step<'_>) -> Result<Option<usize>, String> {
    if node.is_null() {
        return Ok(None);
    }
    if let Step::Field(name) = step {
        let Node::Map(map) = node else {
            return Err(super::wrong_kind("MappingNode", node));
        };
        return Ok(map.keys().position(|key| key == *name));
    }
    let Node::List(items) = node else {
        return Err(super::wrong_kind("SequenceNode", node));
    };
    Ok(match step {
        Step::Index(index) => Some(*index).filter(|index| *index < items.len()),
        Step::Last => items.len().checked_sub(1),
        Step::Element { key: "", value } => items.iter().position(|item| item.raw_text() == *value),
        Step::Element { key, value } => items
            .iter()
            .position(|item| item.get(key).is_some_and(|field| field.raw_text() == *value)),
        Step::Field(_) => None,
    })
}

/// The parts of a path that say something.
fn parts(path: &[String]) -> impl Iterator<Item = &str> {
    path.iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
}

/// The positions that a path leads through.
fn positions(node: &Node, path: &[String]) -> Result<Option<Vec<usize>>, String> {
    let mut found = Vec::with_capacity(path.len());
    let mut node = node;
    for part in parts(path) {
        let Some(at) = position(node, &step(part)?)? else {
            return Ok(None);
        };
        node = match node {
            Node::Map(map) => map.iter().nth(at).map(|(_, value)| value),
            Node::List(items) => items.get(at),
            Node::Scalar(_) => None,
        }
        .expect("the position was just found");
        found.push(at);
    }
    Ok(Some(found))
}

/// The field at the end of a path; `None` where there is none. An error says that something on the way is of the wrong
/// kind.
pub(crate) fn lookup<'n>(node: &'n Node, path: &[String]) -> Result<Option<&'n Node>, String> {
    let Some(found) = positions(node, path)? else {
        return Ok(None);
    };
    Ok(found.into_iter().try_fold(node, |node, at| match node {
        Node::Map(map) => map.iter().nth(at).map(|(_, value)| value),
        Node::List(items) => items.get(at),
        Node::Scalar(_) => None,
    }))
}

/// The same, for change.
pub(crate) fn lookup_mut<'n>(node: &'n mut Node, path: &[String]) -> Result<Option<&'n mut Node>, String> {
    let Some(found) = positions(node, path)? else {
        return Ok(None);
    };
    Ok(found.into_iter().try_fold(node, |node, at| match node {
        Node::Map(map) => map.iter_mut().nth(at).map(|(_, value)| value),
        Node::List(items) => items.get_mut(at),
        Node::Scalar(_) => None,
    }))
}

/// The same, with fields and elements made that are missing, the last as a scalar. Elements by number are not made, and
/// nothing is in `null`.
pub(crate) fn lookup_create<'n>(node: &'n mut Node, path: &[String]) -> Result<Option<&'n mut Node>, String> {
    let mut node = node;
    let mut parts = parts(path).peekable();
    while let Some(part) = parts.next() {
        let step = step(part)?;
        let found = position(node, &step)?;
        let Some(at) = found.or_else(|| grow(node, &step, parts.peek().copied())) else {
            return Ok(None);
        };
        let inner = match node {
            Node::Map(map) => map.iter_mut().nth(at).map(|(_, value)| value),
            Node::List(items) => items.get_mut(at),
            Node::Scalar(_) => None,
        };
        node = inner.expect("it was just found or made");
    }
    Ok(Some(node))
}

/// Makes what a step leads to, by what follows it, and says where that is.
fn grow(node: &mut Node, step: &Step<'_>, next: Option<&str>) -> Option<usize> {
    match (node, step) {
        (Node::Map(map), Step::Field(name)) => {
            let made = match next {
                None => Node::plain(""),
                Some(next) if super::select::is_list_step(next) => Node::list(),
                Some(_) => Node::map(),
            };
            map.push(*name, made);
            Some(map.len() - 1)
        }
        (Node::List(items), Step::Element { key, value }) => {
            items.push(match *key {
                "" => Node::plain(*value),
                key => Node::Map(Map::from_entries([(key.into(), Node::plain(*value))].into_iter())),
            });
            Some(items.len() - 1)
        }
        _ => None,
    }
}
