/// Why a text is no YAML, or none that can be a Kubernetes object. It prints as Go says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    /// The same without values, if there are any in it.
    masked: Option<Box<str>>,
    line: usize,
}

/// What is wrong with a scalar or an alias: in Go's words, which may tell what stands there, and in ours, which do not.
pub(crate) struct Telling {
    pub(crate) go: String,
    pub(crate) masked: &'static str,
}

impl Telling {
    /// An alias of an anchor that is not there: mostly a value that begins with `*` and was not quoted.
    pub(crate) fn unknown_anchor(name: &str) -> Telling {
        Telling {
            go: format!("unknown anchor '{name}' referenced"),
            masked: "unknown anchor referenced: put quotes around a value that begins with '*'",
        }
    }

    /// An alias of an anchor inside of what the anchor stands for.
    pub(crate) fn endless_anchor(name: &str) -> Telling {
        Telling {
            go: format!("anchor '{name}' value contains itself"),
            masked: "the value of an anchor contains itself",
        }
    }
}

impl Error {
    /// Something that has no line in Go's words; ours is `line`.
    pub(crate) fn new(line: usize, problem: impl std::fmt::Display) -> Self {
        Error {
            text: format!("yaml: {problem}"),
            masked: None,
            line,
        }
    }

    /// The same about something that may be a secret.
    pub(crate) fn telling(line: usize, Telling { go, masked }: Telling) -> Self {
        Error {
            masked: Some(format!("yaml: {masked}").into()),
            ..Error::new(line, go)
        }
    }

    /// Something that Go finds when it turns the result into JSON.
    pub(crate) fn unwritable(line: usize, text: String) -> Self {
        Error {
            text,
            masked: None,
            line,
        }
    }

    /// The same about something that may be a secret; `masked` does not tell it.
    pub(crate) fn unwritable_value(line: usize, text: String, masked: String) -> Self {
        Error {
            masked: Some(masked.into()),
            ..Error::unwritable(line, text)
        }
    }

    /// What is wrong, without a line: for messages that name it themselves.
    pub fn without_line(&self) -> String {
        let rest = self.text.strip_prefix("yaml: line ");
        match rest.and_then(|rest| rest.split_once(": ")) {
            Some((line, rest)) if line.bytes().all(|byte| byte.is_ascii_digit()) => format!("yaml: {rest}"),
            _ => self.text.clone(),
        }
    }

    /// What is wrong, without a line and without anything that stands in the text as a value, or may be meant for one: for
    /// messages that people see, as it may be a secret. Keys are told.
    pub fn without_values(&self) -> String {
        match &self.masked {
            Some(masked) => masked.to_string(),
            None => self.without_line(),
        }
    }

    /// The line it is about, as near as it is known; the first line is 1. The line that the text names may be another
    /// one: where the grammar is broken, Go counts from 0.
    pub fn line(&self) -> usize {
        self.line
    }
}
