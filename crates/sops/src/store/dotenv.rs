//! Lines of `KEY=value`. A break in a value is written as `\n`.

use crate::tree::{Comment, Item, Tree, Value};

pub(super) fn read(data: &[u8]) -> Result<Tree, String> {
    let text = std::str::from_utf8(data).map_err(|_| "it is no UTF-8".to_owned())?;
    let mut branch = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            branch.push(Item::Comment(Comment {
                text: comment.as_bytes().to_vec(),
                inline: false,
            }));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("line {}: there is no '='", number + 1));
        };
        branch.push(Item::Entry(
            key.to_owned(),
            Value::text(value.replace("\\n", "\n")),
        ));
    }
    Ok(Tree {
        branches: vec![branch],
    })
}

pub(super) fn write(tree: &Tree) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for item in tree.branches.first().into_iter().flatten() {
        match item {
            Item::Comment(comment) => {
                out.push(b'#');
                out.extend_from_slice(&comment.text);
            }
            Item::Entry(key, Value::List(_) | Value::Map(_)) => {
                return Err(format!(
                    "cannot use complex value in dotenv file; offending key {key}"
                ));
            }
            Item::Entry(key, value) => {
                out.extend_from_slice(key.as_bytes());
                out.push(b'=');
                for byte in super::flat(value) {
                    match byte {
                        b'\n' => out.extend_from_slice(b"\\n"),
                        other => out.push(other),
                    }
                }
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}
