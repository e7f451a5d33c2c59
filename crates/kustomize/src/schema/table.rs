//! Reads our own table of types. Its notation is told at its top.

use std::collections::HashMap;

use yaml::node::Text;

use super::{Field, Schema};
use crate::id::Gvk;

pub(super) fn read(text: &'static str) -> Schema {
    let mut reader = Reader::default();
    for line in text.lines() {
        if let Some(field) = line.strip_prefix("  ") {
            reader.field(field);
        } else if let Some(named) = line.strip_prefix("type ") {
            reader.named(named);
        } else if let Some(kind) = line.strip_prefix("cluster ") {
            reader.schema.cluster_scoped.insert(gvk(kind));
        }
    }
    reader.schema
}

#[derive(Default)]
struct Reader {
    schema: Schema,
    numbers: HashMap<&'static str, usize>,
    current: usize,
}

impl Reader {
    fn number(&mut self, name: &'static str) -> usize {
        let types = &mut self.schema.types;
        *self.numbers.entry(name).or_insert_with(|| {
            types.push(super::Type::default());
            types.len() - 1
        })
    }

    /// `NAME = KIND = KIND`
    fn named(&mut self, line: &'static str) {
        let mut parts = line.split(" = ");
        self.current = self.number(parts.next().unwrap_or_default());
        for kind in parts {
            self.schema.by_kind.insert(gvk(kind), self.current);
        }
    }

    /// `FIELD: TYPE`, `FIELD: map of TYPE` or `FIELD: merge by KEY KEY of TYPE`
    fn field(&mut self, line: &'static str) {
        let Some((name, means)) = line.split_once(": ") else {
            return;
        };
        let field = if let Some(means) = means.strip_prefix("merge") {
            let (keys, elements) = match means.split_once(" of ") {
                Some((keys, elements)) => (keys, Some(elements)),
                None => (means, None),
            };
            let keys = keys.strip_prefix(" by ").unwrap_or_default();
            Field::Merged {
                keys: keys.split_whitespace().map(Text::from).collect(),
                elements: elements.map(|name| self.number(name)),
            }
        } else {
            Field::Nested(self.number(means))
        };
        self.schema.types[self.current].fields.insert(name.into(), field);
    }
}

/// `APIVERSION KIND`
fn gvk(text: &str) -> Gvk {
    let (api_version, kind) = text.split_once(' ').unwrap_or_default();
    Gvk::new(api_version, kind)
}
