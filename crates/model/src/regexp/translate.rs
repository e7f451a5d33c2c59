//! An expression from left to right: what it consists of, groups, repetitions and flags.

use super::error::{Error, Problem};
use super::{class, escape};

/// So long an expression may be, and what is written for it.
const MAX_LENGTH: usize = 64 << 10;
const MAX_WRITTEN: usize = 4 << 20;

/// So often anything may be repeated, repetitions of repetitions included.
const MAX_REPEATS: u32 = 1000;

/// Writes an expression of Go in the syntax of the `regex` crate. Groups keep their numbers, not their names.
///
/// # Errors
/// What Go says to expressions that are none.
pub fn translate(pattern: &str) -> Result<String, Error> {
    if pattern.len() > MAX_LENGTH {
        return Err(Error::new(Problem::Large, pattern));
    }
    let mut writer = Writer::default();
    let mut rest = pattern;
    // Where the repetition starts that was read last, if nothing came after it.
    let mut repeat = None;
    while let Some(first) = rest.chars().next() {
        let before = rest;
        let mut repeats = false;
        rest = match first {
            '*' | '+' | '?' => {
                repeats = true;
                let count = match first {
                    '*' => (0, None),
                    '+' => (1, None),
                    _ => (0, Some(1)),
                };
                writer.repeat(count, false, before, &rest[1..], repeat)?
            }
            '{' => match counts(rest) {
                Some((low, high, after)) => {
                    repeats = true;
                    check_counts(low, high, &before[..before.len() - after.len()])?;
                    writer.repeat((low, high), true, before, after, repeat)?
                }
                None => writer.literal('{', rest),
            },
            '(' => writer.open(rest)?,
            ')' => writer.close(rest, pattern)?,
            '|' => writer.alternative(rest),
            _ => writer.atom(first, rest)?,
        };
        repeat = repeats.then_some(before);
        if writer.out.len() > MAX_WRITTEN {
            return Err(Error::new(Problem::Large, pattern));
        }
    }
    match writer.groups.is_empty() {
        true => Ok(writer.out),
        false => Err(Error::new(Problem::MissingParenthesis, pattern)),
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_is_any: bool,
    ungreedy: bool,
}

/// What a repetition applies to.
#[derive(Clone, Copy, Debug)]
struct Atom {
    start: usize,
    /// How often its innermost part is repeated at most.
    repeats: u32,
    is_repeated: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    start: usize,
    /// The flags around it.
    outer: Flags,
    /// What came last in it, of which a repetition may follow.
    last: Option<Atom>,
    /// How often anything of what came before is repeated at most.
    repeats: u32,
}

impl Group {
    fn push(&mut self, atom: Atom) {
        self.settle();
        self.last = Some(atom);
    }

    /// Counts what came last among what came before.
    fn settle(&mut self) {
        if let Some(last) = self.last.take() {
            self.repeats = self.repeats.max(last.repeats);
        }
    }
}

#[derive(Debug, Default)]
struct Writer {
    out: String,
    flags: Flags,
    /// The group that is being read, and those around it.
    group: Group,
    groups: Vec<Group>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.group.push(Atom {
            start: self.out.len(),
            repeats: 0,
            is_repeated: false,
        });
        self.out.push_str(text);
    }

    /// Writes the first character of a text as itself and returns what follows.
    fn literal<'t>(&mut self, char: char, rest: &'t str) -> &'t str {
        self.character(u32::from(char));
        &rest[char.len_utf8()..]
    }

    fn character(&mut self, char: u32) {
        self.class(&class::range(char, char, self.flags.fold));
    }

    fn class(&mut self, class: &regex_syntax::hir::ClassUnicode) {
        self.push("");
        class::write(class, &mut self.out);
    }

    /// Anything that is no group and no repetition.
    fn atom<'t>(&mut self, first: char, rest: &'t str) -> Result<&'t str, Error> {
        match first {
            '^' if self.flags.multi_line => self.push("(?m:^)"),
            '^' => self.push(r"\A"),
            '$' if self.flags.multi_line => self.push("(?m:$)"),
            '$' => self.push(r"\z"),
            '.' if self.flags.dot_is_any => self.push("(?s:.)"),
            '.' => self.push(r"[^\n]"),
            '[' => {
                let (class, rest) = class::bracketed(rest, self.flags.fold)?;
                self.class(&class);
                return Ok(rest);
            }
            '\\' => return self.escape(rest),
            _ => return Ok(self.literal(first, rest)),
        }
        Ok(&rest[1..])
    }

    fn escape<'t>(&mut self, text: &'t str) -> Result<&'t str, Error> {
        match text.as_bytes().get(1) {
            Some(b'A') => self.push(r"\A"),
            Some(b'z') => self.push(r"\z"),
            Some(b'b') => self.push(r"(?-u:\b)"),
            Some(b'B') => self.push(r"(?-u:\B)"),
            Some(b'Q') => {
                let (quoted, rest) = text[2..].split_once(r"\E").unwrap_or((&text[2..], ""));
                quoted.chars().for_each(|char| self.character(u32::from(char)));
                return Ok(rest);
            }
            _ => {
                if let Some((class, rest)) = class::escaped(text, self.flags.fold)? {
                    self.class(&class);
                    return Ok(rest);
                }
                let (char, rest) = escape::read(text)?;
                self.character(char);
                return Ok(rest);
            }
        }
        Ok(&text[2..])
    }

    fn alternative<'t>(&mut self, text: &'t str) -> &'t str {
        self.group.settle();
        self.out.push('|');
        &text[1..]
    }

    /// Reads what a group starts with, or flags that stand for themselves.
    fn open<'t>(&mut self, text: &'t str) -> Result<&'t str, Error> {
        if !text.starts_with("(?") {
            self.enter("(", self.flags);
            return Ok(&text[1..]);
        }
        // What is shorter than this is no name to Go, but unknown flags.
        let is_named =
            (text.starts_with("(?P<") && text.len() > 4) || (text.starts_with("(?<") && text.len() > 3);
        if is_named {
            let Some((start, rest)) = text.split_once('>') else {
                return Err(Error::new(Problem::NamedCapture, text));
            };
            let name = start.split_once('<').map_or("", |(_, name)| name);
            if name.is_empty()
                || !name
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || char == '_')
            {
                return Err(Error::new(Problem::NamedCapture, &text[..=start.len()]));
            }
            self.enter("(", self.flags);
            return Ok(rest);
        }
        self.flags(text)
    }

    /// Reads `(?i)` or `(?i-s:`.
    fn flags<'t>(&mut self, text: &'t str) -> Result<&'t str, Error> {
        let mut flags = self.flags;
        let mut chars = text[2..].chars();
        let (mut on, mut is_empty) = (true, false);
        loop {
            match chars.next() {
                Some('i') => flags.fold = on,
                Some('m') => flags.multi_line = on,
                Some('s') => flags.dot_is_any = on,
                Some('U') => flags.ungreedy = on,
                Some('-') if on => {
                    (on, is_empty) = (false, true);
                    continue;
                }
                Some(':') if !is_empty => {
                    self.enter("(?:", flags);
                    return Ok(chars.as_str());
                }
                Some(')') if !is_empty => {
                    self.flags = flags;
                    return Ok(chars.as_str());
                }
                _ => {
                    let read = &text[..text.len() - chars.as_str().len()];
                    return Err(Error::new(Problem::PerlOperator, read));
                }
            }
            is_empty = false;
        }
    }

    fn enter(&mut self, start: &str, flags: Flags) {
        let inner = Group {
            start: self.out.len(),
            outer: self.flags,
            ..Group::default()
        };
        self.groups.push(std::mem::replace(&mut self.group, inner));
        self.out.push_str(start);
        self.flags = flags;
    }

    fn close<'t>(&mut self, text: &'t str, pattern: &str) -> Result<&'t str, Error> {
        let Some(outer) = self.groups.pop() else {
            return Err(Error::new(Problem::UnexpectedParenthesis, pattern));
        };
        self.group.settle();
        let inner = std::mem::replace(&mut self.group, outer);
        self.out.push(')');
        self.flags = inner.outer;
        self.group.push(Atom {
            start: inner.start,
            repeats: inner.repeats,
            is_repeated: false,
        });
        Ok(&text[1..])
    }

    /// Repeats what came last, and returns what follows the repetition.
    fn repeat<'t>(
        &mut self,
        (low, high): (u32, Option<u32>),
        is_counted: bool,
        before: &'t str,
        after: &'t str,
        previous: Option<&str>,
    ) -> Result<&'t str, Error> {
        let (rest, is_swapped) = match after.strip_prefix('?') {
            Some(rest) => (rest, true),
            None => (after, false),
        };
        let part = &before[..before.len() - rest.len()];
        if let Some(previous) = previous {
            let both = &previous[..previous.len() - rest.len()];
            return Err(Error::new(Problem::NestedRepeat, both));
        }
        let Some(atom) = &mut self.group.last else {
            return Err(Error::new(Problem::MissingArgument, part));
        };
        if is_counted {
            let times = high.unwrap_or(low);
            // A part that is there at most zero times does not count, whatever is in it.
            atom.repeats = if high == Some(0) {
                0
            } else {
                times.max(atom.repeats * times.max(1))
            };
            if (low >= 2 || high.is_some_and(|high| high >= 2)) && atom.repeats > MAX_REPEATS {
                return Err(Error::new(Problem::RepeatSize, part));
            }
        }
        if atom.is_repeated {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        atom.is_repeated = true;
        match (low, high) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (low, None) => self.out.push_str(&format!("{{{low},}}")),
            (0, Some(1)) => self.out.push('?'),
            (low, Some(high)) => self.out.push_str(&format!("{{{low},{high}}}")),
        }
        if is_swapped != self.flags.ungreedy {
            self.out.push('?');
        }
        Ok(rest)
    }
}

fn check_counts(low: u32, high: Option<u32>, part: &str) -> Result<(), Error> {
    if low > MAX_REPEATS || high.is_some_and(|high| high > MAX_REPEATS || high < low) {
        return Err(Error::new(Problem::RepeatSize, part));
    }
    Ok(())
}

/// Reads `{2}`, `{2,}` or `{2,5}`; anything else stands for itself.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (low, rest) = number(text.strip_prefix('{')?)?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((low, Some(low), rest));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((low, None, rest));
    }
    let (high, rest) = number(rest)?;
    Some((low, Some(high), rest.strip_prefix('}')?))
}

/// A number without zeros before it. What is too large for us is too large for Go as well.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}
