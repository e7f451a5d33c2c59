//! The files of a commit, without a checkout: trees are read from the object database.

use std::sync::Arc;

use bstr::ByteSlice;
use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_object::{Kind as ObjectKind, TreeRefIter};

use super::error::Cause;
use super::listing::{Listing, What};
use super::objects::Objects;
use super::settings::Limits;

/// Paths deeper than this are an attack, not a repository.
const MAX_DEPTH: usize = 256;

/// The bytes that all names may have together.
const MAX_NAMES: u64 = 64 << 20;

const GITMODULES: &str = ".gitmodules";

/// The directories that alone are wanted; none means all.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    wanted: Vec<String>,
    /// Whether they may be inside of submodules.
    into_submodules: bool,
}

impl Sparse {
    /// Directories as people write them: `./apps/`, `apps`. They may be inside of submodules if those are fetched too.
    pub(super) fn new(paths: &[String], into_submodules: bool) -> Self {
        let plain = |path: &String| {
            let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
            parts.collect::<Vec<_>>().join("/")
        };
        let wanted: Vec<String> = paths.iter().map(plain).collect();
        match wanted.iter().any(String::is_empty) {
            true => Sparse::default(),
            false => Sparse {
                wanted,
                into_submodules,
            },
        }
    }

    /// What alone is wanted of a submodule; none means all.
    pub(super) fn inside(&self, submodule: &str) -> Vec<String> {
        match self.relation(submodule) {
            Relation::Wanted | Relation::Other => Vec::new(),
            Relation::Above => {
                let inside =
                    |wanted: &String| Some(wanted.strip_prefix(submodule)?.strip_prefix('/')?.to_owned());
                self.wanted.iter().filter_map(inside).collect()
            }
        }
    }

