//! Sets of characters: read as Go reads them, and written so that nobody can misread them.

use std::fmt::Write as _;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::error::{Error, Problem};
use super::{escape, unicode};

/// Names of classes and what is in them; the first three are also written `\d`, `\s` and `\w`.
const NAMED: [(&str, &[(u8, u8)]); 15] = [
    ("digit", &[(b'0', b'9')]),
    ("perl space", &[(b'\t', b'\n'), (b'\x0c', b'\r'), (b' ', b' ')]),
    ("word", &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]),
    ("alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    ("alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    ("ascii", &[(0, 0x7f)]),
    ("blank", &[(b'\t', b'\t'), (b' ', b' ')]),
    ("cntrl", &[(0, 0x1f), (0x7f, 0x7f)]),
    ("graph", &[(b'!', b'~')]),
    ("lower", &[(b'a', b'z')]),
    ("print", &[(b' ', b'~')]),
    ("punct", &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')]),
    ("space", &[(b'\t', b'\r'), (b' ', b' ')]),
    ("upper", &[(b'A', b'Z')]),
    ("xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

/// Writes a set.
pub(super) fn write(class: &ClassUnicode, out: &mut String) {
    let put = |out: &mut String, char: char| {
        let _ = match char {
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '_' => write!(out, "{char}"),
            _ => write!(out, r"\x{{{:X}}}", u32::from(char)),
        };
    };
    match class.ranges() {
        // Nothing at all: what is not among all characters.
        [] => out.push_str(r"[^\x00-\x{10FFFF}]"),
        [one] if one.start() == one.end() => put(out, one.start()),
        ranges => {
            out.push('[');
            for range in ranges {
                put(out, range.start());
                if range.start() != range.end() {
                    out.push('-');
                    put(out, range.end());
                }
            }
            out.push(']');
        }
    }
}

/// The characters of a range, without the halves of surrogate pairs, which are in no text.
pub(super) fn range(low: u32, high: u32, fold: bool) -> ClassUnicode {
    let low = char::from_u32(low).unwrap_or('\u{e000}');
    let high = char::from_u32(high).unwrap_or('\u{d7ff}');
    let mut class = ClassUnicode::empty();
    if low <= high {
        class.push(ClassUnicodeRange::new(low, high));
    }
    folded(class, fold, false)
}

/// The set with the other cases of its characters, and then its opposite.
fn folded(mut class: ClassUnicode, fold: bool, negate: bool) -> ClassUnicode {
    if fold {
        // It fails only where the crate was built without its tables.
        let _ = class.try_case_fold_simple();
    }
    if negate {
        class.negate();
    }
    class
}

fn ascii(name: &str, fold: bool, negate: bool) -> Option<ClassUnicode> {
    let (_, ranges) = NAMED.iter().find(|(known, _)| *known == name)?;
    let ranges = ranges
        .iter()
        .map(|(low, high)| ClassUnicodeRange::new(char::from(*low), char::from(*high)));
    Some(folded(ClassUnicode::new(ranges), fold, negate))
}

type Read<'t> = Result<Option<(ClassUnicode, &'t str)>, Error>;

/// Reads `\d`, `\pL`, `\p{Greek}` and the like at the start of a text; nothing if it starts otherwise.
pub(super) fn escaped(text: &str, fold: bool) -> Read<'_> {
    let Some(after) = text.strip_prefix('\\') else {
        return Ok(None);
    };
    let mut chars = after.chars();
    let name = match chars.next() {
        Some('d' | 'D') => "digit",
        Some('s' | 'S') => "perl space",
        Some('w' | 'W') => "word",
        Some('p' | 'P') => return by_property(text, fold).map(Some),
        _ => return Ok(None),
    };
    let negate = after.starts_with(|char: char| char.is_ascii_uppercase());
    Ok(ascii(name, fold, negate).map(|class| (class, chars.as_str())))
}

fn by_property(text: &str, fold: bool) -> Result<(ClassUnicode, &str), Error> {
    let is_opposite = text.starts_with(r"\P");
    let mut chars = text[2..].chars();
    let (name, rest) = match chars.next() {
        Some('{') => chars
            .as_str()
            .split_once('}')
            .ok_or_else(|| Error::new(Problem::Range, text))?,
        _ => text[2..].split_at(text.len() - 2 - chars.as_str().len()),
    };
    let (plain, is_negated) = match name.strip_prefix('^') {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    let class =
        unicode::named(plain).ok_or_else(|| Error::new(Problem::Range, &text[..text.len() - rest.len()]))?;
    Ok((folded(class, fold, is_opposite != is_negated), rest))
}

/// Reads `[:alpha:]` at the start of a text; nothing if it starts otherwise.
fn posix(text: &str, fold: bool) -> Read<'_> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|text| text.split_once(":]")) else {
        return Ok(None);
    };
    let (plain, negate) = match name.strip_prefix('^') {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    // Its name is ours alone.
    let class = ascii(plain, fold, negate).filter(|_| plain != "perl space");
    match class {
        Some(class) => Ok(Some((class, rest))),
        None => Err(Error::new(Problem::Range, &text[..text.len() - rest.len()])),
    }
}

/// Reads a class in brackets, and returns what follows it.
pub(super) fn bracketed(text: &str, fold: bool) -> Result<(ClassUnicode, &str), Error> {
    let (mut rest, negate) = match text.strip_prefix("[^") {
        Some(rest) => (rest, true),
        None => (&text[1..], false),
    };
    let mut class = ClassUnicode::empty();
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        let named = match posix(rest, fold)? {
            None => escaped(rest, fold)?,
            found => found,
        };
        if let Some((more, after)) = named {
            class.union(&more);
            rest = after;
            continue;
        }
        let start = rest;
        let (low, after) = character(rest, text)?;
        rest = after;
        let mut high = low;
        if let Some(after) = rest
            .strip_prefix('-')
            .filter(|after| !after.is_empty() && !after.starts_with(']'))
        {
            (high, rest) = character(after, text)?;
            if high < low {
                return Err(Error::new(Problem::Range, &start[..start.len() - rest.len()]));
            }
        }
        class.union(&range(low, high, fold));
    }
    Ok((folded(class, false, negate), &rest[1..]))
}

/// One character of a class.
fn character<'t>(text: &'t str, class: &str) -> Result<(u32, &'t str), Error> {
    let mut chars = text.chars();
    match chars.next() {
        None => Err(Error::new(Problem::MissingBracket, class)),
        Some('\\') => escape::read(text),
        Some(char) => Ok((u32::from(char), chars.as_str())),
    }
}
