//! Reaching all fields that a path means, where elements are chosen by expressions, and making what is missing.

use model::regexp::Regexp;
use yaml::node::{Kind, List, Map, Node, Scalar};

/// What is made at the end of a path where there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Created {
    Nothing,
    Scalar,
    List,
    Map,
}

impl Created {
    fn node(self, next: Option<&String>) -> Node {
        match next {
            Some(next) if is_list_step(next) => Node::list(),
            Some(_) => Node::map(),
            None => match self {
                Created::List => Node::list(),
                Created::Map => Node::map(),
                Created::Scalar | Created::Nothing => Node::Scalar(Scalar::new("", Kind::Plain)),
            },
        }
    }
}

pub(crate) fn is_list_step(part: &str) -> bool {
    (part.starts_with('[') && part.ends_with(']')) || part.parse::<usize>().is_ok()
}

type Visit<'v> = &'v mut dyn FnMut(&mut Node) -> Result<(), String>;

/// Calls `visit` for each field that the path means, and says how many there were.
pub(crate) fn select(
    node: &mut Node,
    path: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let Some((part, rest)) = path.split_first() else {
        visit(node)?;
        return Ok(1);
    };
    if let Ok(index) = part.parse::<usize>() {
        return by_index(node, index, rest, created, visit);
    }
    if part.starts_with('[') && part.ends_with(']') {
        return by_expression(node, part, rest, created, visit);
    }
    if part == "*" {
        let mut count = 0;
        for item in elements(node)? {
            count += select(item, rest, created, visit)?;
        }
        return Ok(count);
    }
    if node.is_null() && created == Created::Nothing {
        return Ok(0);
    }
    let Node::Map(map) = node else {
        return Err(super::wrong_kind("MappingNode", node));
    };
    if let Some(field) = map.get_mut(part) {
        if let (Node::Scalar(scalar), false) = (&*field, rest.is_empty()) {
            return in_text(&scalar.text, rest, created, visit);
        }
        return select(field, rest, created, visit);
    }
    if created == Created::Nothing {
        return Ok(0);
    }
    let field = map.entry(part, || created.node(rest.first()));
    let count = select(field, rest, created, visit)?;
    settle(field);
    Ok(count)
}

/// Looks into a text: fields of it are found, but what is set in them is lost.
fn in_text(text: &str, path: &[String], created: Created, visit: Visit<'_>) -> Result<usize, String> {
    let read = yaml::node::read(text).map_err(|error| error.without_line())?;
    let mut inner = read.ok_or("an empty text has no fields")?.node;
    if inner.is_null() && created != Created::Nothing {
        inner = Node::map();
    }
    select(&mut inner, path, created, visit)
}

/// A scalar that was made has no type of its own: it means what it looks like.
fn settle(made: &mut Node) {
    if let Node::Scalar(scalar) = made {
        scalar.kind = Kind::of(&scalar.text);
        scalar.untyped = true;
    }
}

fn elements(node: &mut Node) -> Result<&mut List, String> {
    match node {
        Node::List(items) => Ok(items),
        other => Err(super::wrong_kind("SequenceNode", other)),
    }
}

fn by_index(
    node: &mut Node,
    index: usize,
    rest: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let items = elements(node)?;
    if items.len() == index && created != Created::Nothing {
        let mut item = created.node(rest.first());
        let count = select(&mut item, rest, created, visit)?;
        settle(&mut item);
        items.push(item);
        return Ok(count);
    }
    let count = items.len();
    let item = items
        .get_mut(index)
        .ok_or_else(|| format!("index {index} specified but only {count} elements found"))?;
    select(item, rest, created, visit)
}

fn by_expression(
    node: &mut Node,
    part: &str,
    rest: &[String],
    created: Created,
    visit: Visit<'_>,
) -> Result<usize, String> {
    let (key, expression) = key_and_value(part)?;
    let regex = Regexp::new(expression).map_err(|error| error.to_string())?;
    let items = elements(node)?;
    let fits = |item: &Node| {
        let field = if key.is_empty() { Some(item) } else { item.get(key) };
        field.is_some_and(|field| regex.is_match(&written(field)))
    };
    let mut count = 0;
    for item in items.iter_mut().filter(|item| fits(item)) {
        if key.is_empty() {
            visit(item)?;
            count += 1;
        } else {
            count += select(item, rest, created, visit)?;
        }
    }
    if count > 0 || created == Created::Nothing {
        return Ok(count);
    }
    let value = Node::plain(expression);
    items.push(if key.is_empty() {
        value
    } else {
        let mut map = Map::with_capacity(1);
        map.insert(key, value);
        Node::Map(map)
    });
    match items.last_mut() {
        Some(item) if key.is_empty() => visit(item).map(|()| 1),
        Some(item) if fits(item) => select(item, rest, created, visit),
        _ => Ok(0),
    }
}

/// A node as it is written, which is what expressions are matched against.
fn written(node: &Node) -> String {
    if let Node::Scalar(scalar) = node
        && scalar.kind == Kind::Plain
        && Kind::of(&scalar.text) == Kind::Plain
    {
        return scalar.text.to_string();
    }
    let mut text = String::new();
    match node {
        Node::Scalar(scalar) if !scalar.kind.is_str() => scalar.text.to_string(),
        _ => {
            // What cannot be written matches nothing.
            let _ = yaml::go::write(node, &mut text);
            text.trim().to_owned()
        }
    }
}

/// The parts of `[key=value]`.
pub(crate) fn key_and_value(part: &str) -> Result<(&str, &str), String> {
    let inner = part.strip_suffix(']').unwrap_or(part);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    inner
        .split_once('=')
        .ok_or_else(|| "list path element must contain fieldName=fieldValue for element to match".to_owned())
}
