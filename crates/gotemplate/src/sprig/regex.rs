//! Regular expressions in Go's syntax.

use model::regexp::Regexp;

use super::{INT, STR, made};
use crate::error::{Error, ErrorKind};
use crate::function::{Call, Function, Functions};
use crate::print::quote;
use crate::value::{List, Type, Value};

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "regexMatch",
            Function::new(&[STR, STR], |call| match call.session.regexp(&call.str(0)) {
                Ok(regexp) => is_match(call, &regexp),
                Err(error) if error.kind() == ErrorKind::Limit => Err(error),
                Err(_) => Ok(Value::Bool(false)),
            }),
        )
        .insert(
            "mustRegexMatch",
            Function::new(&[STR, STR], |call| {
                let regexp = call.session.regexp(&call.str(0))?;
                is_match(call, &regexp)
            }),
        )
        .insert(
            "regexQuoteMeta",
            Function::new(&[STR], |call| {
                let mut quoted = Vec::new();
                // What is no character is none that has a meaning.
                for chunk in call.bytes(0).utf8_chunks() {
                    quoted.extend_from_slice(model::regexp::quote_meta(chunk.valid()).as_bytes());
                    quoted.extend_from_slice(chunk.invalid());
                }
                made(call, quoted)
            }),
        );
    both(
        functions,
        "regexFind",
        "mustRegexFind",
        &[STR, STR],
        |call, regexp| {
            let text = call.str(1);
            call.session.search(regexp, &text)?;
            let found = regexp.matches(&text).next();
            made(
                call,
                found.map_or(Vec::new(), |range| text[range].as_bytes().to_vec()),
            )
        },
    );
    both(
        functions,
        "regexFindAll",
        "mustRegexFindAll",
        &[STR, STR, INT],
        find_all,
    );
    both(
        functions,
        "regexReplaceAll",
        "mustRegexReplaceAll",
        &[STR, STR, STR],
        |call, regexp| {
            let template = call.str(2);
            replace(call, regexp, |captures, out| {
                expand(regexp, &template, captures, out)
            })
        },
    );
    both(
        functions,
        "regexReplaceAllLiteral",
        "mustRegexReplaceAllLiteral",
        &[STR, STR, STR],
        |call, regexp| {
            let literal = call.str(2);
            replace(call, regexp, |_, out| out.push_str(&literal))
        },
    );
    both(functions, "regexSplit", "mustRegexSplit", &[STR, STR, INT], split);
}

type Run = fn(&mut Call<'_, '_>, &Regexp) -> Result<Value, Error>;

/// Functions that differ in what they say to an expression that is none.
fn both(
    functions: &mut Functions,
    name: &'static str,
    must: &'static str,
    params: &'static [Type],
    run: Run,
) {
    functions
        .insert(
            name,
            Function::new(params, move |call| {
                let text = call.str(0);
                let regexp = call.session.regexp(&text).map_err(|error| {
                    if error.kind() == ErrorKind::Limit {
                        return error;
                    }
                    let quoted = match quote::can_backquote(text.as_bytes()) {
                        true => format!("`{text}`"),
                        false => model::quote::quote(&text),
                    };
                    Error::new(format!("regexp: Compile({quoted}): {error}"))
                })?;
                run(call, &regexp)
            }),
        )
        .insert(
            must,
            Function::new(params, move |call| {
                let regexp = call.session.regexp(&call.str(0))?;
                run(call, &regexp)
            }),
        );
}

fn is_match(call: &mut Call<'_, '_>, regexp: &Regexp) -> Result<Value, Error> {
    let text = call.str(1);
    call.session.search(regexp, &text)?;
    Ok(Value::Bool(regexp.is_match(&text)))
}

