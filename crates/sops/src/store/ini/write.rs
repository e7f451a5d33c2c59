//! Writing sections of keys: signs are aligned, and an empty line stands between sections.

use super::{DEFAULT, DELIMITERS};
use crate::tree::{Branch, Item, Tree, Value};

struct Key<'a> {
    name: &'a str,
    value: Vec<u8>,
    comment: Option<&'a [u8]>,
}

pub(crate) fn write(tree: &Tree) -> Result<Vec<u8>, String> {
    let mut sections = Vec::new();
    for item in tree.branches.iter().flatten() {
        let Item::Entry(name, value) = item else { continue };
        let Value::Map(branch) = value else {
            return Err(format!(
                "'{name}' is no section: an INI file has only sections of keys"
            ));
        };
        if name.is_empty() {
            return Err("a section has no name".to_owned());
        }
        sections.push((name, branch));
    }
    let mut out = Vec::new();
    let last = sections.len().saturating_sub(1);
    for (index, (name, branch)) in sections.into_iter().enumerate() {
        let (comment, keys) = keys(branch)?;
        if let Some(comment) = comment {
            write_comment(comment, false, &mut out);
        }
        if index > 0 || !name.eq_ignore_ascii_case(DEFAULT) {
            out.push(b'[');
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"]\n");
        } else if keys.is_empty() {
            continue;
        }
        write_keys(&keys, &mut out);
        if index < last {
            out.push(b'\n');
        }
    }
    Ok(out)
}

/// The comment of a section, which is its first entry, and its keys, each with the comment that follows it.
fn keys(branch: &Branch) -> Result<(Option<&[u8]>, Vec<Key<'_>>), String> {
    let mut comment = None;
    let mut keys: Vec<Key<'_>> = Vec::new();
    // Of several comments behind a key the last one counts, and of several keys of one name the last value.
    let mut current = None;
    for (index, item) in branch.iter().enumerate() {
        match item {
            Item::Comment(found) if index == 0 => comment = Some(found.text.as_slice()),
            Item::Comment(found) => {
                if let Some(key) = current.and_then(|at: usize| keys.get_mut(at)) {
                    key.comment = Some(&found.text);
                }
            }
            Item::Entry(name, _) if name.is_empty() => return Err("a key has no name".to_owned()),
            Item::Entry(name, Value::Map(_) | Value::List(_)) => {
                return Err(format!(
                    "'{name}' is a list or a map, which an INI file cannot have"
                ));
            }
            Item::Entry(name, value) => {
                let value = crate::store::flat(value);
                current = match keys.iter().position(|key| key.name == name) {
                    Some(at) => {
                        keys[at].value = value;
                        Some(at)
                    }
                    None => {
                        let comment = None;
                        keys.push(Key { name, value, comment });
                        Some(keys.len() - 1)
                    }
                };
            }
        }
    }
    Ok((comment, keys))
}

fn write_keys(keys: &[Key<'_>], out: &mut Vec<u8>) {
    let names: Vec<String> = keys.iter().map(|key| quoted_name(key.name)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for (key, name) in keys.iter().zip(&names) {
        if let Some(comment) = key.comment {
            write_comment(comment, true, out);
        }
        out.extend_from_slice(name.as_bytes());
        out.extend(std::iter::repeat_n(b' ', width - name.len()));
        out.extend_from_slice(b" = ");
        let value = key.value.as_slice();
        let quote: &[u8] = if value.iter().any(|byte| b"\n`".contains(byte)) {
            b"\"\"\""
        } else if value.iter().any(|byte| b"#;".contains(byte)) {
            b"`"
        } else if is_padded(value) {
            b"\""
        } else {
            b""
        };
        out.extend_from_slice(quote);
        out.extend_from_slice(value);
        out.extend_from_slice(quote);
        out.push(b'\n');
    }
}

fn quoted_name(name: &str) -> String {
    if name.contains('"') || name.contains(DELIMITERS) {
        format!("`{name}`")
    } else if name.contains('`') {
        format!("\"\"\"{name}\"\"\"")
    } else {
        name.to_owned()
    }
}

fn is_padded(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    text.trim().len() != text.len()
}

/// Every line of a comment begins with a sign. Those of keys are trimmed.
fn write_comment(comment: &[u8], trimmed: bool, out: &mut Vec<u8>) {
    if comment.is_empty() {
        return;
    }
    for line in comment.split(|byte| *byte == b'\n') {
        match line.split_first() {
            Some((sign @ (b'#' | b';'), rest)) => {
                out.extend_from_slice(&[*sign, b' ']);
                out.extend_from_slice(rest.trim_ascii());
            }
            _ => {
                out.extend_from_slice(b"; ");
                out.extend_from_slice(if trimmed { line.trim_ascii() } else { line });
            }
        }
        out.push(b'\n');
    }
}
