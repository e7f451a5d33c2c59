//! Reaching all fields that a path means, where elements are chosen by expressions, and making what is missing.

use model::regexp::Regexp;
use yaml::node::{Kind, Map, Node, Scalar};

/// What is made at the end of a path where there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Created {
    Nothing,
    Scalar,
    List,
    Map,
}

impl Created {
    /// What is made for a part of a path, by what follows it.
    fn made<T: Growing>(self, rest: &[String]) -> T {
        match (rest.first(), self) {
            (Some(next), _) if is_list_step(next) => T::list(),
            (Some(_), _) | (None, Created::Map) => T::map(),
            (None, Created::List) => T::list(),
            (None, Created::Scalar | Created::Nothing) => T::blank(),
        }
    }
}

/// A tree in which fields can be made.
pub(crate) trait Growing: Sized {
    /// An empty list.
    fn list() -> Self;

    /// An empty map.
    fn map() -> Self;

    /// A scalar whose text is to be set.
    fn blank() -> Self;

    /// A scalar that means what it looks like.
    fn made(text: &str) -> Self;

    /// What a text says; `None` if that is nothing.
    fn read(text: &str) -> Result<Option<Self>, String>;

    fn is_null(&self) -> bool;

    /// The text, if it is a scalar.
    fn scalar(&self) -> Option<&str>;

    /// A field of a map.
    fn field(&self, key: &str) -> Option<&Self>;

    /// The field of a map, made if there is none; `None` if nothing is to be made. What is no map is an error.
    fn field_mut(&mut self, key: &str, make: Option<&dyn Fn() -> Self>) -> Result<Option<&mut Self>, String>;

    /// The elements of a list. What is no list is an error.
    fn elements(&mut self) -> Result<&mut [Self], String>;

    /// Adds an element to a list.
    fn push(&mut self, element: Self);

    /// As it is written, which is what expressions are matched against.
    fn written(&self) -> String;

    /// Something was set in what was made.
    fn settle(&mut self) {}
}

pub(super) fn is_list_step(part: &str) -> bool {
    (part.starts_with('[') && part.ends_with(']')) || part.parse::<usize>().is_ok()
}

type Visit<'v, T> = &'v mut dyn FnMut(&mut T) -> Result<(), String>;

/// Calls `visit` for each field that the path means, and says how many there were.
pub(crate) fn select<T: Growing>(
    node: &mut T,
    path: &[String],
    created: Created,
    visit: Visit<'_, T>,
) -> Result<usize, String> {
    let Some((part, rest)) = path.split_first() else {
        visit(node)?;
        return Ok(1);
    };
    if node.is_null() {
        // It counts as whatever is looked for, but stays what it is: what is made in it is lost.
        let mut lost = if is_list_step(part) || part == "*" {
            T::list()
        } else {
            T::map()
        };
        return select(&mut lost, path, created, visit);
    }
    if let Ok(index) = part.parse::<usize>() {
        return by_index(node, index, rest, created, visit);
    }
    if part.starts_with('[') && part.ends_with(']') {
        return by_expression(node, part, rest, created, visit);
    }
    if part == "*" {
        let mut count = 0;
        for item in node.elements()? {
            count += select(item, rest, created, visit)?;
        }
        return Ok(count);
    }
    by_name(node, part, rest, created, visit)
}

fn by_name<T: Growing>(
    node: &mut T,
    part: &str,
    rest: &[String],
    created: Created,
    visit: Visit<'_, T>,
) -> Result<usize, String> {
    if let Some(field) = node.field_mut(part, None)? {
        if let (Some(text), false) = (field.scalar(), rest.is_empty()) {
            // Fields of a text are found, but what is set in them is lost.
            let mut inner = T::read(text)?.ok_or("an empty text has no fields")?;
            return select(&mut inner, rest, created, visit);
        }
        return select(field, rest, created, visit);
    }
    if created == Created::Nothing {
        return Ok(0);
    }
    let Some(field) = node.field_mut(part, Some(&|| created.made(rest)))? else {
        return Ok(0);
    };
    let count = select(field, rest, created, visit)?;
    field.settle();
    Ok(count)
}

