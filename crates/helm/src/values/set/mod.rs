//! `--set`, `--set-string`, `--set-json`, `--set-file` and `--set-literal`, as Helm reads them.
//!
//! `a.b[0].c=value,other={x,y}`: dots and indexes lead to a place, commas separate, a backslash takes the meaning from what
//! follows it. Where Helm is lenient by accident (`a[0].b=` at the end sets nothing) so is this.

mod cursor;
mod parser;
mod typed;

use model::Map;
use parser::{Parser, Style};

/// The longest list that an index can make.
pub const MAX_INDEX: i64 = 65_536;
/// How many dots may lead to a value.
pub const MAX_NESTING: usize = 30;

/// Why a text sets nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// Reads files for [`file`]: what was written, to what is in it.
pub type ReadFile<'r> = &'r mut dyn FnMut(&str) -> Result<String, String>;

/// `--set`: `true`, `false`, `null` and whole numbers are what they look like, everything else is a string.
pub fn plain(text: &str, values: &mut Map) -> Result<(), Error> {
    Parser::new(text, Style::Typed).run(values)
}

/// `--set-string`: everything is a string.
pub fn string(text: &str, values: &mut Map) -> Result<(), Error> {
    Parser::new(text, Style::Text).run(values)
}

/// `--set-json` with `key=json` pairs.
pub fn json(text: &str, values: &mut Map) -> Result<(), Error> {
    Parser::new(text, Style::Json).run(values)
}

/// `--set-file`: values are the names of files with the values.
pub fn file(text: &str, values: &mut Map, read: ReadFile<'_>) -> Result<(), Error> {
    Parser::new(text, Style::File(read)).run(values)
}

/// `--set-literal`: everything after the first `=` is the value, and nothing has a meaning in it.
pub fn literal(text: &str, values: &mut Map) -> Result<(), Error> {
    Parser::new(text, Style::Literal).run(values)
}