    /// The first that is not there. What is inside of a submodule is looked for when that is fetched.
    fn missing(&self, listing: &Listing, links: &[(String, ObjectId)]) -> Option<&String> {
        let is_inside = |wanted: &str, link: &str| {
            let rest = wanted.strip_prefix(link);
            self.into_submodules && rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut wanted = self.wanted.iter();
        wanted.find(|wanted| !listing.has(wanted) && !links.iter().any(|(link, _)| is_inside(wanted, link)))
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
#[derive(Debug)]
pub(super) struct Found {
    /// Files and directories.
    pub(super) listing: Arc<Listing>,
    /// Submodules: where, and which commit. They are directories too.
    pub(super) links: Vec<(String, ObjectId)>,
    /// The file that says where submodules come from.
    pub(super) gitmodules: Option<ObjectId>,
}

/// Lists all wanted files below a tree, and sees that their content is there. What the listing of before has is there
/// still: of a repository that changed little, little is read.
pub(super) fn walk(
    objects: &Objects,
    tree: ObjectId,
    sparse: &Sparse,
    limits: &Limits,
    before: Option<&Arc<Listing>>,
) -> Result<Found, Cause> {
    let mut walk = Walk {
        objects,
        sparse,
        limits,
        count: 0,
        names: 0,
        open: 0,
        gitmodules: None,
    };
    let listing = walk.tree(tree, "", 0, before)?;
    let mut links = Vec::new();
    listing.submodules("", &mut links);
    if let Some(wanted) = sparse.missing(&listing, &links) {
        return Err(Cause::SparsePath(wanted.clone()));
    }
    let listed = || match listing.get(GITMODULES, false) {
        Some((id, What::File { .. })) => Some(id),
        _ => None,
    };
    Ok(Found {
        gitmodules: walk.gitmodules.or_else(listed),
        listing,
        links,
    })
}

struct Walk<'a> {
    objects: &'a Objects,
    sparse: &'a Sparse,
    limits: &'a Limits,
    count: u64,
    /// The bytes of all names.
    names: u64,
    /// The bytes of the trees that are read right now, each inside of the one before.
    open: u64,
    /// Read also where only other directories are wanted.
    gitmodules: Option<ObjectId>,
}

impl Walk<'_> {
    fn tree(
        &mut self,
        id: ObjectId,
        prefix: &str,
        depth: usize,
        before: Option<&Arc<Listing>>,
    ) -> Result<Arc<Listing>, Cause> {
        if depth > MAX_DEPTH {
            return Err(Cause::Limit {
                what: "directories inside each other",
                limit: MAX_DEPTH as u64,
            });
        }
        let is_whole = self.sparse.relation(prefix.trim_end_matches('/')) == Relation::Wanted;
        if let Some(same) = before.filter(|before| before.id == id && before.is_whole && is_whole) {
            self.add(same.count())?;
            return Ok(Arc::clone(same));
        }
        let content = self.objects.get_kind(id, ObjectKind::Tree)?.into_bytes();
        self.open += content.len() as u64;
        limited(
            "bytes in directories inside each other",
            self.open,
            self.limits.meta_bytes,
        )?;
        let mut listing = Listing::new(id, is_whole);
        for entry in TreeRefIter::from_bytes(&content, gix_hash::Kind::Sha1) {
            let entry = entry.map_err(|_| Cause::Object {
                id: id.to_string(),
                state: "a malformed tree",
            })?;
            let name = name(prefix, entry.filename)?;
            let (kind, id) = (entry.mode.kind(), entry.oid.to_owned());
            if depth == 0 && name == GITMODULES && matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable)
            {
                self.gitmodules = Some(id);
            }
            let relation = match is_whole {
                true => Relation::Wanted,
                false => self.sparse.relation(&[prefix, name].concat()),
            };
            let known = before.and_then(|before| before.get(name, kind == EntryKind::Tree));
            let what = match (relation, kind) {
                (Relation::Other, _) | (Relation::Wanted, EntryKind::Link) => continue,
                (_, EntryKind::Tree) => {
                    self.add(1)?;
                    let before = match known {
                        Some((_, What::Directory(inner))) => Some(inner),
                        _ => None,
                    };
                    What::Directory(self.tree(id, &format!("{prefix}{name}/"), depth + 1, before)?)
                }
                (Relation::Above, EntryKind::Commit) if self.sparse.into_submodules => {
                    self.add(1)?;
                    What::Submodule
                }
                (Relation::Above, _) => continue,
                (Relation::Wanted, EntryKind::Commit) => {
                    self.add(1)?;
                    What::Submodule
                }
                (Relation::Wanted, EntryKind::Blob | EntryKind::BlobExecutable) => {
                    let is_known = known.is_some_and(|(known, what)| known == id && what.is(kind));
                    if !is_known && !self.objects.has(id) {
                        return Err(Cause::Object {
                            id: id.to_string(),
                            state: "missing",
                        });
                    }
                    self.add(1)?;
                    let executable = kind == EntryKind::BlobExecutable;
                    What::File { executable }
                }
            };
            self.names += name.len() as u64;
            limited("bytes in names of files", self.names, MAX_NAMES)?;
            listing.push(name, id, what);
        }
        self.open -= content.len() as u64;
        listing.shrink();
        Ok(Arc::new(listing))
    }

    fn add(&mut self, count: u64) -> Result<(), Cause> {
        self.count += count;
        limited("files", self.count, self.limits.files)
    }
}

/// Refuses more than a limit.
fn limited(what: &'static str, count: u64, limit: u64) -> Result<(), Cause> {
    match count > limit {
        true => Err(Cause::Limit { what, limit }),
        false => Ok(()),
    }
}

/// The name of an entry, if it is one that can be written.
fn name<'n>(prefix: &str, name: &'n [u8]) -> Result<&'n str, Cause> {
    let refused = |reason: &'static str| {
        let path = format!("{prefix}{}", String::from_utf8_lossy(name));
        Cause::Path { path, reason }
    };
    let name = name.to_str().map_err(|_| refused("its name is not UTF-8"))?;
    if let Some(problem) = super::name::problem(name) {
        return Err(refused(problem));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_inside_above_or_beside_what_is_wanted() {
        let sparse = Sparse::new(&["./apps/one/".to_owned(), "infra".to_owned()], false);
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
        assert_eq!(
            Sparse::new(&["./".to_owned()], false).relation("x"),
            Relation::Wanted
        );
        assert_eq!(Sparse::new(&[], false).relation("x"), Relation::Wanted);
        assert_eq!(sparse.inside("apps"), ["one"]);
        assert!(sparse.inside("infra/lib").is_empty(), "all of it is wanted");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for refused in [&b".."[..], b".", b"", b"a/b", b".GIT", b"\xff", b"a\0"] {
            assert!(name("x/", refused).is_err(), "{refused:?}");
        }
        assert_eq!(name("x/", b".gitignore").unwrap(), ".gitignore");
    }
}
