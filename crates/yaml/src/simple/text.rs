//! Texts over several lines, after `|` and `>`.

use model::Value;

use super::scalar::{is_rest, string};
use super::{Keep, Reader};

impl Reader<'_> {
    /// The text whose first line is this one, in a list or map in this column; goes on to the line after it.
    pub(super) fn text(&mut self, first: &str, column: usize, keep: Keep<'_>) -> Option<Value> {
        let is_folded = first.starts_with('>');
        let (ends, rest) = match first.as_bytes().get(1) {
            Some(b'-') => (Ends::None, &first[2..]),
            Some(b'+') => (Ends::All, &first[2..]),
            _ => (Ends::One, &first[1..]),
        };
        if !is_rest(rest) {
            return None;
        }
        let mut text = String::new();
        let mut indent = None;
        // Lines without content since the last that had some, and whether all of these had ends.
        let (mut empty, mut widest) = (0, 0);
        let mut is_ended = true;
        while let Some((raw, next)) = self.raw() {
            let spaces = raw.len() - raw.trim_start_matches(' ').len();
            let is_blank = spaces == raw.len();
            let margin = indent.unwrap_or(spaces);
            if is_blank && (indent.is_none() || spaces <= margin) {
                // At the end of the text a line without an end counts in other ways.
                if next == self.text.len() && !self.text.ends_with('\n') {
                    return None;
                }
                (empty, widest) = (empty + 1, widest.max(spaces));
                self.next = next;
                continue;
            }
            if spaces < margin || indent.is_none() && margin <= column {
                if raw[spaces..].starts_with('\t') {
                    return None;
                }
                break;
            }
            let content = &raw[margin..];
            if indent.is_none() {
                // Of wider lines before the first one libyaml takes the width.
                if widest > margin || content.starts_with('\t') {
                    return None;
                }
                text.extend(std::iter::repeat_n('\n', empty));
            } else if !is_folded {
                text.extend(std::iter::repeat_n('\n', empty + 1));
            } else if empty == 0 {
                text.push(' ');
            } else {
                text.extend(std::iter::repeat_n('\n', empty));
            }
            if is_folded && content.starts_with([' ', '\t']) {
                return None;
            }
            text.push_str(content);
            indent = Some(margin);
            empty = 0;
            self.next = next;
            is_ended = self.text.as_bytes()[..next].ends_with(b"\n");
        }
        indent?;
        match ends {
            Ends::None => {}
            Ends::One if is_ended => text.push('\n'),
            Ends::All if is_ended => text.extend(std::iter::repeat_n('\n', empty + 1)),
            _ => {}
        }
        self.advance()?;
        Some(string(&text, keep))
    }
}

/// Which ends of lines at the end of a text belong to it.
enum Ends {
    None,
    One,
    All,
}
