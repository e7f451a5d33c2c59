//! The files of other GitRepositories that a GitRepository includes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::source::{GitRepository, GitRepositorySpec, Include};
use api::{ConditionType, Object, Reason, ReconcileStatus, Spec};
use kube::ResourceExt;
use model::Artifact;
use parking_lot::Mutex;
use source::archive::{self, Directory, Limits, Overlay, Tree, overlay, unpack};
use source::store::{self, Presence, Store};
use tempfile::TempDir;

use super::{chain, failed, found_new_as, storage};
use crate::kit::{Conditions, Failure, Run, Wake};

type GitRun<'r> = Run<'r, GitRepositorySpec>;

/// The artifacts of all that an object includes, in the order of its spec.
pub(super) async fn artifacts(
    run: &mut GitRun<'_>,
    store: &Arc<Store>,
    wait: Duration,
) -> Result<Vec<Artifact>, Failure> {
    let mut artifacts = Vec::new();
    for include in &run.object.spec.include {
        let name = &include.repository.name;
        let found = match (run.other(name), leads_back(run, name)) {
            (None, _) => Err((Reason::NOT_FOUND, not_found(name))),
            (Some(_), Some(way)) => Err((
                Reason::FAILED,
                format!(
                    "include '{name}' includes this object itself ({}): remove one of them from spec.include",
                    way.join(" -> ")
                ),
            )),
            (Some(other), None) => match stored(store, &other).await {
                Some(artifact) => Ok(artifact),
                None => Err((
                    Reason::NO_ARTIFACT,
                    format!("no artifact available for include '{name}'"),
                )),
            },
        };
        match found {
            Ok(artifact) => artifacts.push(artifact),
            Err((reason, message)) => {
                let failure = Failure::waiting(wait, reason, message);
                return Err(failed(run, ConditionType::INCLUDE_UNAVAILABLE, failure));
            }
        }
    }
    run.status.remove(ConditionType::INCLUDE_UNAVAILABLE);
    if !same(&artifacts, &run.status.included_artifacts) {
        let message = "included artifacts differ from last observed includes";
        found_new_as(run, Reason::INCLUDE_CHANGE, message).await;
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
    }
    Ok(artifacts)
}

fn not_found(name: &str) -> String {
    let names = GitRepositorySpec::NAMES;
    format!(
        "could not get resource for include '{name}': {}.{} \"{name}\" not found",
        names.kind, names.group
    )
}

/// How what is included includes the object, at whatever distance: it would hold itself, and grow with every run.
fn leads_back(run: &GitRun<'_>, name: &str) -> Option<Vec<String>> {
    let own = run.object.name_any();
    let mut seen = BTreeSet::new();
    let mut next = vec![vec![own.clone(), name.to_owned()]];
    while let Some(way) = next.pop() {
        let last = way.last()?;
        if *last == own {
            return Some(way);
        }
        let other = run.other(last).filter(|_| seen.insert(last.clone()));
        let includes = other.iter().flat_map(|other| &other.spec.include);
        next.extend(
            includes.map(|include| [way.as_slice(), std::slice::from_ref(&include.repository.name)].concat()),
        );
    }
    None
}

/// The artifact of an object, if the store has it.
async fn stored(store: &Arc<Store>, object: &GitRepository) -> Option<Artifact> {
    let artifact = object.status.as_ref()?.artifact.clone()?;
    let place = storage::place(object).ok()?;
    let verified = store.aside(move |store| match store.verify(&place, &artifact) {
        Ok(Presence::Valid) => Some(artifact),
        _ => None,
    });
    verified.await
}

/// Whether an artifact of the same commit would hold the same: the same is included, to the same paths.
pub(super) fn is_unchanged(run: &GitRun<'_>, artifacts: &[Artifact]) -> bool {
    run.object.spec.include == run.status.observed_include && same(artifacts, &run.status.included_artifacts)
}

fn same(left: &[Artifact], right: &[Artifact]) -> bool {
    let mut pairs = left.iter().zip(right);
    left.len() == right.len() && pairs.all(|(left, right)| left.has_content_of(right))
}

/// What was last told of each object, by name, so that only what changes wakes others: one that waits writes that it does, and
/// would wake itself where it is included by what it includes.
#[derive(Default)]
pub(super) struct Told(Mutex<HashMap<(String, String), State>>);

/// What others can depend on: which object it is, its spec, and its artifact.
type State = (Option<String>, Option<i64>, Option<Artifact>);