fn limit(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn find_all(call: &mut Call<'_, '_>, regexp: &Regexp) -> Result<Value, Error> {
    let text = call.str(1);
    call.session.search(regexp, &text)?;
    let mut found: Vec<&[u8]> = Vec::new();
    for range in regexp.matches(&text).take(limit(call.int(2))) {
        call.session.found(text.len() - range.end)?;
        call.session.fits(found.len() * MATCH)?;
        found.push(text[range].as_bytes());
    }
    if found.is_empty() {
        return Ok(Value::List(List::nil(Type::String)));
    }
    super::strings::list_of(call, found)
}

/// What a match counts beside the text that takes its place: it takes as long as that many bytes.
const MATCH: usize = 64;

fn replace(
    call: &mut Call<'_, '_>,
    regexp: &Regexp,
    mut put: impl FnMut(&model::regexp::Captures<'_>, &mut String),
) -> Result<Value, Error> {
    let text = call.str(1);
    call.session.search(regexp, &text)?;
    // While it grows it may take twice its room, and what it becomes is a copy.
    let room = call.session.memory_left() / 4;
    let mut out = String::with_capacity(text.len());
    let (mut start, mut matches) = (0, 0_usize);
    for captures in regexp.captures(&text) {
        let Some(found) = captures.get(0) else {
            continue;
        };
        // Where a group was is found out in a second, slower search of the match.
        call.session.work(found.len().saturating_mul(captures.len()))?;
        call.session.found(text.len() - found.end())?;
        out.push_str(&text[start..found.start()]);
        let before = out.len();
        put(&captures, &mut out);
        call.session.work(out.len() - before)?;
        start = found.end();
        matches += 1;
        if out.len().saturating_add(matches * MATCH) > room {
            return Err(Error::limit("more would be made than the limits allow"));
        }
    }
    out.push_str(&text[start..]);
    drop(text);
    call.session.charge(matches * MATCH)?;
    made(call, out.into_bytes())
}

/// `$1`, `${name}` and `$$`. What a group has not found is empty, as is a group that there is not.
fn expand(regexp: &Regexp, template: &str, captures: &model::regexp::Captures<'_>, out: &mut String) {
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let Some((name, after)) = group_name(rest) else {
            out.push('$');
            continue;
        };
        rest = after;
        let is_number =
            name.bytes().all(|byte| byte.is_ascii_digit()) && !(name.len() > 1 && name.starts_with('0'));
        let index = match is_number {
            true => name.parse().ok(),
            false => regexp.group(name),
        };
        let group = index.and_then(|index: usize| captures.get(index));
        out.push_str(group.map_or("", |group| group.as_str()));
    }
    out.push_str(rest);
}

/// The name after a `$`, and what follows it.
fn group_name(text: &str) -> Option<(&str, &str)> {
    let (inner, braced) = match text.strip_prefix('{') {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let end = inner
        .find(|char: char| !crate::unicode::is_alphanumeric(char))
        .unwrap_or(inner.len());
    let (name, after) = inner.split_at(end);
    if name.is_empty() {
        return None;
    }
    match braced {
        true => Some((name, after.strip_prefix('}')?)),
        false => Some((name, after)),
    }
}

fn split(call: &mut Call<'_, '_>, regexp: &Regexp) -> Result<Value, Error> {
    let text = call.str(1);
    let count = call.int(2);
    if count == 0 {
        return Ok(Value::List(List::nil(Type::String)));
    }
    if !regexp.as_str().is_empty() && text.is_empty() {
        return Ok(Value::strings([""]));
    }
    call.session.search(regexp, &text)?;
    let mut parts: Vec<&[u8]> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for found in regexp.matches(&text).take(limit(count)) {
        call.session.found(text.len() - found.end)?;
        call.session.fits(parts.len() * MATCH)?;
        if count > 0 && parts.len() as i64 == count - 1 {
            break;
        }
        end = found.start;
        if found.end != 0 {
            parts.push(text[begin..end].as_bytes());
        }
        begin = found.end;
    }
    if end != text.len() {
        parts.push(text[begin..].as_bytes());
    }
    super::strings::list_of(call, parts)
}
