//! A tree that keeps the text of its scalars, as go-yaml v3's `Node` does.
//!
//! Kustomize works on such trees: `1.10` stays `1.10` until it is printed as a number or, in an annotation, as a
//! string. Comments and layout are not kept.

mod fold;
mod kind;
mod map;
mod read;
mod text;

pub use kind::{Kind, Meaning};
pub use map::Map;
pub use read::{Read, read, read_with};
pub use text::{Text, Texts};
use thin_vec::ThinVec;

use crate::word::word;

/// A scalar, a list or a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A text that may mean something else.
    Scalar(Scalar),
    /// A list.
    List(List),
    /// A map.
    Map(Map),
}

/// The elements of a list.
pub type List = ThinVec<Node>;

/// A text and what it is.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// As it was written, without quotes and escapes.
    pub text: Text,
    /// What it is.
    pub kind: Kind,
    /// The scalars of a tree that have the same number here, other than 0, stand for one that is in several places: who
    /// writes over one of them has to write over all. What is read has 0.
    pub group: u16,
    /// Whether it has no type but what it looks like, so that another text in its place may mean something else. What is
    /// read has one.
    pub untyped: bool,
    /// Whether it was read with a tag. kyaml puts no quotes around what is written over it.
    pub tagged: bool,
    /// Whether it is written in a folded block (`>`). It stays there when it is written over, and go-yaml v3 changes some texts when
    /// it writes them so.
    pub folded: bool,
    /// Whether its quotes are those of a string that it was written over. kyaml still takes it for the number or boolean it is without.
    pub requoted: bool,
}

impl PartialEq for Scalar {
    /// Whether both say the same, wherever else they stand.
    fn eq(&self, other: &Scalar) -> bool {
        self.kind == other.kind && self.text == other.text && self.folded == other.folded
    }
}

const _: () = assert!(std::mem::size_of::<Node>() == 16);

impl Scalar {
    /// A scalar that stands in one place.
    pub fn new(text: impl Into<Text>, kind: Kind) -> Scalar {
        Scalar {
            text: text.into(),
            kind,
            group: 0,
            untyped: false,
            tagged: false,
            folded: false,
            requoted: false,
        }
    }

    /// Puts another text in the place of this one. The type stays, if it has one.
    pub fn set_text(&mut self, text: impl Into<Text>) {
        self.text = text.into();
        if self.untyped {
            self.kind = Kind::of(&self.text);
        }
    }

    /// Takes over how another scalar is written, as kyaml does when this one replaces it: quotes stay, so that a number becomes a
    /// string, and none are added where there were none, which shows when it is written over itself. The tag and folding are a part
    /// of that, too.
    pub fn take_style(&mut self, old: &Scalar) {
        match old.kind.string_over() {
            Kind::Quoted => {
                self.requoted = !self.kind.is_str();
                self.kind = Kind::Quoted;
            }
            kind if self.kind.is_str() => self.kind = kind,
            _ => {}
        }
        (self.tagged, self.folded) = (old.tagged, old.folded);
    }

    /// What the scalar is in JSON. The error is go-yaml's.
    pub fn meaning(&self) -> Result<Meaning, String> {
        let meaning = kind::meaning(self.kind, &self.text)?;
        Ok(match meaning {
            Meaning::Text if self.folded => Meaning::Str(fold::rewritten(&self.text).as_ref().into()),
            meaning => meaning,
        })
    }
}

/// Whether a text without quotes is no string for a parser of YAML 1.1, which times are. Several lines count as a string.
fn is_something_else(text: &str) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    match Kind::of(text) {
        Kind::Timestamp => return false,
        Kind::Plain => {}
        _ => return true,
    }
    // Only these can begin or make lists, maps, comments and the like.
    let may_be_structured = text.starts_with(['-', '?', ':', '[', '{', '#', '!', '&', '|', '>', '"', '\''])
        || text.contains(": ")
        || text.contains(":\t")
        || text.ends_with(':');
    word(text).is_some()
        || (may_be_structured
            && crate::parse(text.as_bytes()).is_ok_and(|value| !matches!(value, model::Value::Str(_))))
}

