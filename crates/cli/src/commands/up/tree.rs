//! A working tree: the files below a directory, as Git would take them into a commit.
//!
//! Patterns of `.gitignore` files count, also those above the directory and `.git/info/exclude` where it is part of a Git
//! work tree. What a `.sourceignore` leaves out is left out later, by the controller, as of any other repository.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use source::archive::Kind;
use source::archive::ignore::Rules;

/// Files larger than this are not read: they are no manifests, and one that is called so is told.
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
            let whole = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.eq_ignore_ascii_case(".git") {
                continue;
            }
            // Of a link this tells about the link itself. What is gone by now is not there; what cannot be looked at is, and to
            // take it for gone would prune what stands in it.
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(format!("{}: failed to read it: {error}", whole.display())),
            };
            let mut inner = way.to_vec();
            inner.push(name.clone());
            let kind = match meta.is_dir() {
                true => Kind::Directory,
                false => Kind::File { executable: false },
            };
            if self.rules.ignores(&inner.join("/"), kind) {
                continue;
            }
            let is_plain = entry.file_name().to_str().is_some();
            if !is_plain && (meta.is_dir() || is_wanted(&name)) {
                return Err(format!(
                    "{}: its name is no UTF-8; rename it, or leave it out with a .gitignore",
                    whole.display()
                ));
            }
            let path = format!("{prefix}{name}");
            match meta.is_dir() {
                true => self.folder(&whole, &inner, &format!("{path}/"))?,
                false if is_plain => self.file(path, &whole, &meta)?,
                // No kustomization can name it.
                false => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: String, whole: &Path, meta: &Metadata) -> Result<(), String> {
        let name = path.rsplit('/').next().unwrap_or_default();
        if !meta.is_file() {
            if is_wanted(name) {
                self.listing
                    .left_out
                    .insert(path, "it is a link or no regular file");
            }
            return Ok(());
        }
        if meta.len() > FILE_LIMIT {
            // What is no manifest is nothing that could be pruned.
            return match is_wanted(name) {
                true => Err(too_large(whole)),
                false => Ok(()),
            };
        }
        self.total += meta.len();
        let stamp = Stamp {
            length: meta.len(),
            modified: meta.modified().ok(),
            executable: is_executable(meta),
        };
        self.listing.files.insert(path, stamp);
        Ok(())
    }
}

/// Whether a file of this name is taken for manifests.
pub(super) fn is_manifest(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Whether a user would miss it. Editors lock files by links with a dot in front.
fn is_wanted(name: &str) -> bool {
    is_manifest(name) && !name.starts_with('.')
}

fn too_large(file: &Path) -> String {
    format!(
        "{}: it is larger than {} MiB; split it, or leave it out with a .gitignore",
        file.display(),
        FILE_LIMIT >> 20
    )
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
    let read = opened.and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut content));
    match read {
        // It has grown since it was listed.
        Ok(length) if length as u64 > FILE_LIMIT => Err(too_large(file)),
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

    /// Whoever is taken for gone is pruned.
    #[cfg(unix)]
    #[test]
    fn what_cannot_be_read_is_never_taken_for_gone() {
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::fs::PermissionsExt as _;
        let refused = |root: &Path| WorkingTree::new(root).list().unwrap_err();
        let root = tempfile::tempdir().unwrap();
        let large = std::fs::File::create(root.path().join("large.yaml")).unwrap();
        large.set_len(FILE_LIMIT + 1).unwrap();
        let told = refused(root.path());
        assert!(told.contains("large.yaml: it is larger than 16 MiB"), "{told}");
        let root = tempfile::tempdir().unwrap();
        let strange = std::ffi::OsStr::from_bytes(b"web-\xff.yaml");
        std::fs::write(root.path().join(strange), "").unwrap();
        let told = refused(root.path());
        assert!(told.contains("its name is no UTF-8"), "{told}");
        write(root.path(), &[(".gitignore", "web-*\n")]);
        assert_eq!(listed(root.path()), [".gitignore"]);
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &[("apps/a.yaml", "")]);
        let apps = root.path().join("apps");
        std::fs::set_permissions(&apps, std::fs::Permissions::from_mode(0o600)).unwrap();
        // Whoever may do everything is refused nothing.
        if std::fs::symlink_metadata(apps.join("a.yaml")).is_err() {
            let told = refused(root.path());
            assert!(told.contains("apps/a.yaml: failed to read it"), "{told}");
        }
        std::fs::set_permissions(&apps, std::fs::Permissions::from_mode(0o700)).unwrap();
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
