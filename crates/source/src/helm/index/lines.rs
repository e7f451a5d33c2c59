//! YAML line by line: which lines begin something, and which only go on with a value.
//!
//! This is no reader of YAML. It knows just enough of block style to tell where charts and entries begin, and says
//! [`NotSimple`] of everything it is not sure about (anchors, tags, flow collections over several lines, several documents);
//! such indexes are read whole by the real reader.

/// The text uses more of YAML than can be followed line by line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotSimple;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A blank, a comment, or a part of a value that began before.
    Inside,
    /// The begin of a list item, or a key or value of its own.
    Begin {
        /// The column of its first character.
        column: usize,
        /// Whether it is a list item.
        item: bool,
        /// The key at that column, where there is one and it is no list item.
        key: Option<&'a str>,
        /// Whether something stands after the key.
        filled: bool,
    },
}

/// What the next line may belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// A plain value or a block scalar below this column: deeper lines belong to it.
    Below(usize),
    /// A quoted value.
    Quoted(u8),
}

/// Follows a text line by line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Open,
    begun: bool,
}

impl Lines {
    /// Takes the next line, with or without its end.
    pub(super) fn next<'a>(&mut self, line: &'a [u8]) -> Result<Line<'a>, NotSimple> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.contains(&b'\r') {
            return Err(NotSimple);
        }
        if let Open::Quoted(quote) = self.open {
            return self.quoted_part(line, quote);
        }
        let column = line.iter().take_while(|byte| **byte == b' ').count();
        let rest = &line[column..];
        if let Open::Below(parent) = self.open
            && (column > parent || rest.is_empty())
        {
            return Ok(Line::Inside);
        }
        if rest.is_empty() || rest[0] == b'#' {
            return Ok(Line::Inside);
        }
        if rest[0] == b'\t' {
            return Err(NotSimple);
        }
        if column == 0 && self.is_marker(rest)? {
            return Ok(Line::Inside);
        }
        self.open = Open::Nothing;
        self.begun = true;
        self.begin(column, rest)
    }

    /// Whether the line only says that a document begins, as the very first line may.
    fn is_marker(&self, line: &[u8]) -> Result<bool, NotSimple> {
        if line == b"---" && !self.begun {
            return Ok(true);
        }
        let special = line.starts_with(b"---") || line.starts_with(b"...") || line[0] == b'%';
        if special || line.starts_with(b"\xef\xbb\xbf") {
            return Err(NotSimple);
        }
        Ok(false)
    }

    fn quoted_part<'a>(&mut self, line: &[u8], quote: u8) -> Result<Line<'a>, NotSimple> {
        if line.starts_with(b"---") || line.starts_with(b"...") {
            return Err(NotSimple);
        }
        if let Some(end) = closing(line, quote) {
            self.open = Open::Nothing;
            if !is_end(&line[end..]) {
                return Err(NotSimple);
            }
        }
        Ok(Line::Inside)
    }

    fn begin<'a>(&mut self, column: usize, line: &'a [u8]) -> Result<Line<'a>, NotSimple> {
        let (mut at, mut rest) = (column, line);
        let item = is_item(rest);
        while is_item(rest) {
            let spaces = rest[1..].iter().take_while(|byte| **byte == b' ').count();
            let after = &rest[1 + spaces..];
            if after.is_empty() || after[0] == b'#' {
                return Ok(Line::Begin {
                    column,
                    item,
                    key: None,
                    filled: false,
                });
            }
            // The last dash is what a value without a key is deeper than.
            if !is_item(after) {
                let found = self.key_or_value(at, at + 1 + spaces, after)?;
                return Ok(Line::Begin {
                    column,
                    item,
                    key: None,
                    filled: found.filled,
                });
            }
            at += 1 + spaces;
            rest = after;
        }
        let found = self.key_or_value(column, column, rest)?;
        Ok(Line::Begin {
            column,
            item,
            key: found.key,
            filled: found.filled,
        })
    }

    /// Looks at a key with its value, or at a value that is no key. `parent` is the column that the lines of a value
    /// without a key are deeper than, `column` the one where the text begins.
    fn key_or_value<'a>(
        &mut self,
        parent: usize,
        column: usize,
        text: &'a [u8],
    ) -> Result<Found<'a>, NotSimple> {
        if text[0] == b'?' && (text.len() == 1 || text[1] == b' ') {
            return Err(NotSimple);
        }
        let Some((key, value)) = split_key(text)? else {
            self.value(parent, text)?;
            return Ok(Found {
                key: None,
                filled: true,
            });
        };
        if is_end(value) {
            return Ok(Found {
                key: Some(key),
                filled: false,
            });
        }
        let spaces = value.iter().take_while(|byte| **byte == b' ').count();
        self.value(column, &value[spaces..])?;
        Ok(Found {
            key: Some(key),
            filled: true,
        })
    }

    fn value(&mut self, parent: usize, text: &[u8]) -> Result<(), NotSimple> {
        match text[0] {
            quote @ (b'"' | b'\'') => match closing(&text[1..], quote) {
                Some(end) if is_end(&text[1 + end..]) => {}
                Some(_) => return Err(NotSimple),
                None => self.open = Open::Quoted(quote),
            },
            b'[' | b'{' => return flow(text),
            b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'\t' => return Err(NotSimple),
            _ => self.open = Open::Below(parent),
        }
        Ok(())
    }
}

