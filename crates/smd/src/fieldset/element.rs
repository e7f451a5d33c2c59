//! One step of a path.

use std::cmp::Ordering;
use std::fmt;

use model::{Str, Value};

use super::order;
use crate::go_text::InPath;

/// How one child is chosen in its parent.
///
/// The order is that of Kubernetes: field names, then keys, then values, then indexes.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a map by its name.
    Field(Str),
    /// An element of a list by the fields that tell elements apart, sorted by name.
    Key(Box<[(Str, Value)]>),
    /// An element of a set by its value.
    Value(Value),
    /// An element of a list by its place.
    Index(i64),
}

impl PathElement {
    /// The field called `name`.
    pub fn field(name: impl AsRef<str>) -> Self {
        PathElement::Field(Str::new(name))
    }

    /// The list element whose key fields hold these values.
    pub fn key<N: AsRef<str>, V: Into<Value>>(fields: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut fields: Vec<_> = fields
            .into_iter()
            .map(|(name, value)| (Str::new(name), value.into()))
            .collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        PathElement::Key(fields.into())
    }

    fn rank(&self) -> u8 {
        match self {
            PathElement::Field(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (PathElement::Field(a), PathElement::Field(b)) => a.cmp(b),
            (PathElement::Key(a), PathElement::Key(b)) => {
                let pairs = a.iter().zip(b.iter());
                let mut orders = pairs.map(|(a, b)| a.0.cmp(&b.0).then_with(|| order::compare(&a.1, &b.1)));
                orders
                    .find(|order| order.is_ne())
                    .unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (PathElement::Value(a), PathElement::Value(b)) => order::compare(a, b),
            (PathElement::Index(a), PathElement::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathElement::Field(name) => write!(out, ".{name}"),
            PathElement::Key(fields) => {
                out.write_str("[")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(out, "{comma}{name}={}", InPath(value))?;
                }
                out.write_str("]")
            }
            PathElement::Value(value) => write!(out, "[={}]", InPath(value)),
            PathElement::Index(index) => write!(out, "[{index}]"),
        }
    }
}

/// A path from an object down to one of its fields. It prints as in the API server's messages:
/// `.spec.template.spec.containers[name="nginx"].image`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<PathElement>);

impl Path {
    /// The path through these fields.
    pub fn fields(names: &[&str]) -> Self {
        Path(names.iter().map(PathElement::field).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| write!(out, "{element}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_ordered_by_kind_then_content() {
        let ascending = [
            PathElement::field("a"),
            PathElement::field("b"),
            PathElement::key([("port", 80i64)]),
            PathElement::key([("port", 443i64)]),
            PathElement::Value(Value::Int(3)),
            PathElement::Value(Value::str("x")),
            PathElement::Index(0),
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn paths_print_as_in_conflict_messages() {
        let mut path = Path::fields(&["spec", "containers"]);
        path.0.push(PathElement::key([
            ("protocol", Value::str("TCP")),
            ("containerPort", Value::Int(80)),
        ]));
        path.0.push(PathElement::Value(Value::str("a")));
        path.0.push(PathElement::Index(2));
        assert_eq!(
            path.to_string(),
            r#".spec.containers[containerPort=80,protocol="TCP"][="a"][2]"#
        );
    }
}
