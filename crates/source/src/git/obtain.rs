//! Getting one commit: asking for it, storing it, listing its files.

use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::Kind as ObjectKind;
use tokio::task::spawn_blocking;

use super::checkout::Origin;
use super::commit::{Commit, Tag};
use super::error::Cause;
use super::objects::Objects;
use super::protocol::{Pack, Packets, Plan};
use super::receive::receive;
use super::reference::{Reference, Selector, Target};
use super::refs::Ref;
use super::remote::Remote;
use super::settings::Limits;
use super::slot::Generation;
use super::transport::Session;
use super::walk::{Found, Sparse, walk};

/// A commit that is here.
pub(super) struct Obtained {
    pub(super) origin: Origin,
    pub(super) commit: Commit,
    pub(super) tag: Option<Tag>,
    pub(super) found: Found,
}

/// One fetch of one target.
pub(super) struct Fetch<'a> {
    pub(super) remote: &'a Remote,
    pub(super) target: &'a Target,
    pub(super) reference: &'a Reference,
    pub(super) sparse: &'a Sparse,
}

impl Fetch<'_> {
    /// Sees to it that the commit is in a generation with all its files.
    pub(super) async fn run(
        &self,
        session: Option<Session>,
        generation: Arc<Generation>,
    ) -> Result<Obtained, Cause> {
        let tips = generation.tips();
        let is_here = tips.contains(&self.target.commit) && {
            let objects = Objects::open(&generation, &self.remote.settings.limits)?;
            objects.has(self.target.want)
        };
        match (is_here, session) {
            (true, Some(session)) => session.close().await,
            // Access may have been revoked since it was fetched.
            (true, None) => drop(
                self.remote
                    .list_in(&mut self.remote.session().await?, &["HEAD".into()])
                    .await?,
            ),
            (false, session) => self.transfer(session, &generation, tips).await?,
        }
        let (target, sparse) = (self.target.clone(), self.sparse.clone());
        let limits = self.remote.settings.limits.clone();
        let may_be_tag = !self.is_commit();
        let task = spawn_blocking(move || read(&target, may_be_tag, generation, &sparse, &limits));
        task.await
            .unwrap_or_else(|error| Err(Cause::Pack(Box::new(error))))
    }

    /// Whether a commit is named, and not something that leads to one.
    fn is_commit(&self) -> bool {
        matches!(self.reference.selector(), Selector::Commit(_))
    }

    /// Asks for the commit alone; only where a server does not give single commits, for the whole history.
    async fn transfer(
        &self,
        session: Option<Session>,
        generation: &Generation,
        haves: Vec<ObjectId>,
    ) -> Result<(), Cause> {
        let mut session = match session {
            Some(session) => session,
            None => self.remote.session().await?,
        };
        let is_commit = self.is_commit();
        if !is_commit || session.may_ask_for(self.target.want).await? {
            let plan = Plan {
                wants: vec![self.target.want],
                haves,
                history: false,
            };
            match self.pull(session, generation, &plan).await {
                Err(Cause::Refused(_)) if is_commit => {}
                result => return result,
            }
            session = self.remote.session().await?;
        }
        let wants = self.branches(&mut session).await?;
        // All is asked for, as if we had nothing: a server leaves out what is older than what we have without history.
        self.pull(
            session,
            generation,
            &Plan {
                wants,
                haves: Vec::new(),
                history: true,
            },
        )
        .await?;
        match Objects::open(generation, &self.remote.settings.limits)?.has(self.target.commit) {
            true => Ok(()),
            false => Err(Cause::CommitMissing(self.target.commit.to_string())),
        }
    }

    /// The tips of all branches, or of the one that is given.
    async fn branches(&self, session: &mut Session) -> Result<Vec<ObjectId>, Cause> {
        let given = self
            .reference
            .branch
            .as_deref()
            .filter(|branch| !branch.is_empty());
        let prefix = format!("refs/heads/{}", given.unwrap_or_default());
        let refs = self
            .remote
            .list_in(session, std::slice::from_ref(&prefix))
            .await?;
        let is_wanted = |found: &&Ref| match given {
            Some(_) => found.name == prefix,
            None => found.name.starts_with(&prefix),
        };
        let mut wants: Vec<ObjectId> = refs.iter().filter(is_wanted).map(Ref::target).collect();
        wants.sort();
        wants.dedup();
        if wants.is_empty() {
            return Err(match self.remote.list_in(session, &[]).await?.is_empty() {
                true => Cause::Empty,
                false => Cause::ReferenceMissing(prefix),
            });
        }
        Ok(wants)
    }

    async fn pull(&self, mut session: Session, generation: &Generation, plan: &Plan) -> Result<(), Cause> {
        let mut answer = session.ask_for_pack(plan).await?;
        let limits = &self.remote.settings.limits;
        let pack = Pack::new(Packets::new(answer.as_mut()));
        receive(pack, &self.remote.cache, generation, limits).await?;
        drop(answer);
        session.close().await;
        Ok(())
    }
}

/// Reads a commit and lists its files. Only a commit that passes this is built on by later fetches.
fn read(
    target: &Target,
    may_be_tag: bool,
    generation: Arc<Generation>,
    sparse: &Sparse,
    limits: &Limits,
) -> Result<Obtained, Cause> {
    let objects = Arc::new(Objects::open(&generation, limits)?);
    let (tag, commit) = peel(&objects, target, may_be_tag)?;
    let before = generation.listing();
    let found = walk(&objects, commit.tree, sparse, limits, before.as_ref())?;
    generation.keep_listing(&found.listing);
    generation.add_tip(commit.id)?;
    Ok(Obtained {
        origin: Origin { objects, generation },
        commit,
        tag,
        found,
    })
}

fn not_a_commit(target: &Target, kind: ObjectKind) -> Cause {
    let name = target.name.clone().unwrap_or_else(|| target.want.to_string());
    let kind = kind.to_string();
    Cause::NotACommit { name, kind }
}

/// Follows tags to the commit. The first tag is the one that counts.
fn peel(objects: &Objects, target: &Target, may_be_tag: bool) -> Result<(Option<Tag>, Commit), Cause> {
    let mut first = None;
    let mut id = target.want;
    for _ in 0..16 {
        let (kind, content) = objects.get(id)?;
        let malformed = || Cause::Object {
            id: id.to_string(),
            state: "malformed",
        };
        match kind {
            ObjectKind::Commit => return Ok((first, Commit::parse(id, &content).ok_or_else(malformed)?)),
            // Who names a commit means a commit.
            ObjectKind::Tag if !may_be_tag => return Err(not_a_commit(target, kind)),
            ObjectKind::Tag => {
                let (tag, next) = Tag::parse(id, &content).ok_or_else(malformed)?;
                first.get_or_insert(tag);
                id = next;
            }
            other => return Err(not_a_commit(target, other)),
        }
    }
    Err(Cause::Object {
        id: id.to_string(),
        state: "a tag of tags without end",
    })
}
