//! JSONPath in the dialect of Kubernetes, for printer columns and selectable fields.
//!
//! `{.spec.replicas}`, `{.a['b.c']}`, `{.a\.b}`, `{.items[0]}`, `{.items[-1:]}`, `{.items[*].name}`, `{..name}`,
//! `{.conditions[?(@.type=="Ready")].status}`, `{.items[0,2]}`. Text around the braces, `range` and `end` belong to
//! templates that clients print: [`Template`].

mod find;
mod parse;
mod template;

use find::Missing;
use model::Value;

pub use template::Template;

/// A path that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// Why a path is none, or leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// A field.
    Field(String),
    /// All fields or elements.
    Wildcard,
    /// The value and all that is below it.
    Recursive,
    /// Elements from a place up to another, every so many.
    Slice(Slice),
    /// Elements for which a comparison holds.
    Filter(Box<Filter>),
    /// What several paths find, one after the other.
    Union(Vec<Vec<Step>>),
    /// A value that stands in the path itself.
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    /// The end is the place after the start, because only one place was given.
    single: bool,
    step: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// The operator and the other side; without one the left side only has to be there.
    comparison: Option<(String, Vec<Step>)>,
}

impl JsonPath {
    /// Reads a path in braces.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<JsonPath, Error> {
        parse::path(text).map(|steps| JsonPath { steps })
    }

    /// All values that the path leads to. Fields that are missing are no failure.
    ///
    /// # Errors
    /// Where the path asks for an element of something else than a list, or for one that is not there.
    pub fn find<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, Error> {
        find::walk(&self.steps, vec![object], Missing::Nothing)
    }
}

/// A value as text: single values plain, maps and lists as JSON.
pub fn print(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => model::json::to_string(value),
        Value::Float(number) if (1e6..1e21).contains(&number.abs()) => with_exponent(*number),
        other => smd::patch::go_text::plain(other),
    }
}

/// A large float as Go's `%v` prints it: with an exponent of at least two digits.
fn with_exponent(number: f64) -> String {
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}e+{exponent:0>2}"),
        None => text,
    }
}
