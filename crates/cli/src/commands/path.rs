//! Paths of trees, as texts.

/// A path without `.` and `..`, from the root of its tree on; what leads out of the tree begins at its root. Links are not followed.
pub(crate) fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_tree() {
        for (path, expected) in [
            ("a/b/../c", "a/c"),
            ("/a//./b/", "a/b"),
            ("a/../../b", "b"),
            ("", ""),
        ] {
            assert_eq!(cleaned(path), expected, "{path}");
        }
    }
}
