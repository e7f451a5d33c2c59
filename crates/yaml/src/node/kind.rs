//! What a scalar means, by go-yaml v3's rules.

use base64::Engine;
use model::Str;

use crate::number::{parse_float, parse_int, parse_uint};
use crate::resolve::dotted;
use crate::timestamp::Timestamp;
use crate::word::{Word, word};

/// What a scalar is, beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// Nothing at all between brackets (`{a: , b: 1}`). That is null as well, but go-yaml writes it as an empty string.
    Void,
    /// A boolean of YAML 1.2; `yes` and `on` are strings.
    Bool,
    /// A whole number in any notation.
    Int,
    /// Any other number.
    Float,
    /// A date or time without quotes.
    Timestamp,
    /// Base64 with the tag `!!binary`.
    Binary,
    /// A string without quotes, even if it looks like something else: transformers set such texts.
    Plain,
    /// A string in quotes or a block.
    Quoted,
    /// A string because the tag `!!str` says so.
    Tagged,
}

impl Kind {
    /// What a text without quotes means.
    pub fn of(text: &str) -> Kind {
        match text.as_bytes().first() {
            // The first byte decides most: nearly all texts are strings.
            None | Some(b't' | b'T' | b'f' | b'F' | b'n' | b'N' | b'~') => {
                Kind::of_word(text).unwrap_or(Kind::Plain)
            }
            Some(b'.') => match Kind::of_word(text) {
                Some(kind) => kind,
                None if dotted(text).is_some() => Kind::Float,
                None => Kind::Plain,
            },
            Some(b'+' | b'-' | b'0'..=b'9') => number(text),
            Some(_) => Kind::Plain,
        }
    }

    fn of_word(text: &str) -> Option<Kind> {
        match word(text)? {
            Word::Null => Some(Kind::Null),
            Word::Bool(_) => Some(Kind::Bool),
            Word::OldBool(_) => None,
            Word::Float(_) => Some(Kind::Float),
        }
    }

    /// What a tag says that a text is.
    pub(crate) fn tagged(tag: &str, text: &str) -> Kind {
        match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("null") => Kind::Null,
            Some("bool") => Kind::Bool,
            Some("int") => Kind::Int,
            Some("float") => Kind::Float,
            Some("timestamp") => Kind::Timestamp,
            Some("binary") => Kind::Binary,
            Some("str") => Kind::Tagged,
            None if tag == "!" => Kind::of(text),
            _ => Kind::Quoted,
        }
    }

    /// Whether this is a string, however it was written.
    pub fn is_str(self) -> bool {
        matches!(self, Kind::Plain | Kind::Quoted | Kind::Tagged)
    }

    /// What a string becomes that is written over something of this kind as kyaml does it: how that was written stays.
    pub fn string_over(self) -> Kind {
        match self {
            Kind::Quoted => Kind::Quoted,
            Kind::Tagged => Kind::Tagged,
            _ => Kind::Plain,
        }
    }

    /// Whether there is nothing.
    pub fn is_null(self) -> bool {
        matches!(self, Kind::Null | Kind::Void)
    }

    /// The name of the tag.
    pub fn tag(self) -> &'static str {
        match self {
            Kind::Null | Kind::Void => "!!null",
            Kind::Bool => "!!bool",
            Kind::Int => "!!int",
            Kind::Float => "!!float",
            Kind::Timestamp => "!!timestamp",
            Kind::Binary => "!!binary",
            Kind::Plain | Kind::Quoted | Kind::Tagged => "!!str",
        }
    }
}

fn number(text: &str) -> Kind {
    if Timestamp::parse(text).is_some() {
        return Kind::Timestamp;
    }
    if let Some(kind) = Kind::of_word(text) {
        return kind;
    }
    let digits = text.replace('_', "");
    if parse_int(&digits).is_some() || parse_uint(&digits).is_some() {
        Kind::Int
    } else if parse_float(&digits).is_some() {
        Kind::Float
    } else {
        Kind::Plain
    }
}

/// A scalar as JSON has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number that needs all of 64 bits.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// A string that is not the text itself.
    Str(Str),
    /// The text itself.
    Text,
}

/// What `text`, being of `kind`, stands for. The error is go-yaml's but for the text, which may be a secret.
pub(crate) fn meaning(kind: Kind, text: &str) -> Result<Meaning, String> {
    let wrong = || format!("cannot decode {} as a {}", Kind::of(text).tag(), kind.tag());
    Ok(match kind {
        Kind::Plain | Kind::Quoted | Kind::Tagged | Kind::Void => Meaning::Text,
        Kind::Null => match Kind::of(text) {
            Kind::Null => Meaning::Null,
            _ => return Err(wrong()),
        },
        Kind::Bool => match word(text) {
            Some(Word::Bool(flag)) => Meaning::Bool(flag),
            _ => return Err(wrong()),
        },
        Kind::Int => {
            let digits = text.replace('_', "");
            match (parse_int(&digits), parse_uint(&digits)) {
                (Some(number), _) => Meaning::Int(number),
                (None, Some(number)) => Meaning::Uint(number),
                _ => return Err(wrong()),
            }
        }
        Kind::Float => Meaning::Float(float(text).ok_or_else(wrong)?),
        Kind::Timestamp => Meaning::Str(Timestamp::parse(text).ok_or_else(wrong)?.to_rfc3339().into()),
        Kind::Binary => {
            let compact: String = text
                .chars()
                .filter(|character| !character.is_ascii_whitespace())
                .collect();
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(compact)
                .map_err(|_| "!!binary value contains invalid base64 data".to_owned())?;
            Meaning::Str(String::from_utf8_lossy(&bytes).as_ref().into())
        }
    })
}

fn float(text: &str) -> Option<f64> {
    match word(text) {
        Some(Word::Float(number)) => Some(number),
        _ if text.starts_with('.') => dotted(text),
        _ => {
            let digits = text.replace('_', "");
            // go-yaml makes floats of whole numbers, but not of those that need all of 64 bits.
            let is_unsigned = parse_int(&digits).is_none() && parse_uint(&digits).is_some();
            parse_float(&digits).filter(|_| !is_unsigned)
        }
    }
}
