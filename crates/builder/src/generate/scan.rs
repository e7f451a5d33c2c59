//! The manifests of a directory without a kustomization file.

use kustomize::FILE_NAMES;

use super::path;
use crate::error::Error;
use crate::files::{EntryKind, Files};

/// Deeper trees are no trees of manifests.
const MAX_DEPTH: usize = 256;

/// The paths, from the directory on, of all YAML files and of all directories with a kustomization file, in the order in
/// which Go walks. Such a directory is a resource of its own, and what is in it is its own business.
///
/// Whether the files are manifests is seen when they are built: kustomize reads each of them once, and names all that are
/// none.
pub(super) fn manifests(files: &dyn Files, directory: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    walk(files, directory, "", 0, &mut found)?;
    Ok(found)
}

fn walk(
    files: &dyn Files,
    root: &str,
    below: &str,
    depth: usize,
    found: &mut Vec<String>,
) -> Result<(), Error> {
    let here = path::join(root, below);
    let problem = |message: String| Error::Read {
        path: files.show(&here),
        message,
    };
    if depth == MAX_DEPTH {
        return Err(problem(format!("directories are more than {MAX_DEPTH} deep")));
    }
    for entry in files.list(&here).map_err(problem)? {
        let inner = path::join(below, &entry.name);
        match entry.kind {
            EntryKind::Directory if has_kustomization(files, &path::join(root, &inner)) => found.push(inner),
            EntryKind::Directory => walk(files, root, &inner, depth + 1, found)?,
            EntryKind::File if is_yaml(&entry.name) => found.push(inner),
            EntryKind::File => {}
        }
    }
    Ok(())
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

fn has_kustomization(files: &dyn Files, directory: &str) -> bool {
    FILE_NAMES.into_iter().any(|name| {
        let file = path::join(directory, name);
        files.resolve(&file).is_some() && !files.is_dir(&file)
    })
}
