//! Scalars on one line.

use std::borrow::Cow;

use model::{Str, Value};

use super::{Keep, Reader, is_blank};
use crate::resolve;
use crate::word::{Word, word};

impl Reader<'_> {
    /// The value that begins on this line, in a list or map in this column; goes on to the line after it.
    pub(super) fn value(&mut self, rest: &str, column: usize, keep: Keep<'_>) -> Option<Value> {
        let value = match rest.as_bytes()[0] {
            b'|' | b'>' => {
                let value = self.text(rest, column, keep)?;
                return self.is_end(column).then_some(value);
            }
            b'"' | b'\'' => {
                let (text, after) = quoted(rest)?;
                if !is_rest(after) {
                    return None;
                }
                string(&text, keep)
            }
            b'[' | b'{' => super::flow::read(rest, keep)?,
            _ => plain(rest, keep)?,
        };
        self.advance()?;
        self.is_end(column).then_some(value)
    }

    /// Whether the scalar does not go on here.
    fn is_end(&self, column: usize) -> bool {
        self.is_over || self.column <= column
    }
}

/// Whether there is nothing after a value but space, and after that perhaps a comment.
pub(super) fn is_rest(after: &str) -> bool {
    after.is_empty() || after.starts_with(' ') && is_blank(after.trim_start_matches(' '))
}

pub(super) fn string(text: &str, keep: Keep<'_>) -> Value {
    match keep.is_nothing() {
        true => Value::Null,
        false => Value::Str(Str::new(text)),
    }
}

/// A text in quotes, and what is after it on its line.
pub(super) fn quoted(line: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = line.as_bytes()[0];
    let inner = &line[1..];
    let stop = |text: &str| match quote {
        b'"' => memchr::memchr2(b'"', b'\\', text.as_bytes()),
        _ => memchr::memchr(b'\'', text.as_bytes()),
    };
    let mut at = stop(inner)?;
    let mut written: Option<String> = None;
    loop {
        let after = &inner[at + 1..];
        let meant = match (inner.as_bytes()[at], after.as_bytes().first()) {
            (b'\\', Some(b'n')) => "\n",
            (b'\\', Some(b't')) => "\t",
            (b'\\', Some(b'"')) => "\"",
            (b'\\', Some(b'\\')) => "\\",
            (b'\'', Some(b'\'')) => "'",
            (b'\\', _) => return None,
            _ => {
                let text = match written {
                    Some(_) => Cow::Owned(written?),
                    None => Cow::Borrowed(&inner[..at]),
                };
                return Some((text, after));
            }
        };
        let mut text = written.unwrap_or_else(|| inner[..at].to_owned());
        text.push_str(meant);
        let begin = at + 2;
        at = begin + stop(&inner[begin..])?;
        text.push_str(&inner[begin..at]);
        written = Some(text);
    }
}

/// A word or several without quotes.
pub(super) fn plain(rest: &str, keep: Keep<'_>) -> Option<Value> {
    let bytes = rest.as_bytes();
    let begins = match bytes[0] {
        b'-' | b'?' | b':' => bytes.get(1).is_some_and(|next| *next != b' '),
        b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b',' | b'[' | b']' | b'{' | b'}' | b'#' => false,
        _ => true,
    };
    if !begins {
        return None;
    }
    let mut end = bytes.len();
    for at in memchr::memchr2_iter(b':', b'#', bytes) {
        match bytes[at] {
            b':' if matches!(bytes.get(at + 1), None | Some(b' ')) => return None,
            b'#' if at > 0 && bytes[at - 1] == b' ' => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    meant(rest[..end].trim_end_matches(' '), keep)
}

/// What a plain text means.
pub(super) fn meant(text: &str, keep: Keep<'_>) -> Option<Value> {
    if keep.is_nothing() {
        // JSON has no form for some floats.
        return (!matches!(word(text), Some(Word::Float(_)))).then_some(Value::Null);
    }
    match resolve::plain(text).into_value() {
        (value, None) => Some(value),
        _ => None,
    }
}
