//! Structural schemas in a compact form, read once for each version of a definition.

mod read;

use model::regexp::Regexp;
use model::{Str, Value};

use super::cel::Rule;
use super::validate::Format;

/// One node of a schema: what a value at one place may look like.
///
/// Nodes inside `allOf`, `anyOf`, `oneOf` and `not` have the same form; of those only the checks count.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Its type; `Any` where none is given.
    pub(crate) kind: Kind,
    /// Whether `null` is a value.
    pub(crate) nullable: bool,
    /// `x-kubernetes-int-or-string`.
    pub(crate) int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub(crate) preserve_unknown: bool,
    /// `x-kubernetes-embedded-resource`.
    pub(crate) embedded: bool,
    /// `x-kubernetes-list-type`.
    pub(crate) list: ListKind,
    /// `x-kubernetes-list-map-keys`.
    pub(crate) map_keys: Vec<Str>,
    /// What it is when missing.
    pub(crate) default: Option<Value>,
    /// The known fields, sorted by name.
    pub(crate) fields: Vec<(Str, Node)>,
    /// What fields that are not listed look like.
    pub(crate) additional: Additional,
    /// What elements look like.
    pub(crate) items: Option<Box<Node>>,
    /// Fields that must be there.
    pub(crate) required: Vec<Str>,
    /// What else is asked of values.
    pub(crate) checks: Option<Box<Checks>>,
    /// `x-kubernetes-validations`.
    pub(crate) rules: Vec<Rule>,
    /// Whether a node below this one has rules.
    pub(crate) rules_below: bool,
    /// Whether a node below this one is a resource of its own.
    pub(crate) embedded_below: bool,
}

/// The type of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not said.
    #[default]
    Any,
    /// `object`
    Object,
    /// `array`
    Array,
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `boolean`
    Boolean,
}

/// How elements of a list are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// They are not.
    #[default]
    Atomic,
    /// By their value.
    Set,
    /// By the fields in [`Node::map_keys`].
    Map,
}

/// What fields that are not listed look like.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    /// Not said: they are unknown fields.
    #[default]
    Unsaid,
    /// Like anything, or they may not be there.
    Any(bool),
    /// Like this.
    Of(Box<Node>),
}

/// What is asked of values besides their type.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// A format that is checked.
    pub(crate) format: Option<Format>,
    /// `format` as it was written, for messages.
    pub(crate) format_name: Str,
    /// Allowed values; any where empty.
    pub(crate) values: Vec<Value>,
    /// Largest number, and whether it is itself too large.
    pub(crate) maximum: Option<(f64, bool)>,
    /// Smallest number, and whether it is itself too small.
    pub(crate) minimum: Option<(f64, bool)>,
    /// The number is a multiple of this.
    pub(crate) multiple_of: Option<f64>,
    /// Most characters.
    pub(crate) max_length: Option<i64>,
    /// Fewest characters.
    pub(crate) min_length: Option<i64>,
    /// What the text matches.
    pub(crate) pattern: Option<Regexp>,
    /// Most elements.
    pub(crate) max_items: Option<i64>,
    /// Fewest elements.
    pub(crate) min_items: Option<i64>,
    /// Most fields.
    pub(crate) max_properties: Option<i64>,
    /// Fewest fields.
    pub(crate) min_properties: Option<i64>,
    /// The value fits all of these.
    pub(crate) all_of: Vec<Node>,
    /// The value fits at least one of these.
    pub(crate) any_of: Vec<Node>,
    /// The value fits exactly one of these.
    pub(crate) one_of: Vec<Node>,
    /// The value does not fit this.
    pub(crate) not: Option<Box<Node>>,
}

impl Node {
    /// The field called `name`.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        let at = self
            .fields
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
            .ok()?;
        Some(&self.fields[at].1)
    }

    /// What the field `name` of a value looks like: a known field, or else what additional ones look like.
    pub(crate) fn member(&self, name: &str) -> Option<&Node> {
        self.field(name).or_else(|| self.additional.node())
    }
}

impl Kind {
    /// Its name in schemas; empty for `Any`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Any => "",
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
        }
    }

    /// The kind called `name`.
    pub(crate) fn named(name: &str) -> Option<Kind> {
        let kinds = [
            Kind::Object,
            Kind::Array,
            Kind::String,
            Kind::Integer,
            Kind::Number,
            Kind::Boolean,
        ];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}

impl Additional {
    /// The schema, where there is one.
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Additional::Of(node) => Some(node),
            _ => None,
        }
    }

    /// Whether the schema speaks of additional fields at all.
    pub(crate) fn is_said(&self) -> bool {
        !matches!(self, Additional::Unsaid)
    }
}
