//! The YAML that nearly all manifests are written in, read several times as fast as through the events of libyaml.
//!
//! Maps and lists in blocks, scalars on one line, texts after `|` and `>`. Whatever it is not sure of – anchors, tags, scalars over several
//! lines, anything odd, anything wrong – it gives up on, and libyaml reads the text from its beginning: what is wrong is never told here.

mod flow;
mod scalar;
mod text;

use model::{Map, Str, Value};

use crate::resolve::{self, Scalar};

/// How deep maps and lists may be inside of one another.
const MAX_DEPTH: usize = 64;
/// libyaml takes keys of up to 1024 characters.
const MAX_KEY: usize = 1000;

/// What of a document is kept; all of it is checked.
#[derive(Clone, Copy)]
pub(crate) enum Keep<'k> {
    All,
    /// Only these fields of the outermost map.
    Fields(&'k [&'k str]),
    Nothing,
}

impl Keep<'_> {
    fn is_nothing(self) -> bool {
        matches!(self, Keep::Nothing)
    }

    /// What is kept of a field with this name.
    fn of(self, key: &str) -> Keep<'static> {
        match self {
            Keep::All => Keep::All,
            Keep::Fields(fields) if fields.contains(&key) => Keep::All,
            _ => Keep::Nothing,
        }
    }
}

/// Reads a text that is one document, with the line that its content begins on. `None` where libyaml has to look.
pub(crate) fn read(text: &[u8], keep: Keep<'_>) -> Option<(Value, usize)> {
    let odd = |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') | (byte == 0x7f);
    // Without a way out early, as this is done many bytes at a time.
    if text.iter().fold(false, |found, &byte| found | odd(byte)) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    // Other ends of lines, and what libyaml takes for no character.
    let is_strange = |char| {
        matches!(
            char,
            '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if !text.is_ascii() && text.contains(is_strange) {
        return None;
    }
    let mut reader = Reader {
        text,
        next: 0,
        line: "",
        column: 0,
        is_over: false,
    };
    reader.advance()?;
    if !reader.is_over && reader.column == 0 && reader.line.trim_end_matches(' ') == "---" {
        reader.advance()?;
    }
    if reader.is_over {
        return None;
    }
    let before = &text.as_bytes()[..reader.line.as_ptr() as usize - text.as_ptr() as usize];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let value = reader.node(keep, 0)?;
    reader.is_over.then_some((value, line))
}

/// Goes through the lines that have content.
struct Reader<'t> {
    text: &'t str,
    /// Where the line after this one begins.
    next: usize,
    /// What is left of this line, from its first character on.
    line: &'t str,
    /// The column of that character.
    column: usize,
    is_over: bool,
}

