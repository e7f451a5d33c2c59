//! Names of repositories and tags.

/// Whether it is a repository's name: lower-case words with single separators between them, in parts with slashes.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 255 && name.split('/').all(is_part)
}

fn is_part(part: &str) -> bool {
    let is_word = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let words = |character: char| !is_word(character);
    let separators: Vec<&str> = part.split(is_word).filter(|text| !text.is_empty()).collect();
    let fine = |text: &str| matches!(text, "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    !part.is_empty() && !part.starts_with(words) && !part.ends_with(words) && separators.into_iter().all(fine)
}

/// Whether it can be a tag.
pub(super) fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let rest = |byte: u8| is_word(byte) || byte == b'.' || byte == b'-';
    tag.len() <= 128 && tag.bytes().next().is_some_and(is_word) && tag.bytes().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_specification() {
        for good in ["a", "team/app", "a.b_c__d-e---f/1"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "", "A", "a//b", "/a", "a/", "-a", "a-", "a..b", "a___b", "a._b", "ä",
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn tags_follow_the_specification() {
        for good in ["latest", "v1.0.0", "_x", "6.1.0-rc.1", &"a".repeat(128)] {
            assert!(is_tag(good), "{good}");
        }
        for bad in ["", ".a", "-a", "a+b", "a:b", &"a".repeat(129)] {
            assert!(!is_tag(bad), "{bad}");
        }
    }
}
