//! U+0085 in texts, which does not survive a build.
//!
//! kustomize writes its objects as JSON and reads that as YAML to print them. JSON leaves U+0085 as it is, and in YAML it breaks
//! a line, even between quotes: one of them becomes a space, several become line breaks, and spaces around them vanish.

use yaml::node::{Node, Text};

const NEXT_LINE: char = '\u{85}';

/// Does that to all texts of an object.
pub(crate) fn fold(node: &mut Node) {
    match node {
        Node::Scalar(scalar) if scalar.text.contains(NEXT_LINE) => {
            scalar.text = Text::from(folded(&scalar.text))
        }
        Node::Scalar(_) => {}
        Node::List(items) => items.iter_mut().for_each(fold),
        Node::Map(map) => map.iter_mut().for_each(|(_, value)| fold(value)),
    }
}

fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split(NEXT_LINE);
    let first = lines.next().unwrap_or_default();
    let mut pending = first;
    let mut breaks = 0;
    for line in lines {
        breaks += 1;
        let content = line.trim_start_matches(' ');
        // What holds nothing but spaces is one more break, unless the text ends there.
        out.push_str(pending.trim_end_matches(' '));
        pending = "";
        if !content.is_empty() {
            join(&mut out, breaks);
            (pending, breaks) = (content, 0);
        }
    }
    out.push_str(pending);
    join(&mut out, breaks);
    out
}

/// Writes what so many breaks in a row become.
fn join(out: &mut String, breaks: usize) {
    match breaks {
        0 => {}
        1 => out.push(' '),
        _ => out.extend(std::iter::repeat_n('\n', breaks - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As kustomize 5.8.1 prints them.
    #[test]
    fn breaks_become_spaces_and_lines() {
        for (text, expected) in [
            ("a\u{85}b", "a b"),
            ("a\u{85}", "a "),
            ("\u{85}a", " a"),
            ("a\u{85}\nb", "a \nb"),
            ("a \u{85} b", "a b"),
            ("\u{85}", " "),
            ("a\u{85}\u{85}b", "a\nb"),
            ("a \u{85} \u{85}\u{85} b ", "a\n\nb "),
            ("a\u{85}\u{85}", "a\n"),
        ] {
            assert_eq!(folded(text), expected, "{text:?}");
        }
    }
}
