//! Strings.

use std::collections::HashSet;

use super::cast::{string_of, text_of};
use super::{ANY, INT, STR, made, wrap};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::print;
use crate::unicode;
use crate::utf8;
use crate::value::{List, Map, Type, Value};

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "hello",
            Function::new(&[], |_| Ok(Value::str(arcstr::literal!("Hello!")))),
        )
        .insert("trim", Function::new(&[STR], |call| sub(call, 0, trim_space)))
        .insert(
            "trimAll",
            Function::new(&[STR, STR], |call| sub(call, 1, |text, cut| trim_all(text, cut))),
        )
        .insert(
            "trimSuffix",
            Function::new(&[STR, STR], |call| {
                sub(call, 1, |text, end| text.strip_suffix(end).unwrap_or(text))
            }),
        )
        .insert(
            "trimPrefix",
            Function::new(&[STR, STR], |call| {
                sub(call, 1, |text, start| text.strip_prefix(start).unwrap_or(text))
            }),
        )
        .insert(
            "contains",
            Function::new(&[STR, STR], |call| {
                Ok(Value::Bool(find(call.bytes(1), call.bytes(0)).is_some()))
            }),
        )
        .insert(
            "hasPrefix",
            Function::new(&[STR, STR], |call| {
                Ok(Value::Bool(call.bytes(1).starts_with(call.bytes(0))))
            }),
        )
        .insert(
            "hasSuffix",
            Function::new(&[STR, STR], |call| {
                Ok(Value::Bool(call.bytes(1).ends_with(call.bytes(0))))
            }),
        )
        .insert("repeat", Function::new(&[INT, STR], repeat))
        .insert("substr", Function::new(&[INT, INT, STR], substring))
        .insert("trunc", Function::new(&[INT, STR], truncate))
        .insert(
            "abbrev",
            Function::new(&[INT, STR], |call| {
                let width = call.int(0);
                if width < 4 {
                    return Ok(call.arg(1).clone());
                }
                made(call, wrap::abbreviate(call.bytes(1), 0, width))
            }),
        )
        .insert(
            "abbrevboth",
            Function::new(&[INT, INT, STR], |call| {
                let (left, right) = (call.int(0), call.int(1));
                if right < 4 || (left > 0 && right < 7) {
                    return Ok(call.arg(2).clone());
                }
                made(call, wrap::abbreviate(call.bytes(2), left, right))
            }),
        )
        .insert(
            "wrap",
            Function::new(&[INT, STR], |call| {
                let out = wrap::wrap(
                    call.bytes(1),
                    call.int(0),
                    b"\n",
                    false,
                    call.session.memory_left(),
                )?;
                made(call, out)
            }),
        )
        .insert(
            "wrapWith",
            Function::new(&[INT, STR, STR], |call| {
                let line = if call.bytes(1).is_empty() {
                    b"\n"
                } else {
                    call.bytes(1)
                };
                let out = wrap::wrap(call.bytes(2), call.int(0), line, true, call.session.memory_left())?;
                made(call, out)
            }),
        )
        .insert("quote", Function::variadic(&[], ANY, quote))
        .insert("squote", Function::variadic(&[], ANY, squote))
        .insert("cat", Function::variadic(&[], ANY, cat))
        .insert("indent", Function::new(&[INT, STR], |call| indent(call, b"")))
        .insert("nindent", Function::new(&[INT, STR], |call| indent(call, b"\n")))
        .insert(
            "replace",
            Function::new(&[STR, STR, STR], |call| {
                let out = replace(
                    call.bytes(2),
                    call.bytes(0),
                    call.bytes(1),
                    call.session.memory_left(),
                )?;
                made(call, out)
            }),
        )
        .insert(
            "plural",
            Function::new(&[STR, STR, INT], |call| {
                Ok(call.arg(usize::from(call.int(2) != 1)).clone())
            }),
        )
        .insert(
            "nospace",
            Function::new(&[STR], |call| {
                let out = wrap::delete_spaces(call.bytes(0));
                made(call, out)
            }),
        )
        .insert(
            "initials",
            Function::new(&[STR], |call| {
                let out = wrap::initials(call.bytes(0));
                made(call, out)
            }),
        )
        .insert(
            "toString",
            Function::new(&[ANY], |call| match call.arg(0) {
                text @ (Value::Str(_) | Value::Raw(_)) => Ok(text.clone()),
                other => {
                    let out = string_of(call, other)?.into_owned();
                    made(call, out)
                }
            }),
        )
        .insert(
            "toStrings",
            Function::new(&[ANY], |call| strings(call, call.arg(0)).map(Value::List)),
        )
        .insert("join", Function::new(&[STR, ANY], join))
        .insert("sortAlpha", Function::new(&[ANY], sort_alpha))
        .insert(
            "split",
            Function::new(&[STR, STR], |call| split(call, call.bytes(1), -1)),
        )
        .insert(
            "splitn",
            Function::new(&[STR, INT, STR], |call| split(call, call.bytes(2), call.int(1))),
        )
        .insert(
            "splitList",
            Function::new(&[STR, STR], |call| {
                let parts = parts(call, call.bytes(1), call.bytes(0), -1)?;
                list_of(call, parts)
            }),
        );
    functions.alias("trimall", "trimAll");
}

