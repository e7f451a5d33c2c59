//! The files of a commit, without a checkout: trees are read from the object database.

use std::collections::HashSet;

use bstr::ByteSlice;
use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_object::{Kind as ObjectKind, TreeRefIter};

use super::error::Cause;
use super::objects::Objects;
use super::remote::Limits;
use crate::archive::{Entry, Kind};

/// Paths deeper than this are an attack, not a repository.
const MAX_DEPTH: usize = 256;

/// The directories that alone are wanted; none means all.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    wanted: Vec<String>,
}

impl Sparse {
    /// Directories as people write them: `./apps/`, `apps`.
    pub(super) fn new(paths: &[String]) -> Self {
        let plain = |path: &String| {
            let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
            parts.collect::<Vec<_>>().join("/")
        };
        let wanted: Vec<String> = paths.iter().map(plain).collect();
        match wanted.iter().any(String::is_empty) {
            true => Sparse::default(),
            false => Sparse { wanted },
        }
    }

    fn relation(&self, path: &str) -> Relation {
        let below = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.wanted.is_empty() || self.wanted.iter().any(|wanted| below(path, wanted)) {
            Relation::Wanted
        } else if self.wanted.iter().any(|wanted| below(wanted, path)) {
            Relation::Above
        } else {
            Relation::Other
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Wanted,
    Above,
    Other,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files and directories; directories have no object.
    pub(super) entries: Vec<(Entry, Option<ObjectId>)>,
    /// Submodules: where, and which commit. They are directories too.
    pub(super) links: Vec<(String, ObjectId)>,
    /// The file that says where submodules come from.
    pub(super) gitmodules: Option<ObjectId>,
    /// The trees whose files are all there.
    pub(super) complete: Vec<ObjectId>,
}

/// Lists all wanted files below a tree, and sees that their content is there. Trees that were `complete` before are so
/// again: of a repository that changed little, little is looked up.
pub(super) fn walk(
    objects: &Objects,
    tree: ObjectId,
    sparse: &Sparse,
    limits: &Limits,
    complete: &HashSet<ObjectId>,
) -> Result<Found, Cause> {
    let mut walk = Walk {
        objects,
        sparse,
        limits,
        complete,
        found: Found::default(),
    };
    walk.tree(tree, "", 0)?;
    let found = walk.found;
    for wanted in &sparse.wanted {
        if !found.entries.iter().any(|(entry, _)| entry.path == *wanted) {
            return Err(Cause::SparsePath(wanted.clone()));
        }
    }
    Ok(found)
}

struct Walk<'a> {
    objects: &'a Objects,
    sparse: &'a Sparse,
    limits: &'a Limits,
    complete: &'a HashSet<ObjectId>,
    found: Found,
}

impl Walk<'_> {
    fn tree(&mut self, id: ObjectId, prefix: &str, depth: usize) -> Result<(), Cause> {
        if depth > MAX_DEPTH {
            return Err(Cause::Limit {
                what: "directories inside each other",
                limit: MAX_DEPTH as u64,
            });
        }
        let content = self.objects.get_kind(id, ObjectKind::Tree)?;
        let is_complete = self.complete.contains(&id);
        for entry in TreeRefIter::from_bytes(&content, gix_hash::Kind::Sha1) {
            let entry = entry.map_err(|_| Cause::Object {
                id: id.to_string(),
                state: "a malformed tree",
            })?;
            let path = path(prefix, entry.filename)?;
            let id = entry.oid.to_owned();
            let kind = entry.mode.kind();
            if depth == 0
                && path == ".gitmodules"
                && matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable)
            {
                self.found.gitmodules = Some(id);
            }
            match (self.sparse.relation(&path), kind) {
                (Relation::Other, _) => {}
                (_, EntryKind::Tree) => {
                    self.add(path.clone(), Kind::Directory, None)?;
                    self.tree(id, &format!("{path}/"), depth + 1)?;
                }
                (Relation::Above, _) | (_, EntryKind::Link) => {}
                (Relation::Wanted, EntryKind::Commit) => {
                    self.found.links.push((path.clone(), id));
                    self.add(path, Kind::Directory, None)?;
                }
                (Relation::Wanted, EntryKind::Blob | EntryKind::BlobExecutable) => {
                    if !is_complete && !self.objects.has(id) {
                        return Err(Cause::Object {
                            id: id.to_string(),
                            state: "missing",
                        });
                    }
                    let executable = kind == EntryKind::BlobExecutable;
                    self.add(path, Kind::File { executable }, Some(id))?;
                }
            }
        }
        if self.sparse.relation(prefix.trim_end_matches('/')) == Relation::Wanted {
            self.found.complete.push(id);
        }
        Ok(())
    }

    fn add(&mut self, path: String, kind: Kind, id: Option<ObjectId>) -> Result<(), Cause> {
        if self.found.entries.len() as u64 >= self.limits.files {
            return Err(Cause::Limit {
                what: "files",
                limit: self.limits.files,
            });
        }
        self.found.entries.push((Entry { path, kind }, id));
        Ok(())
    }
}

fn path(prefix: &str, name: &[u8]) -> Result<String, Cause> {
    let refused = |reason: &'static str| {
        let path = format!("{prefix}{}", String::from_utf8_lossy(name));
        Cause::Path { path, reason }
    };
    let name = name.to_str().map_err(|_| refused("its name is not UTF-8"))?;
    if name.is_empty()
        || name == "."
        || name == ".."
        || memchr::memchr2(b'/', b'\0', name.as_bytes()).is_some()
    {
        return Err(refused("it leads out of its directory"));
    }
    if name.eq_ignore_ascii_case(".git") {
        return Err(refused("it has the name that Git keeps for itself"));
    }
    let mut path = String::with_capacity(prefix.len() + name.len());
    path.push_str(prefix);
    path.push_str(name);
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_inside_above_or_beside_what_is_wanted() {
        let sparse = Sparse::new(&["./apps/one/".to_owned(), "infra".to_owned()]);
        for (path, expected) in [
            ("apps", Relation::Above),
            ("apps/one", Relation::Wanted),
            ("apps/one/a.yaml", Relation::Wanted),
            ("apps/one-more", Relation::Other),
            ("infra", Relation::Wanted),
            ("infrastructure", Relation::Other),
            ("README.md", Relation::Other),
        ] {
            assert_eq!(sparse.relation(path), expected, "{path}");
        }
        assert_eq!(Sparse::new(&["./".to_owned()]).relation("x"), Relation::Wanted);
        assert_eq!(Sparse::new(&[]).relation("x"), Relation::Wanted);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [&b".."[..], b".", b"", b"a/b", b".GIT", b"\xff", b"a\0"] {
            assert!(path("x/", name).is_err(), "{name:?}");
        }
        assert_eq!(path("x/", b".gitignore").unwrap(), "x/.gitignore");
    }
}
