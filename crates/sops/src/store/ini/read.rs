//! Reading sections of keys.

use super::{DEFAULT, DELIMITERS};
use crate::tree::{Branch, Comment, Item, Tree, Value};

#[derive(Default)]
struct Section {
    name: String,
    comment: String,
    keys: Vec<Key>,
    /// How many keys are named `-`.
    unnamed: usize,
}

struct Key {
    name: String,
    value: String,
    comment: String,
}

pub(crate) fn read(data: &[u8]) -> Result<Tree, String> {
    let text = std::str::from_utf8(data).map_err(|_| "it is no UTF-8".to_owned())?;
    let mut reader = Reader {
        lines: text.trim_start_matches('\u{feff}').split_inclusive('\n'),
        number: 0,
        comment: String::new(),
    };
    let mut sections = vec![Section {
        name: DEFAULT.to_owned(),
        ..Section::default()
    }];
    while let Some(line) = reader.next() {
        let at = reader.number;
        reader
            .line(line, &mut sections)
            .map_err(|reason| format!("line {at}: {reason}"))?;
    }
    Ok(Tree {
        branches: vec![sections.into_iter().map(item).collect()],
    })
}

fn item(section: Section) -> Item {
    let mut branch = Branch::new();
    push_comment(&section.comment, &mut branch);
    for key in section.keys {
        branch.push(Item::Entry(key.name, Value::text(key.value)));
        push_comment(&key.comment, &mut branch);
    }
    Item::Entry(section.name, Value::Map(branch))
}

/// The sign that begins a comment is not part of it, and neither are more of them.
fn push_comment(comment: &str, branch: &mut Branch) {
    if comment.is_empty() {
        return;
    }
    let text = match comment.as_bytes()[0] {
        b';' => comment.trim_start_matches([';', ' ']),
        b'#' => comment.trim_start_matches(['#', ' ']),
        _ => comment,
    };
    branch.push(Item::Comment(Comment {
        text: text.as_bytes().to_vec(),
        inline: false,
    }));
}

struct Reader<'a> {
    lines: std::str::SplitInclusive<'a, char>,
    number: usize,
    /// The comment that was read and belongs to what comes next.
    comment: String,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.number += 1;
        self.lines.next()
    }

    fn line(&mut self, line: &str, sections: &mut Vec<Section>) -> Result<(), &'static str> {
        let line = line.trim_start();
        if line.is_empty() {
            return Ok(());
        }
        if line.starts_with(['#', ';']) {
            self.comment.push_str(line);
            return Ok(());
        }
        if line.starts_with('[') {
            let end = line.rfind(']').ok_or("a section is not closed")?;
            if end == 1 {
                return Err("a section has no name");
            }
            if let Some(comment) = line[end + 1..].find(['#', ';']) {
                self.comment.push_str(&line[end + 1 + comment..]);
            }
            sections.push(Section {
                name: line[1..end].to_owned(),
                comment: self.take_comment(),
                ..Section::default()
            });
            return Ok(());
        }
        let section = sections.last_mut().ok_or("there is no section")?;
        let (mut name, rest) = key_name(line)?;
        if name == "-" {
            section.unnamed += 1;
            name = format!("#{}", section.unnamed);
        }
        let value = self.value(rest)?;
        let comment = self.take_comment();
        if name.is_empty() {
            return Err("a key has no name");
        }
        match section.keys.iter_mut().find(|key| key.name == name) {
            Some(key) => {
                key.value = value;
                key.comment = comment;
            }
            None => section.keys.push(Key { name, value, comment }),
        }
        Ok(())
    }

    fn take_comment(&mut self) -> String {
        std::mem::take(&mut self.comment).trim().to_owned()
    }

    fn value(&mut self, text: &str) -> Result<String, &'static str> {
        let line = text.trim_start();
        if line.is_empty() {
            return Ok(String::new());
        }
        let quote = if line.len() > 3 && line.starts_with("\"\"\"") {
            "\"\"\""
        } else if line.starts_with('`') {
            "`"
        } else {
            ""
        };
        if !quote.is_empty() {
            let inner = &line[quote.len()..];
            return match inner.rfind(quote) {
                Some(end) => Ok(inner[..end].to_owned()),
                None => self.lines_until(inner, quote),
            };
        }
        let mut line = line.trim_end();
        if let Some(line) = line.strip_suffix('\\') {
            return Ok(self.continued(line));
        }
        if let Some(at) = line.find(['#', ';']) {
            self.comment.push_str(&line[at..]);
            line = line[..at].trim_end();
        }
        for quote in ['\'', '"'] {
            if let Some(inner) = line.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote))
                && !inner.contains(quote)
            {
                line = inner;
                break;
            }
        }
        Ok(line.to_owned())
    }

    /// A value in quotes that goes over several lines.
    fn lines_until(&mut self, first: &str, quote: &str) -> Result<String, &'static str> {
        let mut value = first.to_owned();
        while let Some(next) = self.next() {
            let Some(end) = next.rfind(quote) else {
                value.push_str(next);
                continue;
            };
            let rest = &next[end + quote.len()..];
            if rest.trim().ends_with('\\') {
                value.push_str(next);
                continue;
            }
            value.push_str(&next[..end]);
            if let Some(at) = rest.find(['#', ';']) {
                self.comment.push_str(rest[at..].trim());
            }
            return Ok(value);
        }
        Err("a value in quotes does not end")
    }

    /// A value whose lines end with a backslash.
    fn continued(&mut self, first: &str) -> String {
        let mut value = first.to_owned();
        while let Some(next) = self.next() {
            let next = next.trim();
            if next.is_empty() {
                break;
            }
            match next.strip_suffix('\\') {
                Some(more) => value.push_str(more),
                None => {
                    value.push_str(next);
                    break;
                }
            }
        }
        value
    }
}

/// The name of a key, which may be in quotes, and what follows the sign behind it.
fn key_name(line: &str) -> Result<(String, &str), &'static str> {
    let quote = if line.len() > 6 && line.starts_with("\"\"\"") {
        "\"\"\""
    } else if line.starts_with('"') {
        "\""
    } else if line.starts_with('`') {
        "`"
    } else {
        ""
    };
    let missing = "there is no '=' behind a key";
    if quote.is_empty() {
        let at = line.find(DELIMITERS).ok_or(missing)?;
        return match at {
            0 => Err("a key has no name"),
            at => Ok((line[..at].trim().to_owned(), &line[at + 1..])),
        };
    }
    let inner = &line[quote.len()..];
    let end = inner.find(quote).ok_or("the quotes of a key are not closed")?;
    let rest = &inner[end + quote.len()..];
    let at = rest.find(DELIMITERS).ok_or(missing)?;
    Ok((inner[..end].trim().to_owned(), &rest[at + 1..]))
}