/// A part of the argument after the first, or of the only one; nothing is copied where nothing is cut off.
fn sub(
    call: &mut Call<'_, '_>,
    of: usize,
    cut: impl for<'t> FnOnce(&'t str, &str) -> &'t str,
) -> Result<Value, Error> {
    let text = call.str(of);
    let part = cut(&text, &call.str(0));
    if part.len() == text.len() {
        return Ok(call.arg(of).clone());
    }
    call.session.charge(part.len())?;
    Ok(Value::str(part))
}

fn trim_space<'t>(text: &'t str, _: &str) -> &'t str {
    text.trim_matches(unicode::is_space)
}

fn trim_all<'t>(text: &'t str, cut: &str) -> &'t str {
    let cut: HashSet<char> = cut.chars().collect();
    text.trim_matches(|char: char| cut.contains(&char))
}

/// Where a text is inside of another.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

fn repeat(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let count = usize::try_from(call.int(0)).map_err(|_| "strings: negative Repeat count")?;
    let text = call.bytes(1);
    call.session.charge(text.len().saturating_mul(count))?;
    Ok(Value::string_of_vec(text.repeat(count)))
}

fn substring(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let (start, end, text) = (call.int(0), call.int(1), call.bytes(2));
    let length = text.len() as i64;
    let (from, to) = match (start, end) {
        (..0, _) => (0, end),
        (_, end) if end < 0 || end > length => (start, length),
        _ => (start, end),
    };
    let part = bounded(text, from, to, start < 0, end < 0 || end > length)?;
    made(call, part.to_vec())
}

/// `text[from:to]`, or what Go panics with.
fn bounded(text: &[u8], from: i64, to: i64, no_start: bool, no_end: bool) -> Result<&[u8], Error> {
    let length = text.len() as i64;
    let fail = |what: String| {
        Err(Error::new(format!(
            "runtime error: slice bounds out of range {what}"
        )))
    };
    if no_start || !no_end {
        if to < 0 || to > length {
            // Go shows a negative bound without the length it is beyond.
            return match to < 0 {
                true => fail(format!("[:{to}]")),
                false => fail(format!("[:{to}] with length {length}")),
            };
        }
        if from > to {
            return fail(format!("[{from}:{to}]"));
        }
    } else if from > length {
        return fail(format!("[{from}:{length}]"));
    }
    Ok(&text[from as usize..to as usize])
}

fn truncate(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let (count, text) = (call.int(0), call.bytes(1));
    let length = text.len() as i64;
    let part = match count {
        ..0 if length.saturating_add(count) > 0 => &text[(length + count) as usize..],
        0.. if length > count => &text[..count as usize],
        _ => return Ok(call.arg(1).clone()),
    };
    made(call, part.to_vec())
}

fn quote(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut out = Vec::new();
    for arg in call.args().iter().filter(|arg| !arg.is_nothing()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        let text = string_of(call, arg)?;
        call.session.expands(out.len() + text.len())?;
        out.extend(print::quote::quote(&text, false));
    }
    made(call, out)
}

fn squote(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut out = Vec::new();
    for arg in call.args().iter().filter(|arg| !arg.is_nothing()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.push(b'\'');
        let room = call.session.memory_left().saturating_sub(out.len());
        print::print_value(&mut out, arg, room)?;
        out.push(b'\'');
    }
    made(call, out)
}

fn cat(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut out = Vec::new();
    for (index, arg) in call.args().iter().filter(|arg| !arg.is_nothing()).enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        let room = call.session.memory_left().saturating_sub(out.len());
        print::print_value(&mut out, arg, room)?;
    }
    made(call, out)
}

fn indent(call: &mut Call<'_, '_>, before: &[u8]) -> Result<Value, Error> {
    let width = usize::try_from(call.int(0)).map_err(|_| "strings: negative Repeat count")?;
    let text = call.bytes(1);
    let lines = memchr::memchr_iter(b'\n', text).count();
    let length = width
        .saturating_mul(lines + 1)
        .saturating_add(text.len() + before.len());
    call.session.charge(length)?;
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(before);
    out.resize(out.len() + width, b' ');
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        out.extend_from_slice(&text[start..=end]);
        out.resize(out.len() + width, b' ');
        start = end + 1;
    }
    out.extend_from_slice(&text[start..]);
    Ok(Value::string_of_vec(out))
}

