//! Which commit of a repository is wanted, and how a revision of it is written.

use std::str::FromStr;

use gix_hash::ObjectId;
use model::{Digest, Revision};

use super::error::Cause;
use super::refs::Ref;

/// The branch that is taken when nothing is said.
pub const DEFAULT_BRANCH: &str = "master";

const PEELED: &str = "^{}";

/// What is wanted of a repository. The first of commit, name, tag, version range and branch that is given counts; a
/// branch or name beside a commit only names the revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// A branch, without `refs/heads/`.
    pub branch: Option<String>,
    /// A tag, without `refs/tags/`.
    pub tag: Option<String>,
    /// A range of versions that tags are looked at for.
    pub semver: Option<String>,
    /// A full name, such as `refs/pull/420/head`.
    pub name: Option<String>,
    /// A commit, in full.
    pub commit: Option<String>,
}

/// The part of a [`Reference`] that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector<'a> {
    /// A commit.
    Commit(&'a str),
    /// A full name.
    Name(&'a str),
    /// A tag.
    Tag(&'a str),
    /// A range of versions.
    Versions(&'a str),
    /// A branch.
    Branch(&'a str),
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The object to ask the server for: a commit or a tag object.
    pub want: ObjectId,
    /// The commit.
    pub commit: ObjectId,
    /// The full name that led there, if one did.
    pub name: Option<String>,
    /// The commit as a revision.
    pub revision: Revision,
}

impl Reference {
    /// The tip of a branch.
    pub fn branch(name: impl Into<String>) -> Self {
        Reference {
            branch: Some(name.into()),
            ..Reference::default()
        }
    }

    /// A tag.
    pub fn tag(name: impl Into<String>) -> Self {
        Reference {
            tag: Some(name.into()),
            ..Reference::default()
        }
    }

    /// The greatest version in a range.
    pub fn semver(range: impl Into<String>) -> Self {
        Reference {
            semver: Some(range.into()),
            ..Reference::default()
        }
    }

    /// A reference by its full name.
    pub fn name(name: impl Into<String>) -> Self {
        Reference {
            name: Some(name.into()),
            ..Reference::default()
        }
    }

    /// A commit.
    pub fn commit(id: impl Into<String>) -> Self {
        Reference {
            commit: Some(id.into()),
            ..Reference::default()
        }
    }

    /// The part that counts. (The API's own documentation puts ranges before tags; the code that everyone runs does not.)
    pub fn selector(&self) -> Selector<'_> {
        let given = |part: &'_ Option<String>| part.as_ref().is_some_and(|part| !part.is_empty());
        match self {
            Reference {
                commit: Some(commit), ..
            } if given(&self.commit) => Selector::Commit(commit),
            Reference { name: Some(name), .. } if given(&self.name) => Selector::Name(name),
            Reference { tag: Some(tag), .. } if given(&self.tag) => Selector::Tag(tag),
            Reference {
                semver: Some(range), ..
            } if given(&self.semver) => Selector::Versions(range),
            Reference {
                branch: Some(branch), ..
            } if given(&self.branch) => Selector::Branch(branch),
            _ => Selector::Branch(DEFAULT_BRANCH),
        }
    }

    /// What the references that decide begin with, so that a server need not list all of them.
    pub fn prefixes(&self) -> Vec<String> {
        vec![match self.selector() {
            Selector::Commit(_) => match &self.branch {
                Some(branch) if !branch.is_empty() => format!("refs/heads/{branch}"),
                _ => "HEAD".to_owned(),
            },
            Selector::Name(name) => name.strip_suffix(PEELED).unwrap_or(name).to_owned(),
            Selector::Tag(tag) => format!("refs/tags/{tag}"),
            Selector::Versions(_) => "refs/tags/".to_owned(),
            Selector::Branch(branch) => format!("refs/heads/{branch}"),
        }]
    }

    /// Whether this can be a reference at all.
    ///
    /// # Errors
    /// Where a name or commit is malformed.
    pub fn check(&self) -> Result<(), Cause> {
        let invalid = |text: String| Err(Cause::ReferenceInvalid(text));
        let name = match self.selector() {
            Selector::Commit(commit) => return commit_id(commit).map(drop),
            Selector::Versions(_) => return Ok(()),
            Selector::Name(name) | Selector::Tag(name) | Selector::Branch(name) => name,
        };
        if name.starts_with('/') || name.ends_with('/') {
            return invalid(format!(
                "ref {name} is invalid; Git refs cannot begin or end with a slash '/'"
            ));
        }
        if name.chars().any(|c| c.is_control() || c == ' ') {
            return invalid(format!(
                "ref {name:?} is invalid; Git refs hold no blanks and control characters"
            ));
        }
        Ok(())
    }

    /// What this leads to, given the references of the repository.
    ///
    /// Only for a range of versions can there be more than one: tags whose versions differ in nothing but build metadata.
    /// The one with the newest commit is meant.
    ///
    /// # Errors
    /// Where nothing is found.
    pub fn resolve(&self, refs: &[Ref]) -> Result<Vec<Target>, Cause> {
        self.check()?;
        let target = match self.selector() {
            Selector::Commit(commit) => self.of_commit(commit_id(commit)?),
            Selector::Name(name) => {
                let found = find(refs, name.strip_suffix(PEELED).unwrap_or(name))?;
                target(found, Some(name.to_owned()), name)
            }
            Selector::Tag(tag) => by_short_name(refs, &format!("refs/tags/{tag}"), tag)?,
            Selector::Branch(branch) => by_short_name(refs, &format!("refs/heads/{branch}"), branch)?,
            Selector::Versions(range) => return super::versions::resolve(refs, range),
        };
        Ok(vec![target])
    }

    fn of_commit(&self, id: ObjectId) -> Target {
        let digest = digest(id);
        let given = |part: &Option<String>| part.clone().filter(|part| !part.is_empty());
        let (name, revision) = match (given(&self.name), given(&self.branch)) {
            (Some(name), _) => (Some(name.clone()), Revision::named(name, digest)),
            (None, Some(branch)) => (
                Some(format!("refs/heads/{branch}")),
                Revision::named(branch, digest),
            ),
            (None, None) => (None, Revision::unnamed(digest)),
        };
        Target {
            want: id,
            commit: id,
            name,
            revision,
        }
    }
}

impl Target {
    /// The target with the commit that it turned out to lead to.
    pub(super) fn leading_to(self, commit: ObjectId) -> Self {
        let revision = match self.revision.name() {
            Some(name) => Revision::named(name, digest(commit)),
            None => Revision::unnamed(digest(commit)),
        };
        Target {
            commit,
            revision,
            ..self
        }
    }
}

pub(super) fn by_short_name(refs: &[Ref], name: &str, short: &str) -> Result<Target, Cause> {
    Ok(target(find(refs, name)?, Some(name.to_owned()), short))
}

fn find<'a>(refs: &'a [Ref], name: &str) -> Result<&'a Ref, Cause> {
    let found = refs.iter().find(|reference| reference.name == name);
    found.ok_or_else(|| Cause::ReferenceMissing(name.to_owned()))
}

fn target(found: &Ref, name: Option<String>, shown: &str) -> Target {
    let commit = found.target();
    Target {
        want: found.id,
        commit,
        name,
        revision: Revision::named(shown, digest(commit)),
    }
}

fn commit_id(text: &str) -> Result<ObjectId, Cause> {
    let is_full = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_full
        .then(|| ObjectId::from_hex(text.as_bytes()).ok())
        .flatten();
    id.ok_or_else(|| Cause::CommitMissing(text.to_owned()))
}

pub(super) fn digest(id: ObjectId) -> Digest {
    Digest::from_str(&format!("sha1:{id}")).expect("the id of an object is a SHA-1 digest")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> ObjectId {
        ObjectId::from_hex(digit.to_string().repeat(40).as_bytes()).unwrap()
    }

    fn refs() -> Vec<Ref> {
        let mut annotated = Ref::new("refs/tags/v1.0.0", id('a'));
        annotated.peeled = Some(id('1'));
        vec![
            Ref::new("HEAD", id('1')),
            Ref::new("refs/heads/feature/x", id('2')),
            Ref::new("refs/heads/master", id('1')),
            Ref::new("refs/pull/7/head", id('3')),
            annotated,
            Ref::new("refs/tags/light", id('2')),
        ]
    }

    fn revision(reference: &Reference) -> String {
        let found = reference.resolve(&refs()).unwrap();
        assert_eq!(found.len(), 1);
        found[0].revision.to_string()
    }

    fn sha(digit: &str) -> String {
        format!("sha1:{}", digit.repeat(40))
    }

    #[test]
    fn revisions_are_written_as_the_contract_says() {
        assert_eq!(revision(&Reference::default()), format!("master@{}", sha("1")));
        assert_eq!(
            revision(&Reference::branch("feature/x")),
            format!("feature/x@{}", sha("2"))
        );
        assert_eq!(
            revision(&Reference::tag("v1.0.0")),
            format!("v1.0.0@{}", sha("1"))
        );
        assert_eq!(revision(&Reference::tag("light")), format!("light@{}", sha("2")));
        assert_eq!(
            revision(&Reference::name("refs/heads/master")),
            format!("refs/heads/master@{}", sha("1"))
        );
        let pull = Reference::name("refs/pull/7/head");
        assert_eq!(revision(&pull), format!("refs/pull/7/head@{}", sha("3")));
        let peeled = Reference::name("refs/tags/v1.0.0^{}");
        assert_eq!(revision(&peeled), format!("refs/tags/v1.0.0^{{}}@{}", sha("1")));
        assert_eq!(revision(&Reference::commit("4".repeat(40))), sha("4"));
        let both = Reference {
            branch: Some("main".into()),
            ..Reference::commit("4".repeat(40))
        };
        assert_eq!(revision(&both), format!("main@{}", sha("4")));
        let named = Reference {
            name: Some("refs/heads/x".into()),
            ..both
        };
        assert_eq!(revision(&named), format!("refs/heads/x@{}", sha("4")));
    }

    #[test]
    fn an_annotated_tag_is_asked_for_by_its_object_and_shown_by_its_commit() {
        let found = &Reference::tag("v1.0.0").resolve(&refs()).unwrap()[0];
        assert_eq!((found.want, found.commit), (id('a'), id('1')));
    }

    #[test]
    fn commit_beats_name_beats_tag_beats_range_beats_branch() {
        let mut reference = Reference {
            branch: Some("b".into()),
            tag: Some("t".into()),
            semver: Some(">=1".into()),
            name: Some("refs/n".into()),
            commit: Some("c".into()),
        };
        assert_eq!(reference.selector(), Selector::Commit("c"));
        reference.commit = None;
        assert_eq!(reference.selector(), Selector::Name("refs/n"));
        reference.name = Some(String::new());
        assert_eq!(reference.selector(), Selector::Tag("t"));
        reference.tag = None;
        assert_eq!(reference.selector(), Selector::Versions(">=1"));
        reference.semver = None;
        assert_eq!(reference.selector(), Selector::Branch("b"));
        reference.branch = None;
        assert_eq!(reference.selector(), Selector::Branch("master"));
    }

    #[test]
    fn what_is_missing_or_malformed_is_named() {
        let error = |reference: Reference| reference.resolve(&refs()).unwrap_err().to_string();
        assert!(error(Reference::branch("gone")).contains("couldn't find remote ref 'refs/heads/gone'"));
        assert!(error(Reference::tag("v9")).contains("'refs/tags/v9'"));
        assert!(error(Reference::name("refs/heads/x/")).contains("cannot begin or end with a slash"));
        assert!(error(Reference::name("refs/\nheads")).contains("control characters"));
        assert!(error(Reference::commit("abc123")).contains("'abc123'"));
        assert!(error(Reference::commit("g".repeat(40))).contains("unable to resolve commit"));
    }

    #[test]
    fn only_what_decides_is_listed() {
        assert_eq!(Reference::default().prefixes(), ["refs/heads/master"]);
        assert_eq!(Reference::name("refs/tags/v1^{}").prefixes(), ["refs/tags/v1"]);
        assert_eq!(Reference::semver("*").prefixes(), ["refs/tags/"]);
        assert_eq!(Reference::commit("4".repeat(40)).prefixes(), ["HEAD"]);
    }
}