impl Node {
    /// A string, whatever it looks like.
    pub fn str(text: impl Into<Text>) -> Node {
        Node::Scalar(Scalar::new(text, Kind::Quoted))
    }

    /// A string as kyaml sets it: with quotes where a parser of YAML 1.1 would take it for something else, and without any
    /// otherwise, even if it needs them to be printed. That shows when it is written over.
    pub fn set(text: impl Into<Text>) -> Node {
        let text = text.into();
        let kind = if is_something_else(&text) {
            Kind::Quoted
        } else {
            Kind::Plain
        };
        Node::Scalar(Scalar::new(text, kind))
    }

    /// As [`set`](Node::set), but several lines are a block, and stay one when they are written over.
    pub fn set_lines(text: impl Into<Text>) -> Node {
        let text = text.into();
        if text.contains('\n') {
            Node::str(text)
        } else {
            Node::set(text)
        }
    }

    /// As [`set`](Node::set), but what gets no quotes has no type either, and means what it looks like: a time stays one.
    pub fn set_untyped(text: impl Into<Text>) -> Node {
        match Node::set(text) {
            Node::Scalar(scalar) if scalar.kind == Kind::Plain => Node::plain(scalar.text),
            set => set,
        }
    }

    /// A text without quotes: what it means follows from what it looks like.
    pub fn plain(text: impl Into<Text>) -> Node {
        let text = text.into();
        let kind = Kind::of(&text);
        Node::Scalar(Scalar {
            untyped: true,
            ..Scalar::new(text, kind)
        })
    }

    /// An empty list.
    pub fn list() -> Node {
        Node::List(List::new())
    }

    /// An empty map.
    pub fn map() -> Node {
        Node::Map(Map::default())
    }

    /// A `null` that is written out.
    pub fn null() -> Node {
        Node::Scalar(Scalar::new("null", Kind::Null))
    }

    /// Whether this is `null`, written or left out.
    pub fn is_null(&self) -> bool {
        matches!(self, Node::Scalar(scalar) if scalar.kind.is_null())
    }

    /// Whether there is nothing in it: `null`, `{}` or `[]`.
    pub fn is_empty(&self) -> bool {
        match self {
            Node::Scalar(scalar) => scalar.kind.is_null(),
            Node::List(items) => items.is_empty(),
            Node::Map(map) => map.is_empty(),
        }
    }

    /// The text of a scalar; empty for `null` and for what is no scalar.
    pub fn text(&self) -> &str {
        match self {
            Node::Scalar(scalar) if !scalar.kind.is_null() => &scalar.text,
            _ => "",
        }
    }

    /// The text of a scalar, `null` included; empty for what is no scalar.
    pub fn raw_text(&self) -> &str {
        match self {
            Node::Scalar(scalar) => &scalar.text,
            _ => "",
        }
    }

    /// The same to be held elsewhere.
    pub fn shared_text(&self) -> Text {
        match self {
            Node::Scalar(scalar) => scalar.text.clone(),
            _ => Text::default(),
        }
    }

    /// Sets the text of a scalar as if it were written over: quotes and folds stay, and without quotes it means what it looks
    /// like. What is no scalar is replaced.
    pub fn rewrite(&mut self, text: impl Into<Text>) {
        *self = match self {
            Node::Scalar(scalar) if scalar.folded => Node::Scalar(Scalar {
                folded: true,
                ..Scalar::new(text, Kind::Quoted)
            }),
            Node::Scalar(scalar) if scalar.kind == Kind::Quoted => Node::str(text),
            Node::Scalar(Scalar { tagged: true, .. }) => {
                let text = text.into();
                let kind = Kind::of(&text);
                Node::Scalar(Scalar {
                    untyped: true,
                    tagged: true,
                    ..Scalar::new(text, kind)
                })
            }
            _ => Node::plain(text),
        };
    }

    /// The map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Node::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The map for change, if this is one.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Node::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The scalar, if this is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match self {
            Node::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key)
    }

    /// The value of `key` for change, if this is a map that has it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.as_map_mut()?.get_mut(key)
    }

    /// The word that go-yaml has for what this is.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Node::Scalar(_) => "ScalarNode",
            Node::List(_) => "SequenceNode",
            Node::Map(_) => "MappingNode",
        }
    }
}
