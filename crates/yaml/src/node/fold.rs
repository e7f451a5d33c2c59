//! What becomes of a folded text (`>`) that go-yaml v3 writes and reads again.
//!
//! kustomize does so with every object before it is printed, and the writer has a fault: it looks at the start of the whole
//! text where it should look at the next line. So a line that is indented more than the others gets an empty line before
//! it, and a text that begins with a blank loses ends of lines. The objects in clusters look like this, and so must ours.

use std::borrow::Cow;

use crate::go::style;

/// The text after go-yaml has written it in folded style and read it.
pub(super) fn rewritten(text: &str) -> Cow<'_, str> {
    // Version 3 takes tabs for letters here, unlike version 2.
    let unchanged = !text.contains('\n')
        || text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
        || !style::block_allowed(&text.replace('\t', "x"));
    if unchanged {
        return Cow::Borrowed(text);
    }
    let adds_breaks = text
        .trim_start_matches('\n')
        .starts_with(|first| !is_blank(first));
    let mut out = String::with_capacity(text.len() + 4);
    let mut rest = text;
    let mut above: Option<&str> = None;
    while !rest.is_empty() {
        let breaks = rest.len() - rest.trim_start_matches('\n').len();
        let after = &rest[breaks..];
        let line = after.split('\n').next().unwrap_or_default();
        let added = usize::from(adds_breaks && above.is_some_and(|above| !above.starts_with(is_blank)));
        let written = match above {
            _ if breaks == 0 => 0,
            None => breaks,
            Some(_) => breaks + added,
        };
        match above {
            // Without a line above or below, ends of lines are what they are; a single one at the end stays single.
            None => push_breaks(written, &mut out),
            Some(_) if line.is_empty() => push_breaks(if breaks == 1 { 1 } else { written }, &mut out),
            Some(above) if above.starts_with(is_blank) || line.starts_with(is_blank) => {
                push_breaks(written, &mut out);
            }
            Some(_) if written == 1 => out.push(' '),
            Some(_) => push_breaks(written - 1, &mut out),
        }
        out.push_str(line);
        above = Some(line);
        rest = &after[line.len()..];
    }
    Cow::Owned(out)
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

fn push_breaks(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n('\n', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &str) {
        assert_eq!(rewritten(text), want, "{text:?}");
    }

    #[test]
    fn a_line_that_is_indented_gets_an_empty_line_before_it() {
        check("a\n  b\nc", "a\n\n  b\nc");
        check("a\n  b\n  c\nd\n", "a\n\n  b\n  c\nd\n");
        check("a\n\n  b", "a\n\n\n  b");
    }

    #[test]
    fn plain_lines_stay() {
        for text in ["a", "a b", "a\nb\n", "a\n\nb\nc", "", "\n", "a\n", "\n\na\nb"] {
            check(text, text);
        }
    }

    #[test]
    fn ends_of_lines_at_the_end_grow_where_there_are_several() {
        check("a\n\n", "a\n\n\n");
        check("  a\n\n", "  a\n\n");
    }

    #[test]
    fn a_text_that_begins_with_a_blank_loses_ends_of_lines() {
        check("  a\nb\nc\n\nd", "  a\nb c\nd");
    }
}
