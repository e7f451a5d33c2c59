//! The documents of a rendered file.

use crate::version::HelmVersion;

/// The documents of a text, in order, without those that are empty.
///
/// Helm looks for lines that begin with `---` and nothing else: `---apiVersion: v1` is a new document too, and so is one in
/// a block of text. Helm 3 takes all white space around such a line away, so that of two in a row the second is content.
pub fn split(text: &str, version: HelmVersion) -> Vec<&str> {
    let text = match version {
        HelmVersion::V4 => text.trim_start(),
        HelmVersion::V3 => text.trim(),
    };
    let mut documents = Vec::new();
    let mut begin = 0;
    let mut line = 0;
    while line < text.len() {
        if text[line..].starts_with("---") {
            documents.push(&text[begin..line]);
            begin = line + 3;
            if version == HelmVersion::V3 {
                begin = text.len() - text[begin..].trim_start().len();
            }
            line = begin;
        }
        line = text[line..].find('\n').map_or(text.len(), |at| line + at + 1);
    }
    documents.push(&text[begin..]);
    documents
        .into_iter()
        .map(|document| match version {
            HelmVersion::V4 => document.trim_start(),
            HelmVersion::V3 => document.trim(),
        })
        .filter(|document| !document.trim().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_begin_where_helm_4_sees_them_begin() {
        let split = |text| split(text, HelmVersion::V4);
        assert_eq!(split("\n---\na: 1\n---\n\n---\nb: 2\n\n"), ["a: 1\n", "b: 2\n\n"]);
        assert_eq!(split("---apiVersion: v1\n"), ["apiVersion: v1\n"]);
        assert_eq!(split("a: |\n  x\n--- \t\nb: 1"), ["a: |\n  x\n", "b: 1"]);
        assert_eq!(split("a: 1\n ---\n"), ["a: 1\n ---\n"]);
        assert!(split(" \n---\n  \n").is_empty());
    }

    #[test]
    fn helm_3_takes_white_space_away_and_a_second_line_for_content() {
        let split = |text| split(text, HelmVersion::V3);
        assert_eq!(split("\n---\na: 1\n\n---\nb: 2\n\n"), ["a: 1", "b: 2"]);
        assert_eq!(split("a: 1\n---\n---\nb: 2\n"), ["a: 1", "---\nb: 2"]);
    }
}
