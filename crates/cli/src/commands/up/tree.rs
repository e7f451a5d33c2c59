//! A working tree: the files below a directory, as Git would take them into a commit.
//!
//! Patterns of `.gitignore` files count, also those above the directory and `.git/info/exclude` where it is part of a Git
//! work tree. What a `.sourceignore` leaves out is left out later, by the controller, as of any other repository.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use source::archive::Kind;
use source::archive::ignore::Rules;

/// Files larger than this are left out: they are no manifests.
const FILE_LIMIT: u64 = 16 << 20;
/// All files together are held in memory.
const TREE_LIMIT: u64 = 512 << 20;

/// What is read as an ignore file is no longer than this.
const IGNORE_LIMIT: u64 = 1 << 20;

/// A directory whose files are followed.
pub(super) struct WorkingTree {
    folder: PathBuf,
    /// The way from the root of the Git work tree to the directory.
    way: Vec<String>,
    /// The root of the Git work tree, or the directory itself.
    root: PathBuf,
}

/// What tells that a file has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    executable: bool,
}

/// What there is to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    files: BTreeMap<String, Stamp>,
    /// What is not taken though its name is one of a manifest, with the reason.
    pub(super) left_out: BTreeMap<String, &'static str>,
}

/// The files as they were read.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(pub(super) BTreeMap<String, Held>);

/// A file as it was read.
#[derive(Clone, Debug)]
pub(super) struct Held {
    stamp: Stamp,
    pub(super) content: Bytes,
}

impl WorkingTree {
    pub(super) fn new(folder: &Path) -> Self {
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = whole.ancestors().find(|above| above.join(".git").exists());
        let root = root.unwrap_or(&whole).to_owned();
        let below = whole.strip_prefix(&root).unwrap_or(Path::new(""));
        let way = below.iter().map(|part| part.to_string_lossy().into_owned());
        WorkingTree {
            folder: folder.to_owned(),
            way: way.collect(),
            root,
        }
    }

    /// All files that Git would see. Links are left out: one that leads to its own parent has no end, and one that leads
    /// elsewhere is not part of the tree.
    pub(super) fn list(&self) -> Result<Listing, String> {
        let mut rules = Rules::none();
        let mut add = |file: &Path, directory: &[String]| add_rules(&mut rules, file, directory);
        add(&self.root.join(".git/info/exclude"), &[])?;
        for depth in 0..self.way.len() {
            let above = &self.way[..depth];
            let folder = above.iter().fold(self.root.clone(), |path, part| path.join(part));
            add(&folder.join(".gitignore"), above)?;
        }
        let mut walk = Walk {
            rules,
            listing: Listing::default(),
            total: 0,
        };
        walk.folder(&self.folder, &self.way, "")?;
        if walk.total > TREE_LIMIT {
            return Err(format!(
                "{}: the files are larger than {} MiB together: leave what is no manifest out with a .gitignore, or name a \
                 directory further down",
                self.folder.display(),
                TREE_LIMIT >> 20
            ));
        }
        Ok(walk.listing)
    }

    /// The content of the files; of those that have not changed, as it was read before.
    pub(super) fn read(&self, listing: &Listing, before: &Files) -> Result<Files, String> {
        let mut files = Files::default();
        for (path, stamp) in &listing.files {
            let known = before.0.get(path).filter(|held| held.stamp == *stamp);
            let content = match known {
                Some(held) => held.content.clone(),
                None => read(&self.folder.join(path))?.into(),
            };
            let stamp = stamp.clone();
            files.0.insert(path.clone(), Held { stamp, content });
        }
        Ok(files)
    }
}

impl Files {
    /// As they go into a commit.
    pub(super) fn to_commit(&self) -> BTreeMap<String, gitserver::File> {
        let file = |held: &Held| gitserver::File {
            executable: held.stamp.executable,
            content: held.content.clone(),
        };
        let files = self.0.iter().map(|(path, held)| (path.clone(), file(held)));
        files.collect()
    }

