//! What a scalar means, by go-yaml v2's rules.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use model::{Str, Value};

use crate::error::Telling;
use crate::events::Scalar as Source;
use crate::go::unsupported;
use crate::number::{format_float32, parse_float, parse_int, parse_uint};
use crate::word::Word;

/// A scalar with the type it has in Go, before it is turned into JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// A number that only an unsigned 64-bit integer can hold.
    Uint(u64),
    Float(f64),
    Str(Str),
}

const TAGS: &str = "tag:yaml.org,2002:";

/// Finds out what a scalar means. The error is go-yaml's, without a line.
pub(crate) fn resolve(source: &Source<'_>) -> Result<Scalar, Telling> {
    let text = &source.text;
    let Some(tag) = source.tag.as_deref().filter(|tag| !tag.is_empty()) else {
        return Ok(if source.plain { plain(text) } else { string(text) });
    };
    let Some(name) = tag.strip_prefix(TAGS) else {
        return Ok(string(text));
    };
    let meant = match name {
        "str" => return Ok(string(text)),
        "binary" => return binary(text),
        "bool" | "int" | "float" | "null" => plain(text),
        // A time stays the string it is.
        "timestamp" if is_timestamp(text) => return Ok(string(text)),
        "timestamp" => plain(text),
        _ => return Ok(string(text)),
    };
    match (name, meant) {
        ("float", Scalar::Int(number)) => Ok(Scalar::Float(number as f64)),
        (name, meant) if tag_name(&meant, text) == name => Ok(meant),
        (name, meant) => Err(Telling {
            go: format!(
                "cannot decode !!{} `{text}` as a !!{name}",
                tag_name(&meant, text)
            ),
            masked: "cannot decode a value as its tag says: mend the value or take the tag away",
        }),
    }
}

/// Whether a scalar in the place of a key says that another map is to be merged in.
pub(crate) fn is_merge(source: &Source<'_>) -> bool {
    let merge_tag = source.tag.as_deref().and_then(|tag| tag.strip_prefix(TAGS)) == Some("merge");
    source.text == "<<" && (source.plain || merge_tag)
}

fn string(text: &str) -> Scalar {
    Scalar::Str(Str::new(text))
}

fn tag_name(scalar: &Scalar, text: &str) -> &'static str {
    match scalar {
        Scalar::Null => "null",
        Scalar::Bool(_) => "bool",
        Scalar::Int(_) | Scalar::Uint(_) => "int",
        Scalar::Float(_) => "float",
        Scalar::Str(_) if is_timestamp(text) => "timestamp",
        Scalar::Str(_) => "str",
    }
}

/// Whether a text without quotes is the string that it looks like. Times are strings here.
pub(crate) fn means_itself(text: &str) -> bool {
    matches!(plain(text), Scalar::Str(_))
}

pub(crate) fn plain(text: &str) -> Scalar {
    // The first byte decides most: nearly all plain scalars are words that mean themselves.
    let meant = match text.as_bytes().first() {
        None | Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'.') => word(text).or_else(|| dotted(text).map(Scalar::Float)),
        Some(b'+' | b'-' | b'0'..=b'9') => word(text).or_else(|| number(text)),
        Some(_) => None,
    };
    meant.unwrap_or_else(|| string(text))
}

fn word(text: &str) -> Option<Scalar> {
    Some(match crate::word::word(text)? {
        Word::Null => Scalar::Null,
        Word::Bool(flag) | Word::OldBool(flag) => Scalar::Bool(flag),
        Word::Float(number) => Scalar::Float(number),
    })
}

/// A float that begins with its point. Here alone underscores count as in Go: between digits.
pub(crate) fn dotted(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let misplaced =
        |(at, &byte): (usize, &u8)| byte == b'_' && !(digit(at.checked_sub(1)) && digit(at.checked_add(1)));
    if bytes.iter().enumerate().any(misplaced) {
        return None;
    }
    parse_float(&text.replace('_', ""))
}

fn number(text: &str) -> Option<Scalar> {
    let digits = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    parse_int(&digits)
        .map(Scalar::Int)
        .or_else(|| parse_uint(&digits).map(Scalar::Uint))
        .or_else(|| parse_float(&digits).map(Scalar::Float))
        .or_else(|| odd_binary(&digits))
}

/// go-yaml reads the digits after `0b` once more by themselves, where a sign may stand.
fn odd_binary(text: &str) -> Option<Scalar> {
    let digits = match text.strip_prefix("-0b") {
        Some(digits) => format!("-{digits}"),
        None => text.strip_prefix("0b")?.to_owned(),
    };
    i64::from_str_radix(&digits, 2).ok().map(Scalar::Int)
}

/// Whether this looks like a date, alone or with a time.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[5..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || b"-:.+ TtZ".contains(byte))
        && bytes[5..].iter().filter(|&&byte| byte == b'-').count() >= 1
}

fn binary(text: &str) -> Result<Scalar, Telling> {
    let strict = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true);
    let compact = text.replace(['\r', '\n'], "");
    let decoded = GeneralPurpose::new(&STANDARD, strict).decode(compact);
    let bytes = decoded.map_err(|_| {
        let masked = "!!binary value contains invalid base64 data";
        Telling {
            go: masked.to_owned(),
            masked,
        }
    })?;
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Ok(Scalar::Str(Str::from(out)))
}

impl Scalar {
    /// The value that comes out of the JSON that Go writes, and the complaint of its JSON writer where there is none.
    pub(crate) fn into_value(self) -> (Value, Option<&'static str>) {
        let value = match self {
            Scalar::Null => Value::Null,
            Scalar::Bool(flag) => Value::Bool(flag),
            Scalar::Int(number) => Value::Int(number),
            Scalar::Uint(number) => Value::Float(number as f64),
            Scalar::Float(number) => match unsupported(number) {
                None => float(number),
                problem => return (Value::Null, problem),
            },
            Scalar::Str(text) => Value::Str(text),
        };
        (value, None)
    }

    /// The key of a map that this becomes; `None` for what cannot be one.
    pub(crate) fn as_key(&self) -> Option<Str> {
        Some(match self {
            Scalar::Str(text) => text.clone(),
            Scalar::Bool(flag) => Str::new(if *flag { "true" } else { "false" }),
            Scalar::Int(number) => Str::from(number.to_string()),
            Scalar::Float(number) => Str::from(format_float32(*number)),
            Scalar::Null | Scalar::Uint(_) => return None,
        })
    }
}

/// A float without a fraction is written without a point, and so read back as a whole number.
fn float(number: f64) -> Value {
    // The largest float below 2^63 and the smallest one not below -2^63 are exact.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if fits && number.fract() == 0.0 {
        // What is written are the shortest digits, then zeros: beyond 2^53 these need not be the exact ones.
        if let Ok(whole) = number.to_string().parse() {
            return Value::Int(whole);
        }
    }
    Value::Float(number)
}
