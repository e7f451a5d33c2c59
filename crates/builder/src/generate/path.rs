//! Paths as text.

/// Joins two paths and takes `.` and `..` out; `..` that leads above the start stays at the front.
pub(crate) fn join(base: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(name.split('/')) {
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
