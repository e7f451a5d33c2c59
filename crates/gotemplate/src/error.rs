//! Why a template could not be read or executed.

use std::fmt;

/// What went wrong, in Go's words and with its positions.
///
/// Functions fail with it too: `Error::new("…")`, or a text by `?`.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    text: String,
    kind: ErrorKind,
    template: Option<String>,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no template.
    Parse,
    /// The template could not be executed.
    Execution,
    /// The template asked for more than it may have. It stays one however many templates it passes through.
    Limit,
    /// A function says so.
    Function,
}

impl Error {
    /// What a function fails with.
    pub fn new(text: impl Into<String>) -> Error {
        Error::of(ErrorKind::Function, text)
    }

    /// A failure for asking too much.
    pub fn limit(text: impl Into<String>) -> Error {
        Error::of(ErrorKind::Limit, text)
    }

    pub(crate) fn of(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            text: shortened(text.into()),
            kind,
            template: None,
        }))
    }

    pub(crate) fn in_template(mut self, name: &str) -> Error {
        self.0.template = Some(name.to_owned());
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The template that was being executed, of a failure to execute.
    pub fn template(&self) -> Option<&str> {
        self.0.template.as_deref()
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.text
    }
}

/// The longest message, in bytes. Each template that an error passes through adds to it, and a template may bring any text in.
const LONGEST: usize = 64 << 10;

/// A message without its middle, where that is very long: what failed is at the beginning, and why at the end.
fn shortened(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let boundary = |from: usize| (from..=text.len()).find(|at| text.is_char_boundary(*at));
    let start = boundary(LONGEST / 2).unwrap_or_default();
    let end = boundary(text.len() - LONGEST / 2).unwrap_or(text.len());
    format!("{} [...] {}", &text[..start], &text[end..])
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(text: String) -> Error {
        Error::new(text)
    }
}

impl From<&str> for Error {
    fn from(text: &str) -> Error {
        Error::new(text)
    }
}