/// How many objects are remembered. Beyond it all are forgotten, and told of once more.
const MOST_TOLD: usize = 100_000;

impl Told {
    /// Whether this is new.
    fn is_new(&self, object: &GitRepository) -> bool {
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        let artifact = object.status.as_ref().and_then(|status| status.artifact.clone());
        let state = (object.uid(), object.metadata.generation, artifact);
        let mut told = self.0.lock();
        if told.len() >= MOST_TOLD {
            told.clear();
        }
        told.insert(key, state.clone()) != Some(state)
    }
}

/// Wakes those that include an object and were not made of it as it is now.
pub(super) fn wake(object: &GitRepository, told: &Told, wake: &Wake<GitRepositorySpec>) {
    if !told.is_new(object) {
        return;
    }
    let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
    let name = object.name_any();
    wake.all(&object.namespace().unwrap_or_default(), |other| {
        let mut includes = other.spec.include.iter().enumerate();
        includes.any(|(at, include)| include.repository.name == name && !has_seen(other, at, artifact))
    });
}

/// Whether an object has taken in what it includes as that is now. One that waits has not.
fn has_seen(object: &Object<GitRepositorySpec>, at: usize, artifact: Option<&Artifact>) -> bool {
    let Some(status) = &object.status else {
        return false;
    };
    if status.condition(ConditionType::INCLUDE_UNAVAILABLE).is_some() {
        return false;
    }
    let included = status.included_artifacts.get(at);
    match artifact {
        None => included.is_some(),
        Some(artifact) => included.is_some_and(|included| included.has_content_of(artifact)),
    }
}

/// Why something cannot be included.
#[derive(Debug, thiserror::Error)]
#[error("failed to copy '{name}' include from {from} to {to}")]
pub(super) struct Error {
    name: String,
    from: String,
    to: String,
    source: Box<Cause>,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("no temporary directory can be made")]
    Scratch(#[source] std::io::Error),
    #[error("the artifact cannot be read")]
    Read(#[source] store::Error),
    #[error("the artifact cannot be unpacked")]
    Unpack(#[source] archive::Error),
    #[error("the files cannot be put together")]
    Put(#[source] overlay::Error),
    #[error("it took too long")]
    Stopped,
}

impl Error {
    /// What it means for the object.
    pub(super) fn failure(&self, run: &mut GitRun<'_>) -> Failure {
        let failure = Failure::transient(Reason::COPY_FAILURE, chain(self));
        failed(run, ConditionType::STORAGE_OPERATION_FAILED, failure)
    }
}

/// A tree with what is included in it. The directory must stay for as long as it is read.
pub(super) fn combine(
    base: impl Tree + Send + 'static,
    includes: &[(Include, Artifact)],
    store: &Store,
    stop: &AtomicBool,
) -> Result<(Overlay, TempDir), Error> {
    let (first, _) = &includes[0];
    let mut tree = Overlay::new(base).map_err(|error| error_of(first, Cause::Put(error)))?;
    let scratch = tempfile::tempdir_in(store.root());
    let scratch = scratch.map_err(|error| error_of(first, Cause::Scratch(error)))?;
    let mut bytes_left = Limits::of_own_archives().size;
    for (number, (include, artifact)) in includes.iter().enumerate() {
        let directory = scratch.path().join(number.to_string());
        let mut copy = || -> Result<(), Cause> {
            if stop.load(Ordering::Relaxed) {
                return Err(Cause::Stopped);
            }
            let file = store.read(artifact).map_err(Cause::Read)?;
            // No archive holds more than this of all of them together.
            let limits = Limits::of_own_archives().with_size(bytes_left);
            bytes_left -= unpack(file, &directory, &limits).map_err(Cause::Unpack)?.size;
            let from = Directory::new(&directory);
            tree.put(to_of(include), from, from_of(include))
                .map_err(Cause::Put)
        };
        copy().map_err(|cause| error_of(include, cause))?;
    }
    Ok((tree, scratch))
}

fn error_of(include: &Include, source: Cause) -> Error {
    Error {
        name: include.repository.name.clone(),
        from: from_of(include).to_owned(),
        to: to_of(include).to_owned(),
        source: Box::new(source),
    }
}

fn from_of(include: &Include) -> &str {
    include.from_path.as_deref().unwrap_or_default()
}

/// Where to: the name of the other one, unless said otherwise.
fn to_of(include: &Include) -> &str {
    let to = include.to_path.as_deref().filter(|path| !path.is_empty());
    to.unwrap_or(&include.repository.name)
}
