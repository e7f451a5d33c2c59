//! Paths as text.

/// Joins two paths and takes `.` and `..` out; `..` that leads above the start stays at the front.
pub(crate) fn join(base: &str, name: &str) -> String {
    if base.is_empty() {
        return clean(name);
    }
    clean(&format!("{base}/{name}"))
}

/// Takes `.`, `..` and empty names out.
pub(crate) fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether the path leads out of its root.
pub(crate) fn escapes(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// Whether `path` is `root` or below it.
pub(crate) fn is_within(path: &str, root: &str) -> bool {
    root.is_empty()
        || path
            .strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The directory of a file.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last name of a path.
pub(crate) fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(join("a/b", "../c"), "a/c");
        assert_eq!(join("a", "./x//y/"), "a/x/y");
        assert_eq!(join("a", "../.."), "..");
        assert_eq!(join("", "../../x"), "../../x");
        assert!(escapes("../../x") && escapes("..") && !escapes("..a"));
        assert!(is_within("a/b", "a") && !is_within("ab", "a") && is_within("a", ""));
    }
}