/// `strings.ReplaceAll`: an empty text is found before each character and at the end.
fn replace(text: &[u8], old: &[u8], new: &[u8], room: usize) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(text.len());
    let found: Vec<usize> = match old {
        [] => utf8::runes(text)
            .map(|(at, _, _)| at)
            .chain([text.len()])
            .collect(),
        _ => memchr::memmem::find_iter(text, old).collect(),
    };
    if new.len().saturating_mul(found.len()).saturating_add(text.len()) > room {
        return Err(Error::limit("more would be made than the limits allow"));
    }
    let mut start = 0;
    for at in found {
        out.extend_from_slice(&text[start..at]);
        out.extend_from_slice(new);
        start = at + old.len();
    }
    out.extend_from_slice(&text[start..]);
    Ok(out)
}

/// Sprig's `strslice`: the items that are not nil as strings. A `[]string` is given back as it is.
fn strings(call: &mut Call<'_, '_>, value: &Value) -> Result<List, Error> {
    if let Value::List(list) = value
        && list.element() == Type::String
    {
        return Ok(list.clone());
    }
    let mut texts = Vec::new();
    match value.items() {
        Some(items) => {
            call.session.work(size_of_val(&*items))?;
            for item in items.iter().filter(|item| !item.is_nothing()) {
                let text = string_of(call, item)?.into_owned();
                call.session.charge(text.len() + PART)?;
                texts.push(Value::string_of_vec(text));
            }
        }
        None if value.is_nothing() => {}
        None => {
            let text = string_of(call, value)?.into_owned();
            texts.push(Value::string_of_vec(text));
        }
    }
    Ok(List::of(Type::String, texts))
}

fn join(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let texts = strings(call, call.arg(1))?;
    call.session.work(size_of_val(texts.items()))?;
    let separator = call.bytes(0);
    let mut out = Vec::new();
    for (index, text) in texts.items().iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(text.as_bytes().unwrap_or_default());
        if out.len() > call.session.memory_left() {
            break;
        }
    }
    made(call, out)
}

fn sort_alpha(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let value = call.arg(0);
    if value.items().is_none() {
        let text = text_of(call, value)?;
        return Ok(Value::strings([text]));
    }
    let list = strings(call, value)?;
    let size: usize = list
        .items()
        .iter()
        .map(|item| item.text_size() + size_of::<Value>())
        .sum();
    // Each text is compared about as often as the list can be halved.
    let rounds = list.len().max(1).ilog2() as usize + 1;
    call.session.work(size.saturating_mul(rounds))?;
    call.session.charge(List::size(list.len()))?;
    list.sort_in_place(|items| items.sort_by(|a, b| a.as_bytes().cmp(&b.as_bytes())));
    Ok(Value::List(list))
}

/// `strings.SplitN`
fn parts<'t>(
    call: &Call<'_, '_>,
    text: &'t [u8],
    separator: &[u8],
    count: i64,
) -> Result<Vec<&'t [u8]>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // Each part takes much more than its text, and there may be as many as there are bytes.
    let most = text.len() / separator.len().max(1) + 1;
    if most > SMALL {
        let found = match separator {
            [] => most,
            _ => memchr::memmem::find_iter(text, separator).count(),
        };
        call.session.fits(found.saturating_mul(PART))?;
    }
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut start = 0;
    if separator.is_empty() {
        for (at, length, _) in utf8::runes(text) {
            if parts.len() + 1 == most {
                break;
            }
            parts.push(&text[at..at + length]);
            start = at + length;
        }
        if start < text.len() {
            parts.push(&text[start..]);
        }
        return Ok(parts);
    }
    for at in memchr::memmem::find_iter(text, separator) {
        if parts.len() + 1 == most {
            break;
        }
        parts.push(&text[start..at]);
        start = at + separator.len();
    }
    parts.push(&text[start..]);
    Ok(parts)
}

/// The parts of a text that are not counted before they are made.
const SMALL: usize = 1 << 12;

/// The bytes that a part of a text takes as an item of a list, beside its own.
const PART: usize = 56;

/// A `[]string` of these.
pub(super) fn list_of(call: &mut Call<'_, '_>, parts: Vec<&[u8]>) -> Result<Value, Error> {
    let size: usize = parts.iter().map(|part| part.len() + PART).sum();
    call.session.charge(size)?;
    let items = parts.into_iter().map(Value::string_of_bytes).collect();
    Ok(Value::List(List::of(Type::String, items)))
}

/// `_0`, `_1` and so on in a `map[string]string`.
fn split(call: &mut Call<'_, '_>, text: &[u8], count: i64) -> Result<Value, Error> {
    let parts = parts(call, text, call.bytes(0), count)?;
    let texts: usize = parts.iter().map(|part| part.len() + PART).sum();
    let size = texts + Map::size(parts.len());
    call.session.charge(size)?;
    let map = Map::of(Type::String);
    for (index, part) in parts.into_iter().enumerate() {
        map.insert(format!("_{index}"), Value::string_of_bytes(part));
    }
    Ok(Value::Map(map))
}
