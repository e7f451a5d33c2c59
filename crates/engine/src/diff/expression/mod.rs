//! Expressions in the manner of jq that name fields: `.spec.template.spec.containers[] | select(.name == "app") | .image`.
//!
//! They are the paths of jq and what one chooses among them with, and not the whole language: no variables, no definitions,
//! no loops, no building of new values. So an expression always ends, after work that is bounded by the sizes of expression
//! and object, and no deadline is needed where jq has one; a jq in Rust (jaq) would bring a language that needs one.
//!
//! | | |
//! |---|---|
//! | paths | `.`, `.a.b`, `."a b"`, `.["a/b"]`, `.[0]`, `.[-1]`, `.[]`, `..`, `?` after any of them |
//! | together | `f \| g`, `f, g`, `f // g`, `(f)` |
//! | choosing | `select(f)`, `first(f)`, `last(f)`, `empty` |
//! | conditions | `==`, `!=`, `<`, `<=`, `>`, `>=`, `and`, `or`, `not`, `any(f)`, `all(f)`, `IN(f)` |
//! | of values | `test("re")`, `startswith`, `endswith`, `contains`, `has`, `length`, `type`, `tostring`, `ascii_downcase`, `ascii_upcase` |
//!
//! Where jq would fail, such as at `.a[]` where there is no `a`, an expression names nothing.

mod eval;
mod parse;
mod token;

use std::cmp::Ordering;

use model::Value;
use regex::Regex;

use super::pointer::{Pointer, escape};

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    root: Node,
}

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is not written right, or uses more of jq than there is.
    #[error("{expected} is expected at {found}")]
    Syntax {
        /// What could stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// No function is called so.
    #[error("there is no function {name} with {arguments} arguments")]
    Function {
        /// The name.
        name: String,
        /// How many arguments it was given.
        arguments: usize,
    },
    /// It gives values that are no fields.
    #[error("it must name fields, and {0} does not")]
    NoPath(&'static str),
    /// `test` needs a regular expression.
    #[error("{0:?} is no regular expression")]
    Regex(String),
    /// It is too long or nested too deeply.
    #[error("it is longer than {LENGTH_LIMIT} bytes or nested more than {DEPTH_LIMIT} deep")]
    TooLarge,
}

const LENGTH_LIMIT: usize = 4096;
const DEPTH_LIMIT: usize = 32;

/// A part of an expression.
#[derive(Clone, Debug)]
enum Node {
    Identity,
    /// `..`
    Everything,
    /// `of.name` and `of[name]`.
    Child(Box<Node>, Box<Node>),
    /// `of[]`
    Each(Box<Node>),
    Pipe(Box<Node>, Box<Node>),
    Comma(Box<Node>, Box<Node>),
    Otherwise(Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Compare(Box<Node>, Comparison, Box<Node>),
    Literal(Value),
    Select(Box<Node>),
    First(Box<Node>),
    Last(Box<Node>),
    Empty,
    Not,
    Any(Box<Node>),
    All(Box<Node>),
    In(Box<Node>),
    Test(Regex),
    /// A function of the input and one argument.
    Check(Check, Box<Node>),
    Length,
    Type,
    Text,
    Lower,
    Upper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    StartsWith,
    EndsWith,
    Contains,
    Has,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(String),
    Index(usize),
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is not written right, uses what there is not, or does not name fields.
    pub fn read(text: &str) -> Result<Self, Error> {
        if text.len() > LENGTH_LIMIT {
            return Err(Error::TooLarge);
        }
        let root = parse::parse(text)?;
        names_fields(&root)?;
        Ok(Expression { root })
    }

    /// Pointers to what it names in an object, in the order of the object and each once. What is missing may be among them.
    pub fn paths(&self, object: &Value) -> Vec<Pointer> {
        let mut paths = eval::paths(&self.root, object);
        paths.sort();
        paths.dedup();
        paths.iter().filter_map(|steps| pointer(steps)).collect()
    }
}

fn pointer(steps: &[Step]) -> Option<Pointer> {
    let text: String = steps
        .iter()
        .map(|step| match step {
            Step::Name(name) => format!("/{}", escape(name)),
            Step::Index(at) => format!("/{at}"),
        })
        .collect();
    Pointer::read(&text).ok()
}

/// Whether every value that a part gives is a field of what it was given.
fn names_fields(node: &Node) -> Result<(), Error> {
    match node {
        Node::Identity | Node::Everything | Node::Select(_) | Node::Empty => Ok(()),
        Node::Child(of, _) | Node::Each(of) | Node::First(of) | Node::Last(of) => names_fields(of),
        Node::Pipe(a, b) | Node::Comma(a, b) | Node::Otherwise(a, b) => names_fields(a).and(names_fields(b)),
        Node::And(..) | Node::Or(..) | Node::Compare(..) => Err(Error::NoPath("a condition")),
        Node::Literal(_) => Err(Error::NoPath("a literal")),
        _ => Err(Error::NoPath("a function of values")),
    }
}

/// The order of jq: null, booleans, numbers, strings, lists, maps.
fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(flag) => 1 + i32::from(*flag),
        Value::Int(_) | Value::Float(_) => 3,
        Value::Str(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b.iter());
            let first = pairs.map(|(a, b)| order(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => a.len().cmp(&b.len()),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        },
    })
}