struct Found<'a> {
    key: Option<&'a str>,
    filled: bool,
}

fn is_item(text: &[u8]) -> bool {
    text[0] == b'-' && (text.len() == 1 || text[1] == b' ')
}

/// Whether nothing but white space and a comment follows.
fn is_end(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start();
    rest.is_empty() || rest[0] == b'#' && rest.len() < text.len()
}

/// Splits `key: value`.
fn split_key(text: &[u8]) -> Result<Option<(&str, &[u8])>, NotSimple> {
    let (key, rest) = match text[0] {
        quote @ (b'"' | b'\'') => {
            let Some(end) = closing(&text[1..], quote) else {
                return Ok(None);
            };
            let (key, rest) = (&text[1..end], &text[1 + end..]);
            if rest.first() != Some(&b':') {
                return Ok(None);
            }
            if key.contains(&b'\\') || key.contains(&b'\'') {
                return Err(NotSimple);
            }
            (key, &rest[1..])
        }
        b'[' | b'{' | b'&' | b'*' | b'!' | b'|' | b'>' => return Ok(None),
        _ => {
            let Some(colon) = colon(text) else {
                return Ok(None);
            };
            (text[..colon].trim_ascii_end(), &text[colon + 1..])
        }
    };
    if !rest.is_empty() && rest[0] != b' ' {
        return Err(NotSimple);
    }
    Ok(Some((std::str::from_utf8(key).map_err(|_| NotSimple)?, rest)))
}

/// The colon that ends a plain key.
fn colon(text: &[u8]) -> Option<usize> {
    let comment = text
        .windows(2)
        .position(|pair| pair == b" #")
        .unwrap_or(text.len());
    let ends = |at: &usize| matches!(text.get(at + 1), None | Some(b' ' | b'\t'));
    (0..comment).filter(|at| text[*at] == b':').find(ends)
}

/// The place after the closing quote, in a text that begins after the opening one.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => at += 1,
            byte if byte == quote => {
                if quote == b'\'' && text.get(at + 1) == Some(&quote) {
                    at += 1;
                } else {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Checks that a flow collection ends on its line.
fn flow(text: &[u8]) -> Result<(), NotSimple> {
    let mut depth = 0usize;
    let mut at = 0;
    // Whether a new word may begin here: only there are quotes quotes.
    let mut fresh = true;
    while at < text.len() {
        match text[at] {
            b' ' => {}
            b'[' | b'{' => {
                depth += 1;
                fresh = true;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1).ok_or(NotSimple)?;
                if depth == 0 {
                    return if is_end(&text[at + 1..]) {
                        Ok(())
                    } else {
                        Err(NotSimple)
                    };
                }
                fresh = false;
            }
            b',' | b':' => fresh = true,
            quote @ (b'"' | b'\'') if fresh => {
                at += closing(&text[at + 1..], quote).ok_or(NotSimple)?;
                fresh = false;
            }
            b'&' | b'*' | b'!' | b'?' if fresh => return Err(NotSimple),
            b'#' | b'\t' => return Err(NotSimple),
            _ => fresh = false,
        }
        at += 1;
    }
    Err(NotSimple)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(text: &str) -> Result<Vec<(usize, bool, Option<String>)>, NotSimple> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for line in text.lines() {
            if let Line::Begin {
                column, item, key, ..
            } = lines.next(line.as_bytes())?
            {
                found.push((column, item, key.map(str::to_owned)));
            }
        }
        Ok(found)
    }

    fn keys(text: &str) -> Vec<String> {
        let found = begins(text).unwrap();
        found.into_iter().filter_map(|(_, _, key)| key).collect()
    }

    #[test]
    fn values_over_several_lines_begin_nothing() {
        assert_eq!(
            keys("a: |\n  b: c\n\n  d:\ne: x\n  f: y\ng: \"x\nh: y\n  \"\ni: 'j''\nk: '\nl:"),
            ["a", "e", "g", "i", "l"]
        );
        assert_eq!(keys("a: >-\n  \"b\nc: d"), ["a", "c"]);
        assert_eq!(keys("- a: |\n    b\n  c: d"), ["c"]);
    }

    #[test]
    fn quotes_count_only_where_a_value_begins() {
        assert_eq!(
            keys("a: it's\nb: x \"y\nc: [it's, \"a]\"]\nd: {}"),
            ["a", "b", "c", "d"]
        );
        assert_eq!(keys("a:\n  \"x\n b: y\"\nc:"), ["a", "c"]);
    }

    #[test]
    fn what_is_not_certain_is_said_to_be_so() {
        for text in [
            "a: &x b",
            "a: *x",
            "a: !x b",
            "a: [b,",
            "? a",
            "a:\n---\nb:",
            "a: \"b\" c",
            "%YAML 1.1",
            "\"a\\n\": b",
        ] {
            assert_eq!(begins(text), Err(NotSimple), "{text}");
        }
    }
}
