//! A directory as the files of a build.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::files::{Entry, EntryKind, Files};

/// No manifest is larger: an object in a cluster has at most 1.5 MiB, and files with many of them some ten.
const LARGEST_FILE: u64 = 64 << 20;
/// Walking more would not end in sensible time.
const MOST_ENTRIES: usize = 1_000_000;

/// A directory that cannot be left: `..`, absolute paths and links that lead out of it lead nowhere.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
    /// What may be read of it: all, unless that is narrowed.
    readable: PathBuf,
    shown: Shown,
    largest_file: u64,
    /// Removes the directory at the end, if it is there for this build alone.
    _temporary: Option<tempfile::TempDir>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Absolute,
    Relative,
}

impl Directory {
    /// The directory `root`. Messages have the whole paths of files.
    ///
    /// # Errors
    /// If there is no such directory.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        Ok(Directory {
            readable: root.clone(),
            root,
            shown: Shown::Absolute,
            largest_file: LARGEST_FILE,
            _temporary: None,
        })
    }

    /// A directory that is removed when this is dropped.
    ///
    /// # Errors
    /// If it is there no more.
    pub fn temporary(folder: tempfile::TempDir) -> io::Result<Self> {
        let mut directory = Directory::new(folder.path())?;
        directory._temporary = Some(folder);
        Ok(directory)
    }

    /// Messages have paths from the root on: where that is says nothing to people.
    #[must_use]
    pub fn shown_relative(mut self) -> Self {
        self.shown = Shown::Relative;
        self
    }

    /// Reads nothing but what is in or below a folder; paths stay those of the root.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn reading_only(mut self, folder: &Path) -> io::Result<Self> {
        self.readable = fs::canonicalize(folder)?;
        Ok(self)
    }

    /// Refuses files of more than so many bytes.
    #[must_use]
    pub fn with_largest_file(mut self, bytes: u64) -> Self {
        self.largest_file = bytes;
        self
    }

    /// Where the path really is; `None` if that is nowhere or outside.
    fn real(&self, path: &str) -> Option<PathBuf> {
        let real = fs::canonicalize(self.root.join(path)).ok()?;
        self.holds(&real).then_some(real)
    }

    fn holds(&self, real: &Path) -> bool {
        real.starts_with(&self.root) && real.starts_with(&self.readable)
    }

    fn content(&self, real: &Path) -> Result<Vec<u8>, String> {
        // A pipe or a device would be read for ever.
        if !fs::metadata(real).map_err(|error| error.to_string())?.is_file() {
            return Err("it is no regular file".to_owned());
        }
        let file = fs::File::open(real).map_err(|error| error.to_string())?;
        let mut content = Vec::new();
        let read = file
            .take(self.largest_file.saturating_add(1))
            .read_to_end(&mut content);
        read.map_err(|error| error.to_string())?;
        if content.len() as u64 > self.largest_file {
            return Err(format!(
                "it is larger than {} bytes: split it, or leave it out with a .sourceignore",
                self.largest_file
            ));
        }
        Ok(content)
    }
}

impl kustomize::Tree for Directory {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        let Some(real) = self.real(path) else {
            return Ok(None);
        };
        match self.content(&real) {
            Ok(content) => Ok(Some(Cow::Owned(content))),
            Err(problem) => Err(format!("failed to read {}: {problem}", self.show(path))),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        self.real(path).is_some_and(|real| real.is_dir())
    }

    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>, String> {
        if !kustomize::Tree::is_dir(self, directory) {
            return Ok(None);
        }
        let entries = Files::list(self, directory);
        let entries = entries.map_err(|problem| {
            format!(
                "failed to read {}: {problem}",
                kustomize::Tree::show(self, directory)
            )
        })?;
        Ok(Some(entries.into_iter().map(|entry| entry.name).collect()))
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let real = self.real(path)?;
        Some(real.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    fn why_missing(&self, path: &str) -> Option<String> {
        let whole = self.root.join(path);
        match fs::canonicalize(&whole) {
            Ok(real) if !real.starts_with(&self.root) => Some("it leads out of the source".to_owned()),
            Ok(real) if !self.holds(&real) => {
                Some(format!("it is not in or below '{}'", self.readable.display()))
            }
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let link = fs::read_link(&whole).ok()?;
                Some(format!(
                    "it is a link to '{}', which is not there",
                    link.display()
                ))
            }
            // A circle of links, or what may not be looked at.
            Err(error) => Some(error.to_string()),
        }
    }

    fn is_file_system(&self) -> bool {
        self.root.parent().is_none()
    }

    fn show(&self, path: &str) -> String {
        match self.shown {
            Shown::Absolute => self.root.join(path).display().to_string(),
            Shown::Relative if path.is_empty() => ".".to_owned(),
            Shown::Relative => path.to_owned(),
        }
    }
}

impl Files for Directory {
    fn list(&self, directory: &str) -> Result<Vec<Entry>, String> {
        let Some(real) = self.real(directory) else {
            return Err("there is no such directory".to_owned());
        };
        let mut entries = Vec::new();
        for found in fs::read_dir(real).map_err(|error| error.to_string())? {
            let found = found.map_err(|error| error.to_string())?;
            let kind = found.file_type().map_err(|error| error.to_string())?;
            let Ok(name) = found.file_name().into_string() else {
                return Err(format!(
                    "the name of {} is not UTF-8",
                    found.file_name().to_string_lossy()
                ));
            };
            if entries.len() == MOST_ENTRIES {
                return Err(format!("there are more than {MOST_ENTRIES} files in it"));
            }
            let kind = if kind.is_dir() {
                EntryKind::Directory
            } else {
                EntryKind::File
            };
            entries.push(Entry { name, kind });
        }
        entries.sort();
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use kustomize::Tree as _;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tree/sub")).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        fs::write(folder.path().join("tree/own"), "y").unwrap();
        folder
    }

