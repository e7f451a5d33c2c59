//! Any bytes. Encrypted, they are the value of `data` in a JSON object, and are read as such.

use crate::tree::{Item, Tree, Value};

pub(super) fn write(tree: &Tree) -> Result<Vec<u8>, String> {
    let [branch] = tree.branches.as_slice() else {
        return Err("there must be exactly one document".to_owned());
    };
    let data = branch.iter().find_map(|item| match item {
        Item::Entry(key, value) if key == "data" => Some(value),
        _ => None,
    });
    match data {
        Some(Value::Text(bytes)) => Ok(bytes.clone()),
        Some(_) => Err("the value of data is no string".to_owned()),
        None => Err("there is no value data".to_owned()),
    }
}
