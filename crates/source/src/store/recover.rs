//! Clearing away what a process that was killed has left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::place::{LOCK, TEMPORARY};
use super::usage::namespace_of;
use super::{Error, Store};

/// How deep the directories of objects are: kind, namespace, name.
const DEPTH: usize = 3;

impl Store {
    /// Removes temporary files and directories, locks that no one holds, links to nothing, empty directories and content that
    /// no object has.
    pub(super) fn recover(&self) -> Result<(), Error> {
        clear_scratch(&self.root)?;
        for kind in directories(&self.root)? {
            self.clear(&kind, 1)?;
        }
        // What is content without an object is known only now.
        self.contents.recover()
    }

    /// Clears a directory, and removes it if nothing is left in it. Counts the files that stay.
    fn clear(&self, directory: &Path, depth: usize) -> Result<(), Error> {
        if depth < DEPTH {
            for inner in directories(directory)? {
                self.clear(&inner, depth + 1)?;
            }
        } else {
            let is_cleared = clear_object(directory)?;
            self.count(directory)?;
            if !is_cleared {
                return Ok(());
            }
        }
        match fs::remove_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map_err(Error::remove(directory)),
        }
    }

    /// Counts the files of an object for its namespace.
    fn count(&self, directory: &Path) -> Result<(), Error> {
        for entry in fs::read_dir(directory).map_err(Error::directory(directory))? {
            let path = entry.map_err(Error::directory(directory))?.path();
            let metadata = fs::symlink_metadata(&path).map_err(Error::read(&path))?;
            if metadata.is_file()
                && let Some(namespace) = namespace_of(&self.root, &path)
            {
                self.usage.add(namespace, metadata.len());
            }
        }
        Ok(())
    }
}

/// Removes what was being fetched or unpacked in the root, which has names as the `tempfile` crate gives them.
fn clear_scratch(root: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(root).map_err(Error::directory(root))? {
        let entry = entry.map_err(Error::directory(root))?;
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(".tmp") {
            continue;
        }
        let is_directory = entry.file_type().map_err(Error::read(&path))?.is_dir();
        let removed = match is_directory {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(Error::remove(&path))?;
    }
    Ok(())
}

/// Clears the directory of an object, unless someone alive is writing there. Says whether it did.
fn clear_object(directory: &Path) -> Result<bool, Error> {
    let mut leftovers = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::directory(directory))? {
        let entry = entry.map_err(Error::directory(directory))?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(LOCK) {
            if Lock::is_held(&path).map_err(Error::read(&path))? {
                return Ok(false);
            }
            leftovers.push(path);
        } else if name.starts_with(TEMPORARY) || is_link_to_nothing(&path) {
            leftovers.push(path);
        }
    }
    for path in leftovers {
        fs::remove_file(&path).map_err(Error::remove(&path))?;
    }
    Ok(true)
}

fn is_link_to_nothing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
        && fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The directories in a directory, without those that links lead to and those that are not of objects: content, and what
/// others keep beside it under names with a dot in front.
fn directories(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::directory(directory))? {
        let entry = entry.map_err(Error::directory(directory))?;
        let path = entry.path();
        let is_directory = entry.file_type().map_err(Error::read(&path))?.is_dir();
        let name = entry.file_name();
        if is_directory && !name.to_string_lossy().starts_with('.') && name != "lost+found" {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Options;
    use super::*;

    #[test]
    fn what_was_being_fetched_goes_and_what_others_keep_stays() {
        let root = tempfile::tempdir().unwrap();
        let scratch = root.path().join(".tmpAbC123");
        let kept = root.path().join(".git-cache/0/objects");
        fs::create_dir_all(scratch.join("a/b/c")).unwrap();
        fs::write(scratch.join("a/file"), "x").unwrap();
        fs::write(root.path().join(".tmpLayer"), "x").unwrap();
        fs::create_dir_all(&kept).unwrap();
        Store::open(
            root.path(),
            Options::new("store.test"),
            Arc::new(jiff::Timestamp::now),
        )
        .unwrap();
        let entries = fs::read_dir(root.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".content", ".git-cache"]);
        assert!(kept.is_dir(), "even what is empty stays");
    }
}
