//! Texts that are YAML, as trees that keep how they are written: quotes, blocks, brackets, anchors, tags and comments, as
//! far as go-yaml v3 keeps them. Blank lines and the widths of indentations are not kept.

mod comments;
mod fields;
mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

use yaml::node::{Kind, Node};

/// A document.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    pub(super) root: Item,
    /// Comments before everything, with a blank line after them.
    head: Vec<String>,
    /// Comments after everything, with a blank line before them.
    foot: Vec<String>,
}

/// A scalar, a list, a map or an alias.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) body: Body,
    anchor: Option<String>,
    /// A tag that is written.
    tag: Option<String>,
    comments: Comments,
}

/// The comments of an element of a list, or of a field, which a key has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Comments {
    /// The lines above; empty ones are blank lines.
    head: Vec<String>,
    /// At the end of the line.
    line: Option<String>,
    /// The lines below.
    foot: Vec<String>,
}

/// What an item is.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Scalar(Scalar),
    Alias(String),
    List { items: Vec<Item>, flow: bool },
    Map { pairs: Vec<(Item, Item)>, flow: bool },
}

impl Default for Body {
    fn default() -> Body {
        Body::Scalar(Scalar {
            text: String::new(),
            style: Style::Plain,
            kind: Some(Kind::Null),
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) text: String,
    style: Style,
    /// What it is, however it looks; `None` for what was made.
    kind: Option<Kind>,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

impl Item {
    fn of(body: Body) -> Item {
        Item {
            body,
            ..Item::default()
        }
    }

    /// A scalar that is what it looks like.
    fn scalar(text: &str) -> Item {
        Item::of(Body::Scalar(Scalar {
            text: text.to_owned(),
            style: Style::Plain,
            kind: None,
        }))
    }

    fn is_null(&self) -> bool {
        matches!(&self.body, Body::Scalar(scalar) if scalar.kind == Some(Kind::Null))
    }

    /// The text of a scalar.
    fn text(&self) -> &str {
        match &self.body {
            Body::Scalar(scalar) => &scalar.text,
            _ => "",
        }
    }

    /// The word that go-yaml has for what this is.
    fn kind_name(&self) -> &'static str {
        match self.body {
            Body::Scalar(_) => "ScalarNode",
            Body::Alias(_) => "AliasNode",
            Body::List { .. } => "SequenceNode",
            Body::Map { .. } => "MappingNode",
        }
    }

    /// Becomes a copy of a value; anchor and comments go, as those of the value are none.
    pub(super) fn become_value(&mut self, value: &Node) {
        *self = Item::from_node(value);
    }

    fn from_node(node: &Node) -> Item {
        Item::of(match node {
            Node::Scalar(scalar) => Body::Scalar(Scalar {
                text: scalar.text.to_string(),
                style: match scalar.kind {
                    _ if scalar.folded => Style::Folded,
                    Kind::Quoted | Kind::Tagged if scalar.text.contains('\n') => Style::Literal,
                    Kind::Quoted | Kind::Tagged => Style::DoubleQuoted,
                    _ => Style::Plain,
                },
                kind: (!scalar.untyped).then_some(scalar.kind),
            }),
            Node::List(items) => Body::List {
                items: items.iter().map(Item::from_node).collect(),
                flow: false,
            },
            Node::Map(map) => Body::Map {
                pairs: map
                    .iter()
                    .map(|(key, value)| (Item::scalar(key), Item::from_node(value)))
                    .collect(),
                flow: false,
            },
        })
    }
}