fn by_index<T: Growing>(
    node: &mut T,
    index: usize,
    rest: &[String],
    created: Created,
    visit: Visit<'_, T>,
) -> Result<usize, String> {
    if node.elements()?.len() == index && created != Created::Nothing {
        let mut element = created.made(rest);
        let count = select(&mut element, rest, created, visit)?;
        element.settle();
        node.push(element);
        return Ok(count);
    }
    let elements = node.elements()?;
    let count = elements.len();
    let element = elements
        .get_mut(index)
        .ok_or_else(|| format!("index {index} specified but only {count} elements found"))?;
    select(element, rest, created, visit)
}

fn by_expression<T: Growing>(
    node: &mut T,
    part: &str,
    rest: &[String],
    created: Created,
    visit: Visit<'_, T>,
) -> Result<usize, String> {
    let (key, expression) = key_and_value(part)?;
    let regex = Regexp::new(expression).map_err(|error| error.to_string())?;
    let fits = |element: &T| {
        let field = if key.is_empty() {
            Some(element)
        } else {
            element.field(key)
        };
        field.is_some_and(|field| regex.is_match(field.written().trim()))
    };
    let mut visit_element = |element: &mut T| {
        if key.is_empty() {
            visit(element).map(|()| 1)
        } else {
            select(element, rest, created, visit)
        }
    };
    let mut count = 0;
    for element in node.elements()?.iter_mut().filter(|element| fits(element)) {
        count += visit_element(element)?;
    }
    if count > 0 || created == Created::Nothing {
        return Ok(count);
    }
    node.push(if key.is_empty() {
        T::made(expression)
    } else {
        let mut map = T::map();
        map.field_mut(key, Some(&|| T::made(expression)))?;
        map
    });
    match node.elements()?.last_mut() {
        Some(element) if key.is_empty() || fits(element) => visit_element(element),
        _ => Ok(0),
    }
}

/// The parts of `[key=value]`.
pub(super) fn key_and_value(part: &str) -> Result<(&str, &str), String> {
    let inner = part.strip_suffix(']').unwrap_or(part);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    inner
        .split_once('=')
        .ok_or_else(|| "list path element must contain fieldName=fieldValue for element to match".to_owned())
}

impl Growing for Node {
    fn list() -> Node {
        Node::list()
    }

    fn map() -> Node {
        Node::Map(Map::default())
    }

    fn blank() -> Node {
        Node::Scalar(Scalar::new("", Kind::Plain))
    }

    fn made(text: &str) -> Node {
        Node::plain(text)
    }

    fn read(text: &str) -> Result<Option<Node>, String> {
        let read = yaml::node::read(text).map_err(|error| error.without_values())?;
        Ok(read.map(|read| read.node))
    }

    fn is_null(&self) -> bool {
        Node::is_null(self)
    }

    fn scalar(&self) -> Option<&str> {
        self.as_scalar().map(|scalar| scalar.text.as_str())
    }

    fn field(&self, key: &str) -> Option<&Node> {
        self.get(key)
    }

    fn field_mut(&mut self, key: &str, make: Option<&dyn Fn() -> Node>) -> Result<Option<&mut Node>, String> {
        let Node::Map(map) = self else {
            return Err(super::wrong_kind("MappingNode", self));
        };
        Ok(match make {
            Some(make) => Some(map.entry(key, make)),
            None => map.get_mut(key),
        })
    }

    fn elements(&mut self) -> Result<&mut [Node], String> {
        match self {
            Node::List(items) => Ok(items),
            other => Err(super::wrong_kind("SequenceNode", other)),
        }
    }

    fn push(&mut self, element: Node) {
        if let Node::List(items) = self {
            items.push(element);
        }
    }

    fn written(&self) -> String {
        if let Node::Scalar(scalar) = self
            && scalar.kind == Kind::Plain
            && Kind::of(&scalar.text) == Kind::Plain
        {
            return scalar.text.to_string();
        }
        match self {
            Node::Scalar(scalar) if !scalar.kind.is_str() => scalar.text.to_string(),
            _ => {
                let mut text = String::new();
                // What cannot be written matches nothing.
                let _ = yaml::go::write(self, &mut text);
                text
            }
        }
    }

    /// A scalar that was made has no type of its own: it means what it looks like.
    fn settle(&mut self) {
        if let Node::Scalar(scalar) = self {
            scalar.kind = Kind::of(&scalar.text);
            scalar.untyped = true;
        }
    }
}
