//! Names that stay below the directory that is unpacked to.

use super::Error;

/// As much as Linux takes.
const LONGEST: usize = 4096;
const LONGEST_PART: usize = 255;

/// The name without `.` and slashes that say nothing; empty for the root.
pub(super) fn clean(name: &[u8]) -> Result<String, Error> {
    let refused = |reason| {
        let shown = name[..name.len().min(LONGEST_PART)].escape_ascii().to_string();
        Err(Error::Name { name: shown, reason })
    };
    let Ok(text) = std::str::from_utf8(name) else {
        return refused("is not UTF-8");
    };
    if text.is_empty() {
        return refused("is empty");
    }
    if text.len() > LONGEST || text.split('/').any(|part| part.len() > LONGEST_PART) {
        return refused("is too long");
    }
    if text.starts_with('/') {
        return refused("is absolute");
    }
    if text.contains('\\') {
        return refused("has a backslash");
    }
    if text.contains('\0') {
        return refused("has a zero byte");
    }
    let parts: Vec<&str> = text
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return refused("leads out of the archive with \"..\"");
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned() {
        for (name, clean_name) in [
            (".", ""),
            ("./", ""),
            ("./a", "a"),
            ("a/", "a"),
            ("a//b/./c", "a/b/c"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(clean(name.as_bytes()).unwrap(), clean_name);
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "", "/", "/a", "..", "../a", "a/..", "a/../b", "a\\b", "..\\a", "a\0b",
        ] {
            assert!(clean(name.as_bytes()).is_err(), "{name:?}");
        }
        assert!(clean(b"\xff").is_err());
        assert!(clean(&[b'a'; 256]).is_err());
        assert!(clean("a/".repeat(3000).as_bytes()).is_err());
    }
}