/// The key of a map, and what stands after its colon.
struct Key<'t> {
    name: Scalar,
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// The line that begins at `next`, without its end, and where the one after it begins.
    fn raw(&self) -> Option<(&'t str, usize)> {
        let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        Some((&rest[..end], (self.next + end + 1).min(self.text.len())))
    }

    /// Goes to the next line that is neither blank nor a comment.
    fn advance(&mut self) -> Option<()> {
        while let Some((raw, next)) = self.raw() {
            self.next = next;
            let line = raw.trim_start_matches(' ');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.column = raw.len() - line.len();
            // Tabs count as space in some places and not in others.
            if memchr::memchr(b'\t', line.as_bytes()).is_some() {
                return None;
            }
            if self.column == 0 && (line.starts_with("...") || line.starts_with('%')) {
                return None;
            }
            let is_start = self.column == 0 && line.starts_with("---");
            if is_start && (line.trim_end_matches(' ') != "---" || !self.line.is_empty()) {
                return None;
            }
            self.line = line;
            return Some(());
        }
        self.is_over = true;
        Some(())
    }

    /// The list or map that begins here.
    fn node(&mut self, keep: Keep<'_>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match is_item(self.line) {
            true => self.list(self.column, keep, false, depth),
            false => self.map(self.column, keep, depth),
        }
    }

    /// Whether the lines of a list or map in this column go on; nothing where what follows belongs nowhere.
    fn goes_on(&self, column: usize) -> Option<bool> {
        match self.is_over || self.column < column {
            true => Some(false),
            false => (self.column == column).then_some(true),
        }
    }

    fn list(&mut self, column: usize, keep: Keep<'_>, in_map: bool, depth: usize) -> Option<Value> {
        let keep = match keep {
            Keep::All => Keep::All,
            _ => Keep::Nothing,
        };
        let mut items = Vec::new();
        loop {
            let rest = self.line[1..].trim_start_matches(' ');
            let item = if is_blank(rest) {
                self.below(column, keep, depth)?
            } else {
                self.column += self.line.len() - rest.len();
                self.line = rest;
                if is_item(rest) || self.key().is_some() {
                    self.node(keep, depth + 1)?
                } else {
                    self.value(rest, column, keep)?
                }
            };
            if !keep.is_nothing() {
                items.push(item);
            }
            if !self.goes_on(column)? {
                break;
            }
            if !is_item(self.line) {
                // In the column of the keys around it a list ends at the next key.
                if in_map {
                    break;
                }
                return None;
            }
        }
        Some(Value::from(items))
    }

    fn map(&mut self, column: usize, keep: Keep<'_>, depth: usize) -> Option<Value> {
        let mut pairs: Vec<(Str, Value)> = Vec::new();
        loop {
            let Key { name, rest } = self.key()?;
            let name = name.as_key()?;
            let keep = keep.of(&name);
            let value = if !is_blank(rest) {
                self.value(rest, column, keep)?
            } else {
                self.below_key(column, keep, depth)?
            };
            if !keep.is_nothing() {
                pairs.push((name, value));
            }
            if !self.goes_on(column)? {
                break;
            }
        }
        Some(Value::Object(Map::from_pairs(pairs.into_iter())))
    }

    /// What is on the lines after a key: a list may begin in its column.
    fn below_key(&mut self, column: usize, keep: Keep<'_>, depth: usize) -> Option<Value> {
        self.advance()?;
        if self.is_over || self.column < column {
            return Some(Value::Null);
        }
        match self.column > column {
            true => self.inner(column, keep, depth),
            false if is_item(self.line) => self.list(column, keep, true, depth + 1),
            false => Some(Value::Null),
        }
    }

    /// What is on the lines after a dash.
    fn below(&mut self, column: usize, keep: Keep<'_>, depth: usize) -> Option<Value> {
        self.advance()?;
        match !self.is_over && self.column > column {
            true => self.inner(column, keep, depth),
            false => Some(Value::Null),
        }
    }

    /// What begins on a line of its own in a list or map in this column.
    fn inner(&mut self, column: usize, keep: Keep<'_>, depth: usize) -> Option<Value> {
        if is_item(self.line) || self.key().is_some() {
            return self.node(keep, depth + 1);
        }
        match self.line.starts_with(['|', '>']) {
            true => None,
            false => self.value(self.line, column, keep),
        }
    }

    /// The key at the beginning of the line, if there is one.
    fn key(&self) -> Option<Key<'t>> {
        let line = self.line;
        let (name, rest) = match line.as_bytes()[0] {
            quote @ (b'"' | b'\'') => {
                let end = 1 + memchr::memchr(quote, &line.as_bytes()[1..])?;
                let name = &line[1..end];
                let rest = line[end + 1..].strip_prefix(':')?;
                // A quote in quotes is written twice, or after a backslash.
                if name.contains('\\') {
                    return None;
                }
                (Scalar::Str(Str::new(name)), rest)
            }
            first if is_of_key(first) && first != b'-' => {
                let end = line.bytes().enumerate().position(|(at, byte)| {
                    byte == b':' && matches!(line.as_bytes().get(at + 1), None | Some(b' '))
                })?;
                let name = &line[..end];
                let is_plain = name
                    .bytes()
                    .all(|byte| is_of_key(byte) || matches!(byte, b' ' | b':'));
                if !is_plain || name.ends_with(' ') || name == "---" {
                    return None;
                }
                (resolve::plain(name), &line[end + 1..])
            }
            _ => return None,
        };
        let is_key = line.len() - rest.len() <= MAX_KEY && (rest.is_empty() || rest.starts_with(' '));
        is_key.then(|| Key {
            name,
            rest: rest.trim_start_matches(' '),
        })
    }
}

/// What plain keys are made of, beside spaces and colons between other characters.
fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'$' | b'+' | b'-')
}

/// Whether an item of a list begins here.
fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// Whether there is nothing on the rest of a line, which comes after a space, but a comment.
fn is_blank(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests;