    /// When the newest of them was changed, in seconds since 1970.
    pub(super) fn newest(&self) -> i64 {
        let times = self.0.values().filter_map(|held| held.stamp.modified);
        let since = times.filter_map(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let newest = since.max().unwrap_or_default();
        i64::try_from(newest.as_secs()).unwrap_or_default()
    }
}

struct Walk {
    rules: Rules,
    listing: Listing,
    total: u64,
}

impl Walk {
    /// Takes what is in a directory, which is at `way` in the Git work tree and at `prefix` in what is listed.
    fn folder(&mut self, folder: &Path, way: &[String], prefix: &str) -> Result<(), String> {
        add_rules(&mut self.rules, &folder.join(".gitignore"), way)?;
        let failed = |error: std::io::Error| format!("{}: failed to read it: {error}", folder.display());
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Of a link this tells about the link itself. What is gone by now is not there.
            let (Some(name), Ok(meta)) = (entry.file_name().to_str().map(str::to_owned), entry.metadata())
            else {
                continue;
            };
            if name.eq_ignore_ascii_case(".git") {
                continue;
            }
            let mut inner = way.to_vec();
            inner.push(name.clone());
            let kind = match meta.is_dir() {
                true => Kind::Directory,
                false => Kind::File { executable: false },
            };
            if self.rules.ignores(&inner.join("/"), kind) {
                continue;
            }
            let path = format!("{prefix}{name}");
            match meta.is_dir() {
                true => self.folder(&entry.path(), &inner, &format!("{path}/"))?,
                false => self.file(path, &name, &meta),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: String, name: &str, meta: &Metadata) {
        let why = match meta.is_file() {
            false => Some("it is a link or no regular file"),
            true if meta.len() > FILE_LIMIT => Some("it is larger than 16 MiB; split it"),
            true => None,
        };
        if let Some(why) = why {
            // Editors lock files by links with a dot in front.
            if is_manifest(name) && !name.starts_with('.') {
                self.listing.left_out.insert(path, why);
            }
            return;
        }
        self.total += meta.len();
        let stamp = Stamp {
            length: meta.len(),
            modified: meta.modified().ok(),
            executable: is_executable(meta),
        };
        self.listing.files.insert(path, stamp);
    }
}

/// Whether a file of this name is taken for manifests.
pub(super) fn is_manifest(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

fn add_rules(rules: &mut Rules, file: &Path, directory: &[String]) -> Result<(), String> {
    // A file that is not there, or is none, has no patterns.
    if !std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= IGNORE_LIMIT) {
        return Ok(());
    }
    let told = |error: &dyn std::fmt::Display| format!("{}: failed to read it: {error}", file.display());
    let text = std::fs::read(file).map_err(|error| told(&error))?;
    rules.add(&text, directory).map_err(|error| told(&error))
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut content));
    match read {
        Ok(_) => Ok(content),
        Err(error) => Err(format!("{}: failed to read it: {error}", file.display())),
    }
}

#[cfg(unix)]
fn is_executable(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn listed(folder: &Path) -> Vec<String> {
        let listing = WorkingTree::new(folder).list().unwrap();
        listing.files.into_keys().collect()
    }

    #[test]
    fn what_git_ignores_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            (".git/HEAD", "ref: refs/heads/main"),
            (".git/info/exclude", "private.yaml\n"),
            (".gitignore", "*.log\n/build/\n!keep.log\n"),
            ("a.yaml", ""),
            ("private.yaml", ""),
            ("x.log", ""),
            ("keep.log", ""),
            ("build/b.yaml", ""),
            ("apps/.gitignore", "tmp\n"),
            ("apps/tmp/c.yaml", ""),
            ("apps/build/d.yaml", ""),
        ];
        write(root.path(), &files);
        let seen = [
            ".gitignore",
            "a.yaml",
            "apps/.gitignore",
            "apps/build/d.yaml",
            "keep.log",
        ];
        assert_eq!(listed(root.path()), seen);
        // What stands above a directory counts in it, too.
        write(root.path(), &[("apps/y.log", "")]);
        assert_eq!(listed(&root.path().join("apps")), [".gitignore", "build/d.yaml"]);
    }

    #[test]
    fn files_are_read_once_and_again_when_they_change() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[("a.yaml", "one"), ("b.yaml", "same")]);
        let tree = WorkingTree::new(root.path());
        let first = tree.list().unwrap();
        let files = tree.read(&first, &Files::default()).unwrap();
        assert_eq!(tree.list().unwrap(), first);
        write(root.path(), &[("a.yaml", "another")]);
        let second = tree.list().unwrap();
        assert_ne!(first, second);
        let again = tree.read(&second, &files).unwrap();
        assert_eq!(&again.0["a.yaml"].content[..], b"another");
        assert_eq!(
            again.0["b.yaml"].content.as_ptr(),
            files.0["b.yaml"].content.as_ptr()
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", root.path().join("zero.yaml")).unwrap();
        std::os::unix::fs::symlink("/", root.path().join("root")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.path().join(".#lock.yaml")).unwrap();
        let listing = WorkingTree::new(root.path()).list().unwrap();
        assert!(listing.files.is_empty());
        assert_eq!(listing.left_out.keys().collect::<Vec<_>>(), ["zero.yaml"]);
    }
}
