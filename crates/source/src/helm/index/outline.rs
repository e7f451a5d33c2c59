//! Where in an index everything is, found in one pass that keeps nothing else.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::ops::Range;

use super::lines::{Line, Lines, NotSimple};

/// Where the parts of an index are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The fields beside the entries, with the bytes of key and value (YAML) or of the value (JSON).
    pub(super) fields: Vec<(String, Range<u64>)>,
    /// The charts, with the bytes of their lists of versions. Of a chart that is there twice the last one counts.
    pub(super) charts: BTreeMap<String, Range<u64>>,
    /// Whether there are entries at all.
    pub(super) has_entries: bool,
}

/// Why there is no outline.
#[derive(Debug)]
pub(super) enum Failure {
    /// The file must be read whole.
    NotSimple,
    /// The file cannot be read.
    Io(io::Error),
    /// A part of it is no YAML.
    Yaml(yaml::Error),
    /// A part of it is no JSON.
    Json,
}

impl From<NotSimple> for Failure {
    fn from(_: NotSimple) -> Self {
        Failure::NotSimple
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

/// The longest line that is followed. Nothing of an index is longer but JSON on one line, which is followed otherwise.
const MAX_LINE: usize = 8 << 20;

/// Finds the parts of an index in block style.
pub(super) fn yaml(input: &mut dyn BufRead) -> Result<Outline, Failure> {
    let mut lines = Lines::default();
    let mut walk = Walk::default();
    let mut line = Vec::new();
    let mut at = 0u64;
    while read_line(input, &mut line)? {
        walk.take(lines.next(&line)?, at)?;
        at += line.len() as u64;
    }
    walk.close(at);
    Ok(walk.outline)
}

/// Reads a line with its end. Says whether there was one.
pub(super) fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, Failure> {
    line.clear();
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
        let taken = end.unwrap_or(buffer.len());
        line.extend_from_slice(&buffer[..taken]);
        input.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
        if line.len() > MAX_LINE {
            return Err(Failure::NotSimple);
        }
    }
}

#[derive(Debug, Default)]
struct Walk {
    outline: Outline,
    /// Whether the lines belong to the entries.
    in_entries: bool,
    /// The column of the names of charts, once there was one.
    column: Option<usize>,
    /// The chart that the lines belong to, and where it began.
    chart: Option<(String, u64)>,
}

impl Walk {
    fn take(&mut self, line: Line<'_>, at: u64) -> Result<(), NotSimple> {
        let Line::Begin {
            column,
            item,
            key,
            filled,
        } = line
        else {
            return Ok(());
        };
        if column == 0 {
            return match key {
                // A list in column 0 is the value of the field above.
                None if item && !self.in_entries && !self.outline.fields.is_empty() => Ok(()),
                None => Err(NotSimple),
                Some(key) => self.field(key, filled, at),
            };
        }
        if !self.in_entries {
            return Ok(());
        }
        let charts = *self.column.get_or_insert(column);
        match (column.cmp(&charts), key) {
            (std::cmp::Ordering::Less, _) => Err(NotSimple),
            (std::cmp::Ordering::Equal, Some(name)) => {
                // A chart on one line may be empty or written in flow style.
                if filled || name == "<<" {
                    return Err(NotSimple);
                }
                self.close(at);
                self.chart = Some((name.to_owned(), at));
                Ok(())
            }
            (std::cmp::Ordering::Equal, None) if !item || self.chart.is_none() => Err(NotSimple),
            _ => Ok(()),
        }
    }

    fn field(&mut self, key: &str, filled: bool, at: u64) -> Result<(), NotSimple> {
        self.close(at);
        self.in_entries = key == "entries";
        if !self.in_entries {
            self.outline.fields.push((key.to_owned(), at..at));
            return Ok(());
        }
        if filled || self.outline.has_entries {
            return Err(NotSimple);
        }
        self.outline.has_entries = true;
        Ok(())
    }

    /// Ends what was begun last.
    fn close(&mut self, at: u64) {
        if let Some((name, begin)) = self.chart.take() {
            self.outline.charts.insert(name, begin..at);
        } else if let Some((_, range)) = self.outline.fields.last_mut()
            && !self.in_entries
        {
            range.end = at;
        }
    }
}

/// Goes through the list of versions of a chart in block style: so many bytes of whole items at a time, and one at least.
pub(super) fn yaml_items(
    input: &mut dyn BufRead,
    at_once: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = Lines::default();
    let mut line = Vec::new();
    let mut items: Option<usize> = None;
    let mut text = Vec::new();
    while read_line(input, &mut line)? {
        if let Line::Begin { column, item, .. } = lines.next(&line)?
            && *items.get_or_insert(column) == column
        {
            if !item {
                return Err(Failure::NotSimple);
            }
            if text.len() > at_once {
                take(&text)?;
                text.clear();
            }
        }
        if items.is_some() {
            text.extend_from_slice(&line);
        }
    }
    if !text.is_empty() {
        take(&text)?;
    }
    Ok(())
}
