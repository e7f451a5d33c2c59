//! The difference of two texts, line by line, as messages of the real server show it.
//!
//! The real server's library looks for the longest run of equal lines, then does the same before and after it. Lines
//! that stand often in a long text start no run. A diff that is shortest would often be another one, and messages must
//! be the same.

use std::collections::HashMap;
use std::fmt::Write;

use model::Value;

use super::internal;

/// How many equal lines are shown around each change.
const CONTEXT: usize = 3;

/// Texts with more lines are not compared, as that may take long.
///
/// **Deviation**: the real server has no such limit.
const MOST_LINES: usize = 5_000;

/// The difference of two values of the server's own type `ty`.
pub(super) fn of_values(ty: &str, old: &Value, new: &Value) -> String {
    of_texts(&internal::pretty(ty, old), &internal::pretty(ty, new))
}

fn of_texts(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    if old.len().max(new.len()) > MOST_LINES {
        return String::new();
    }
    let blocks = Matcher::new(&old, &new).blocks();
    let mut out = String::new();
    for hunk in hunks(&blocks, old.len(), new.len()) {
        write_hunk(&hunk, &old, &new, &mut out);
    }
    out
}

/// A run of equal lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    old: usize,
    new: usize,
    size: usize,
}

struct Matcher<'t> {
    old: &'t [&'t str],
    new: &'t [&'t str],
    /// Where each line stands in the new text.
    places: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Matcher<'t> {
    fn new(old: &'t [&'t str], new: &'t [&'t str]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in new.iter().enumerate() {
            places.entry(line).or_default().push(at);
        }
        if new.len() >= 200 {
            let often = new.len() / 100 + 1;
            places.retain(|_, places| places.len() <= often);
        }
        Matcher { old, new, places }
    }

    /// All runs of equal lines in their order.
    fn blocks(&self) -> Vec<Block> {
        let mut found = Vec::new();
        let mut open = vec![(0, self.old.len(), 0, self.new.len())];
        while let Some((old_start, old_end, new_start, new_end)) = open.pop() {
            let block = self.longest(old_start, old_end, new_start, new_end);
            if block.size == 0 {
                continue;
            }
            found.push(block);
            if old_start < block.old && new_start < block.new {
                open.push((old_start, block.old, new_start, block.new));
            }
            let (old_after, new_after) = (block.old + block.size, block.new + block.size);
            if old_after < old_end && new_after < new_end {
                open.push((old_after, old_end, new_after, new_end));
            }
        }
        found.sort_by_key(|block| block.old);
        found
    }

    fn longest(&self, old_start: usize, old_end: usize, new_start: usize, new_end: usize) -> Block {
        let mut best = Block {
            old: old_start,
            new: new_start,
            size: 0,
        };
        // The length of the run that ends at each place of the new text.
        let mut runs: HashMap<usize, usize> = HashMap::new();
        for at in old_start..old_end {
            let mut next = HashMap::new();
            let places = self
                .places
                .get(self.old[at])
                .map(Vec::as_slice)
                .unwrap_or_default();
            for place in places
                .iter()
                .filter(|place| (new_start..new_end).contains(*place))
            {
                let before = place.checked_sub(1).and_then(|place| runs.get(&place)).copied();
                let size = before.unwrap_or_default() + 1;
                next.insert(*place, size);
                if size > best.size {
                    best = Block {
                        old: at + 1 - size,
                        new: place + 1 - size,
                        size,
                    };
                }
            }
            runs = next;
        }
        while best.old > old_start && best.new > new_start && self.old[best.old - 1] == self.new[best.new - 1]
        {
            best = Block {
                old: best.old - 1,
                new: best.new - 1,
                size: best.size + 1,
            };
        }
        while best.old + best.size < old_end
            && best.new + best.size < new_end
            && self.old[best.old + best.size] == self.new[best.new + best.size]
        {
            best.size += 1;
        }
        best
    }
}

/// A part of the texts: equal lines, or old lines in whose place there are new ones.
#[derive(Clone, Copy, Debug)]
struct Part {
    equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

/// The changes with the lines around them; those that are close together are one hunk.
fn hunks(blocks: &[Block], old_lines: usize, new_lines: usize) -> Vec<Vec<Part>> {
    let mut parts = parts(blocks, old_lines, new_lines);
    if let Some(first) = parts.first_mut().filter(|part| part.equal) {
        first.old.0 = first.old.0.max(first.old.1.saturating_sub(CONTEXT));
        first.new.0 = first.new.0.max(first.new.1.saturating_sub(CONTEXT));
    }
    if let Some(last) = parts.last_mut().filter(|part| part.equal) {
        last.old.1 = last.old.1.min(last.old.0 + CONTEXT);
        last.new.1 = last.new.1.min(last.new.0 + CONTEXT);
    }
    let mut hunks = Vec::new();
    let mut hunk = Vec::new();
    for part in parts {
        if part.equal && part.old.1 - part.old.0 > 2 * CONTEXT {
            let mut head = part;
            head.old.1 = part.old.0 + CONTEXT;
            head.new.1 = part.new.0 + CONTEXT;
            hunk.push(head);
            hunks.push(std::mem::take(&mut hunk));
            let mut tail = part;
            tail.old.0 = part.old.1 - CONTEXT;
            tail.new.0 = part.new.1 - CONTEXT;
            hunk.push(tail);
        } else {
            hunk.push(part);
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.iter().any(|part| !part.equal));
    hunks
}

fn parts(blocks: &[Block], old_lines: usize, new_lines: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut old, mut new) = (0, 0);
    let end = Block {
        old: old_lines,
        new: new_lines,
        size: 0,
    };
    for block in blocks.iter().chain([&end]) {
        if old < block.old || new < block.new {
            parts.push(Part {
                equal: false,
                old: (old, block.old),
                new: (new, block.new),
            });
        }
        (old, new) = (block.old + block.size, block.new + block.size);
        match parts.last_mut() {
            Some(last) if last.equal => (last.old.1, last.new.1) = (old, new),
            _ if block.size > 0 => parts.push(Part {
                equal: true,
                old: (block.old, old),
                new: (block.new, new),
            }),
            _ => {}
        }
    }
    parts
}

fn write_hunk(hunk: &[Part], old: &[&str], new: &[&str], out: &mut String) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let old_range = range(first.old.0, last.old.1);
    let new_range = range(first.new.0, last.new.1);
    writeln!(out, "@@ -{old_range} +{new_range} @@").expect("a String takes all");
    let mut write = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    for part in hunk {
        match part.equal {
            true => write(' ', &old[part.old.0..part.old.1]),
            false => {
                write('-', &old[part.old.0..part.old.1]);
                write('+', &new[part.new.0..part.new.1]);
            }
        }
    }
}

fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => (start + 1).to_string(),
        0 => format!("{start},0"),
        count => format!("{},{count}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_three_lines_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\nm";
        assert_eq!(
            of_texts(old, new),
            "@@ -2,12 +2,11 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n i\n j\n k\n-l\n m\n"
        );
    }

    #[test]
    fn changes_that_are_far_apart_are_hunks_of_their_own() {
        let old: Vec<String> = (0..20).map(|line| line.to_string()).collect();
        let mut new = old.clone();
        new[0] = "x".into();
        new.push("y".into());
        assert_eq!(
            of_texts(&old.join("\n"), &new.join("\n")),
            "@@ -1,4 +1,4 @@\n-0\n+x\n 1\n 2\n 3\n@@ -18,3 +18,4 @@\n 17\n 18\n 19\n+y\n"
        );
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(of_texts("a\nb", "a\nb"), "");
    }
}
