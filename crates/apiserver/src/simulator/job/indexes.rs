//! The indexes of a job that are done, as its status tells them: `0-2,5`.

use std::collections::BTreeSet;
use std::fmt;

/// No indexed job has more; it keeps a status that somebody made up from costing anything.
const MOST: i64 = 100_000;

/// A set of indexes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Indexes(BTreeSet<i64>);

impl Indexes {
    /// Reads a text; indexes from `limit` on are left out, and so is what cannot be read.
    pub(super) fn parse(text: &str, limit: i64) -> Self {
        let ranges = text.split(',').filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: i64 = first.parse().ok()?;
            let last: i64 = last.parse().ok()?;
            Some(first.max(0)..=last.min(limit.min(MOST) - 1))
        });
        Indexes(ranges.flatten().collect())
    }

    pub(super) fn extend(&mut self, more: impl Iterator<Item = i64>) {
        self.0.extend(more);
    }

    pub(super) fn len(&self) -> i64 {
        self.0.len() as i64
    }

    pub(super) fn contains(&self, index: i64) -> bool {
        self.0.contains(&index)
    }
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for index in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *index => *last = *index,
                _ => ranges.push((*index, *index)),
            }
        }
        let texts: Vec<String> = ranges
            .into_iter()
            .map(|(first, last)| match last - first {
                0 => first.to_string(),
                // Two in a row are not a range.
                1 => format!("{first},{last}"),
                _ => format!("{first}-{last}"),
            })
            .collect();
        f.write_str(&texts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_told_as_ranges() {
        let indexes = Indexes(BTreeSet::from([0, 1, 2, 5, 7, 8]));
        assert_eq!(indexes.to_string(), "0-2,5,7,8");
        assert_eq!(Indexes::parse("0-2,5,7,8", 10), indexes);
        assert_eq!(Indexes::parse("", 10).to_string(), "");
        assert_eq!(Indexes::parse("0-9223372036854775807,x", 3).len(), 3);
    }
}
