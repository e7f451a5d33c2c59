//! The tree that every format is read into: maps keep their order and comments are entries of their own.

/// A value of a tree. It may be secret, so that there is no `Debug`.
#[derive(Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A string. The content of a binary file is one too, so that it need not be UTF-8.
    Text(Vec<u8>),
    /// What old versions have written as bytes.
    Bytes(Vec<u8>),
    /// A time as RFC 3339 writes it.
    Time(String),
    /// A comment between the elements of a list.
    Comment(Comment),
    List(Vec<Value>),
    Map(Branch),
}

/// The entries of a map in the order of the file.
pub(crate) type Branch = Vec<Item>;

/// An entry of a map.
#[derive(Clone, PartialEq)]
pub(crate) enum Item {
    Comment(Comment),
    Entry(String, Value),
}

/// A comment without the sign that begins it.
#[derive(Clone, PartialEq)]
pub(crate) struct Comment {
    pub(crate) text: Vec<u8>,
    /// Whether it stands behind a value on the same line.
    pub(crate) inline: bool,
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into().into_bytes())
    }
}

/// What a whole file says.
pub(crate) struct Tree {
    /// One for each document; only YAML has several.
    pub(crate) branches: Vec<Branch>,
}