    #[test]
    fn dots_absolute_paths_and_links_lead_nowhere_outside() {
        let folder = folder();
        let tree = folder.path().join("tree");
        symlink("../secret", tree.join("out")).unwrap();
        symlink(folder.path(), tree.join("up")).unwrap();
        symlink("own", tree.join("in")).unwrap();
        let directory = Directory::new(&tree).unwrap();
        let secret = folder.path().join("secret");
        for path in [
            "out",
            "../secret",
            "up/secret",
            "sub/../../secret",
            secret.to_str().unwrap(),
        ] {
            assert_eq!(directory.read(path), Ok(None), "{path}");
            assert_eq!(directory.resolve(path), None, "{path}");
        }
        assert!(!directory.is_dir("up") && directory.list("up").is_err());
        assert_eq!(directory.resolve("in").as_deref(), Some("own"));
        assert_eq!(directory.read("in").unwrap().unwrap().as_ref(), b"y");
    }

    #[test]
    fn what_is_outside_of_the_folder_that_may_be_read_leads_nowhere() {
        let folder = folder();
        let tree = folder.path().join("tree");
        symlink("../../secret", tree.join("sub/out")).unwrap();
        fs::write(tree.join("sub/inner"), "z").unwrap();
        let directory = Directory::new(folder.path())
            .unwrap()
            .reading_only(&tree.join("sub"))
            .unwrap();
        for path in ["secret", "tree/own", "tree/sub/out", "tree/sub/../own"] {
            assert_eq!(directory.read(path), Ok(None), "{path}");
            assert_eq!(directory.resolve(path), None, "{path}");
            let why = directory.why_missing(path).unwrap_or_default();
            assert!(why.starts_with("it is not in or below '"), "{path}: {why}");
        }
        assert!(directory.list("tree").is_err());
        assert_eq!(directory.read("tree/sub/inner").unwrap().unwrap().as_ref(), b"z");
    }

    #[test]
    fn why_links_lead_nowhere_is_told() {
        let folder = folder();
        let tree = folder.path().join("tree");
        symlink("round", tree.join("about")).unwrap();
        symlink("about", tree.join("round")).unwrap();
        symlink("../secret", tree.join("out")).unwrap();
        symlink("nothing", tree.join("broken")).unwrap();
        let directory = Directory::new(&tree).unwrap();
        let why = |path: &str| directory.why_missing(path).unwrap_or_default();
        assert!(why("about").contains("symbolic links"), "{}", why("about"));
        assert_eq!(why("out"), "it leads out of the source");
        assert_eq!(why("broken"), "it is a link to 'nothing', which is not there");
        assert_eq!((why("own"), why("gone")), (String::new(), String::new()));
    }

    #[test]
    fn what_is_too_large_or_no_file_is_refused() {
        let folder = folder();
        let directory = Directory::new(&folder.path().join("tree"))
            .unwrap()
            .shown_relative();
        assert_eq!(
            directory.read("sub").unwrap_err(),
            "failed to read sub: it is no regular file"
        );
        fs::write(folder.path().join("tree/large"), "12345").unwrap();
        let directory = directory.with_largest_file(4);
        let problem = directory.read("large").unwrap_err();
        assert!(problem.contains("large: it is larger than 4 bytes"), "{problem}");
        assert_eq!(directory.read("own").unwrap().unwrap().as_ref(), b"y");
    }

    #[test]
    fn a_link_is_listed_as_a_file() {
        let folder = folder();
        symlink("sub", folder.path().join("tree/link")).unwrap();
        let directory = Directory::new(&folder.path().join("tree")).unwrap();
        let listed = directory.list("").unwrap();
        let listed: Vec<_> = listed
            .iter()
            .map(|entry| (entry.name.as_str(), entry.kind))
            .collect();
        assert_eq!(
            listed,
            [
                ("link", EntryKind::File),
                ("own", EntryKind::File),
                ("sub", EntryKind::Directory)
            ]
        );
    }
}
