//! The names of groups, which are lost where an expression is written anew.

/// The names of all groups that capture, from left to right; those without have an empty one. The text is known to be an
/// expression.
pub(super) fn group_names(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        loop {
            let (found, rest) = next(text)?;
            text = rest;
            if let Some(name) = found {
                return Some(name);
            }
        }
    })
}

/// What a character or more at the start of a text are: perhaps a group with a name.
fn next(text: &str) -> Option<(Option<&str>, &str)> {
    let char = text.chars().next()?;
    let after = &text[char.len_utf8()..];
    Some(match char {
        '\\' => (None, after_escape(after)),
        '[' => (None, after_class(after)),
        '(' => match after.strip_prefix("?P<").or_else(|| after.strip_prefix("?<")) {
            Some(named) => {
                let (name, rest) = named.split_once('>').unwrap_or((named, ""));
                (Some(name), rest)
            }
            None if after.starts_with('?') => (None, after),
            None => (Some(""), after),
        },
        _ => (None, after),
    })
}

fn after_escape(text: &str) -> &str {
    match text.strip_prefix('Q') {
        Some(quoted) => quoted.split_once("\\E").map_or("", |(_, rest)| rest),
        None => {
            let mut chars = text.chars();
            chars.next();
            chars.as_str()
        }
    }
}

/// What follows a set of characters, whose bracket was read. A bracket right at its start is one of the characters.
fn after_class(text: &str) -> &str {
    let text = text.strip_prefix('^').unwrap_or(text);
    let mut rest = text.strip_prefix(']').unwrap_or(text);
    while let Some(char) = rest.chars().next() {
        let after = &rest[char.len_utf8()..];
        rest = match char {
            ']' => return after,
            '\\' => after_escape(after),
            '[' if after.starts_with(':') => after.split_once(":]").map_or(after, |(_, rest)| rest),
            _ => after,
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_name_past_all_that_only_looks_like_one() {
        let text = r"\((a)(?:x)(?P<one>b)[](](?i)\Q(\E[[:alpha:](](?<two>c)[^](](d)";
        let names: Vec<&str> = group_names(text).collect();
        assert_eq!(names, ["", "one", "two", ""]);
    }
}
