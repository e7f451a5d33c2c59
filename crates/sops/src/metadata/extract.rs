//! Takes the metadata out of a tree.

use super::{Metadata, flatten, read};
use crate::error::Error;
use crate::format::Format;
use crate::tree::{Branch, Item, Tree, Value};

/// How the metadata stands in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A map `sops`.
    Nested,
    /// A map `sops` whose keys are flat.
    FlatSection,
    /// Flat keys that begin with `sops_`.
    FlatKeys,
}

const KEY: &str = "sops";
const PREFIX: &str = "sops_";

/// Removes the metadata from every document and reads that of the first.
pub(crate) fn extract(tree: &mut Tree, layout: Layout, format: Format) -> Result<Metadata, Error> {
    let complain = |reason: String| Error::Metadata { format, reason };
    let found = if layout == Layout::FlatKeys {
        prefixed(tree)
    } else {
        section(tree).map_err(complain)?
    };
    let mut found = found.ok_or_else(|| complain("sops metadata not found".to_owned()))?;
    if layout == Layout::FlatSection {
        for item in &mut found {
            if let Item::Entry(_, Value::Text(text)) = item {
                *text = String::from_utf8_lossy(text).replace("\\n", "\n").into_bytes();
            }
        }
    }
    if layout != Layout::Nested {
        found = flatten::unflatten(found).map_err(complain)?;
    }
    read::metadata(&found, format)
}

fn section(tree: &mut Tree) -> Result<Option<Branch>, String> {
    let mut found = None;
    for (index, branch) in tree.branches.iter_mut().enumerate() {
        let is_metadata = |item: &Item| matches!(item, Item::Entry(key, _) if key == KEY);
        let (metadata, rest): (Vec<Item>, Vec<Item>) =
            std::mem::take(branch).into_iter().partition(is_metadata);
        *branch = rest;
        if index > 0 {
            continue;
        }
        for item in metadata {
            let Item::Entry(_, value) = item else { continue };
            let Value::Map(map) = value else {
                return Err("the entry sops is no map".to_owned());
            };
            if found.replace(map).is_some() {
                return Err("there are two entries sops".to_owned());
            }
        }
    }
    Ok(found)
}

fn prefixed(tree: &mut Tree) -> Option<Branch> {
    let branch = tree.branches.first_mut()?;
    let mut found = Branch::new();
    let mut rest = Branch::new();
    for item in std::mem::take(branch) {
        match item {
            Item::Entry(key, value) if key.starts_with(PREFIX) => {
                found.push(Item::Entry(key[PREFIX.len()..].to_owned(), value));
            }
            other => rest.push(other),
        }
    }
    *branch = rest;
    (!found.is_empty()).then_some(found)
}
