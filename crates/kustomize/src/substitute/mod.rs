//! Variables in texts: `${name}` and what a shell can do with it, in the grammar that Flux has for `postBuild`.
//!
//! The grammar is that of `envsubst` as Flux carries it, with its habits: `=`, `:=`, `:-`, `:?` and `:+` all give a default where
//! the value is empty, `${name-default}` is an error, `$name` is plain text and `$$` a dollar sign. Offsets and lengths count
//! bytes. [`parse`] reads a text, [`value`] has the operations on values, [`glob`] the patterns of `#` and `%`.

mod glob;
mod parse;
mod value;

use std::collections::BTreeMap;
use std::fmt;

use parse::{Part, Substitution};

/// Variables by name.
#[derive(Clone, Default)]
pub struct Variables {
    values: BTreeMap<String, String>,
    /// Whether a variable that is not there is an error, unless the text has a default for it.
    pub strict: bool,
}

/// Why a text cannot be substituted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Error {
    /// The line of the text, from 1.
    pub line: usize,
    /// The byte of the text that the substitution begins at.
    pub start: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a substitution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is none that the grammar knows.
    #[error("bad substitution: write '$${{' for a text that is not to be substituted")]
    Bad,
    /// It does not end where it should, as in `${name-default}`.
    #[error("missing closing brace of the variable '{0}'")]
    NotClosed(String),
    /// There is no name after `${`.
    #[error("unable to parse variable name: write '$${{' for a text that is not to be substituted")]
    NoName,
    /// An operation lacks its argument.
    #[error("unable to parse substitution within function")]
    NoArgument,
    /// A default is none.
    #[error("unable to parse default function")]
    NoDefault,
    /// Substitutions stand in each other too deeply.
    #[error("substitutions nest more than {} deep", parse::DEEPEST)]
    TooDeep,
    /// The variable is not there.
    #[error("variable not set (strict mode): \"{0}\"")]
    NotSet(String),
    /// The part that was asked for is none of the value's text.
    #[error("the substring of the variable '{0}' has a negative length or cuts a letter in two")]
    Substring(String),
}

impl Error {
    /// Something that is wrong with a substitution at a place in it.
    fn new(text: &str, start: usize, at: usize, problem: Problem) -> Error {
        let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1;
        Error { line, start, problem }
    }
}

/// So many mistakes of one text are told.
const MOST_ERRORS: usize = 100;

/// Names only: values may be secret.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.values.keys().collect::<Vec<_>>();
        f.debug_struct("Variables")
            .field("names", &names)
            .field("strict", &self.strict)
            .finish()
    }
}

impl Variables {
    /// Adds a variable, in place of one of the same name. Ends of lines in it are left out.
    pub fn insert(&mut self, name: impl Into<String>, value: &str) {
        self.values.insert(name.into(), value.replace('\n', ""));
    }

    /// Adds a variable with its value as it is, in place of one of the same name.
    pub fn insert_verbatim(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The names that no text could refer to.
    pub fn invalid_names(&self) -> impl Iterator<Item = &str> {
        let names = self.values.keys().map(String::as_str);
        names.filter(|name| !is_name(name))
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name).map(String::as_str);
        value.or((!self.strict).then_some(""))
    }

    /// A text with all substitutions made.
    ///
    /// # Errors
    /// Where a substitution cannot be read, or, if this is strict, where a variable is missing.
    pub fn substitute(&self, text: &str) -> Result<String, Error> {
        let parts = parse::parse(text, 0)?;
        let mut out = String::with_capacity(text.len());
        let appended = self.append(&parts, &mut out);
        appended.map_err(|(start, problem)| Error::new(text, start, start, problem))?;
        Ok(out)
    }

    /// All that [`substitute`](Variables::substitute) has to complain of, in the order of the text; of very many mistakes,
    /// the first ones.
    pub fn problems(&self, text: &str) -> Vec<Error> {
        let (parts, mut errors) = parse::parse_all(text, MOST_ERRORS);
        for part in &parts {
            if errors.len() >= 2 * MOST_ERRORS {
                break;
            }
            let failed = self.append(std::slice::from_ref(part), &mut String::new());
            errors.extend(
                failed
                    .err()
                    .map(|(start, problem)| Error::new(text, start, start, problem)),
            );
        }
        errors.sort_by_key(|error| error.start);
        errors.truncate(MOST_ERRORS);
        errors
    }

    fn append(&self, parts: &[Part], out: &mut String) -> Result<(), Failed> {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Substitution(substitution) => out.push_str(&self.value(substitution)?),
            }
        }
        Ok(())
    }

    fn value(&self, substitution: &Substitution) -> Result<String, Failed> {
        let Substitution {
            start,
            name,
            operator,
            arguments,
        } = substitution;
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let mut text = String::new();
            self.append(std::slice::from_ref(argument), &mut text)?;
            given.push(text);
        }
        let failed = |problem: Problem| (*start, problem);
        let value = match self.get(name) {
            Some(value) => value,
            None if value::is_default(operator) => "",
            None => return Err(failed(Problem::NotSet(name.clone()))),
        };
        value::apply(operator, value, &given).ok_or_else(|| failed(Problem::Substring(name.clone())))
    }
}

/// Where a substitution begins that fails, and why it does.
type Failed = (usize, Problem);

/// Whether a text can refer to a variable of this name.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter) && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}
