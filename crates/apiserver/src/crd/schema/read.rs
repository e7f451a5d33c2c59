//! Reading a schema from a definition.
//!
//! Reading is lenient: a definition is checked before it is used, and what a checked one cannot contain is left out.

use model::{Str, Value};

use super::{Additional, Checks, Kind, ListKind, Node};
use crate::crd::cel::Rule;
use crate::crd::validate::Format;
use model::regexp::Regexp;

impl Node {
    /// Reads a node and all below it.
    pub(crate) fn read(schema: &Value) -> Node {
        let flag = |name| schema.get(name).and_then(Value::as_bool).unwrap_or_default();
        let node = Node {
            kind: Kind::named(schema.str_at(&["type"])).unwrap_or_default(),
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            list: match schema.str_at(&["x-kubernetes-list-type"]) {
                "set" => ListKind::Set,
                "map" => ListKind::Map,
                _ => ListKind::Atomic,
            },
            map_keys: texts(schema, "x-kubernetes-list-map-keys"),
            // A default of null is as good as none.
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            fields: fields(schema),
            additional: match schema.get("additionalProperties") {
                None | Some(Value::Null) => Additional::Unsaid,
                Some(Value::Bool(allowed)) => Additional::Any(*allowed),
                Some(schema) => Additional::Of(Box::new(Node::read(schema))),
            },
            items: schema
                .get("items")
                .filter(|items| !items.is_null())
                .map(|items| Box::new(Node::read(items))),
            required: texts(schema, "required"),
            checks: checks(schema),
            rules: schema
                .list_at(&["x-kubernetes-validations"])
                .iter()
                .map(Rule::read)
                .collect(),
            rules_below: false,
            embedded_below: false,
        };
        let rules_below = node
            .children()
            .any(|child| !child.rules.is_empty() || child.rules_below);
        let embedded_below = node
            .children()
            .any(|child| child.embedded || child.embedded_below);
        Node {
            rules_below,
            embedded_below,
            ..node
        }
    }

    fn children(&self) -> impl Iterator<Item = &Node> {
        let fields = self.fields.iter().map(|(_, node)| node);
        fields.chain(self.additional.node()).chain(self.items.as_deref())
    }
}

fn fields(schema: &Value) -> Vec<(Str, Node)> {
    let Some(map) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut fields: Vec<(Str, Node)> = map
        .iter()
        .map(|(name, node)| (name.into(), Node::read(node)))
        .collect();
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    fields
}

/// The checks of a node; `None` where it has none.
fn checks(schema: &Value) -> Option<Box<Checks>> {
    const KEYS: [&str; 16] = [
        "format",
        "enum",
        "maximum",
        "minimum",
        "multipleOf",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "maxProperties",
        "minProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
    ];
    let present = |name: &str| schema.get(name).is_some_and(|value| !value.is_null());
    if !KEYS.into_iter().any(present) {
        return None;
    }
    let number = |name| schema.get(name).and_then(Value::as_f64);
    let whole = |name| schema.get(name).and_then(Value::as_i64);
    let exclusive = |name| schema.get(name).and_then(Value::as_bool).unwrap_or_default();
    let nodes = |name| schema.list_at(&[name]).iter().map(Node::read).collect();
    let format = Format::named(schema.str_at(&["format"]));
    Some(Box::new(Checks {
        format,
        format_name: schema.str_at(&["format"]).into(),
        values: schema.list_at(&["enum"]).to_vec(),
        maximum: number("maximum").map(|most| (most, exclusive("exclusiveMaximum"))),
        minimum: number("minimum").map(|least| (least, exclusive("exclusiveMinimum"))),
        multiple_of: number("multipleOf"),
        max_length: whole("maxLength"),
        min_length: whole("minLength"),
        pattern: match schema.str_at(&["pattern"]) {
            "" => None,
            text => Regexp::new(text).ok(),
        },
        max_items: whole("maxItems"),
        min_items: whole("minItems"),
        max_properties: whole("maxProperties"),
        min_properties: whole("minProperties"),
        all_of: nodes("allOf"),
        any_of: nodes("anyOf"),
        one_of: nodes("oneOf"),
        not: schema
            .get("not")
            .filter(|not| !not.is_null())
            .map(|not| Box::new(Node::read(not))),
    }))
}

fn texts(schema: &Value, name: &str) -> Vec<Str> {
    schema
        .list_at(&[name])
        .iter()
        .filter_map(Value::as_str)
        .map(Str::from)
        .collect()
}
