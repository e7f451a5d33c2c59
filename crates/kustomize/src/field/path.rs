//! Taking paths apart.

/// Splits at a delimiter that no backslash stands before. One delimiter at the start is skipped.
pub(crate) fn split(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<&str> = path.split(delimiter).collect();
    if parts.len() > 1 && parts[0].is_empty() {
        parts.remove(0);
    }
    let mut result: Vec<String> = Vec::with_capacity(parts.len());
    for part in parts {
        match result.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            _ => result.push(part.to_owned()),
        }
    }
    result
}

/// Splits at dots, but not inside of brackets: `[name=a.b]` stays as it is, `[a.b]` becomes `a.b`.
pub(crate) fn split_bracketed(path: &str) -> Vec<String> {
    let mut result = Vec::new();
    let mut parts = split(path, '.').into_iter();
    while let Some(part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            result.push(part);
            continue;
        }
        let mut whole = part;
        for next in parts.by_ref() {
            whole.push('.');
            whole.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        if whole.contains('=') {
            result.push(whole);
        } else {
            result.push(whole.trim_matches(['[', ']']).to_owned());
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_delimiter_is_part_of_a_name() {
        assert_eq!(
            split("/metadata/annotations/a.b\\/c", '/'),
            ["metadata", "annotations", "a.b/c"]
        );
    }

    #[test]
    fn brackets_hold_dots_together() {
        assert_eq!(
            split_bracketed("spec.containers.[name=a.b].image"),
            ["spec", "containers", "[name=a.b]", "image"]
        );
        assert_eq!(
            split_bracketed("metadata.annotations.[a.b/c]"),
            ["metadata", "annotations", "a.b/c"]
        );
    }
}
