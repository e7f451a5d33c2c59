//! Where in an object something is.

use std::fmt::Write as _;

use model::{Value, json};

use super::pointer::escape;

/// One step into an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'v> {
    /// To a field of a map.
    Field(&'v str),
    /// To an element of a list.
    Item {
        /// Its place.
        index: usize,
        /// The element, which tells by which key it is known.
        item: &'v Value,
    },
}

/// The JSON pointer to the end of a path.
pub(crate) fn pointer(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Field(name) => text.extend(["/", escape(name).as_str()]),
            Step::Item { index, .. } => drop(write!(text, "/{index}")),
        }
    }
    text
}

/// The path as people read it: `.spec.containers[name="app"].image`. `keys` are the fields that tell elements apart, one
/// entry for each element on the way.
pub(crate) fn readable(path: &[Step<'_>], keys: &[Option<Vec<String>>]) -> String {
    let mut text = String::new();
    let mut keys = keys.iter();
    for step in path {
        match step {
            Step::Field(name) if is_plain(name) => text.extend([".", name]),
            Step::Field(name) => drop(write!(text, "[{}]", json::to_string(&Value::str(name)))),
            Step::Item { index, item } => match keys.next() {
                Some(Some(keys)) => text.push_str(&key(item, keys)),
                _ => drop(write!(text, "[{index}]")),
            },
        }
    }
    text
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn key(item: &Value, keys: &[String]) -> String {
    let pairs: Vec<String> = keys
        .iter()
        .filter_map(|name| Some(format!("{name}={}", json::to_string(item.get(name)?))))
        .collect();
    format!("[{}]", pairs.join(","))
}
