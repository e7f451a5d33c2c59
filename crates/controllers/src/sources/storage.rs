//! What the store still has of an object, before anything is fetched.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::{ConditionType, Object, Reason, Spec};
use kube::ResourceExt;
use model::event::Severity;
use source::store::{self, Place, Presence, Store};

use super::{HasArtifact as _, Shared, Stored, chain, failed};
use crate::kit::{Conditions, Failure, Notice, Permits, Run, blocking};

/// Where the files of an object are.
pub(super) fn place<S: Spec>(object: &Object<S>) -> Result<Place, Failure> {
    let namespace = object.namespace().unwrap_or_default();
    let place = Place::new(S::NAMES.kind, &namespace, &object.name_any());
    place.map_err(|error| Failure::stalled(Reason::ILLEGAL_PATH, chain(&error)))
}

/// Collects old files, and looks whether the artifact that the status tells of is there and whole. One that is not is taken
/// out of the status, and it is said that it is being made anew.
pub(super) async fn check<S>(run: &mut Run<'_, S>, store: &Arc<Store>) -> Result<(), Failure>
where
    S: Spec<Status: Stored + PartialEq>,
{
    let place = place(run.object)?;
    let artifact = run.status.artifact().cloned();
    let task = {
        let artifact = artifact.clone();
        move |store: &Arc<Store>| -> (usize, Result<Option<Presence>, store::Error>) {
            let current = artifact.as_ref().map(|artifact| artifact.path.as_str());
            let collected = store.collect(&place, current).unwrap_or_else(|error| {
                tracing::warn!("failed to collect old artifacts: {}", chain(&error));
                Vec::new()
            });
            let presence = artifact.as_ref().map(|artifact| store.verify(&place, artifact));
            (collected.len(), presence.transpose())
        }
    };
    let (collected, presence) = store.aside(task).await;
    if collected > 0 {
        let message = format!("garbage collected {collected} artifacts");
        run.tell(Notice::trace(Reason::GARBAGE_COLLECTION_SUCCEEDED, message));
    }
    let presence = presence.unwrap_or_else(|error| {
        // An artifact that is no file of the store, as another program may have left it, is one that is not there.
        tracing::warn!("failed to look for an artifact: {}", chain(&error));
        Some(Presence::Missing)
    });
    match (presence, artifact) {
        (Some(Presence::Valid), Some(mut artifact)) => {
            let url = store.relocate(&artifact.url);
            if url != artifact.url {
                artifact.url = url;
                run.status.set_artifact(Some(artifact));
            }
            if let Some(Some(newest)) = run.status.url_mut() {
                *newest = store.relocate(newest);
            }
        }
        (Some(Presence::Corrupt), Some(artifact)) => {
            let wanted = artifact
                .digest
                .map(|digest| digest.to_string())
                .unwrap_or_default();
            run.tell(Notice {
                severity: Severity::Error,
                reason: Reason::ARTIFACT_VERIFICATION_FAILED,
                message: format!(
                    "failed to verify integrity of artifact: computed digest doesn't match '{wanted}'"
                ),
                metadata: BTreeMap::new(),
            });
            missing(run, true).await;
        }
        (_, artifact) => missing(run, artifact.is_some()).await,
    }
    Ok(())
}

async fn missing<S>(run: &mut Run<'_, S>, had_one: bool)
where
    S: Spec<Status: Stored + PartialEq>,
{
    let message = if had_one {
        "building artifact: disappeared from storage"
    } else {
        "building artifact"
    };
    run.status.set_artifact(None);
    if let Some(newest) = run.status.url_mut() {
        *newest = None;
    }
    run.status.remove(ConditionType::ARTIFACT_IN_STORAGE);
    run.status.set_progress(run.stamp, true, message);
    match had_one {
        // Whoever uses it would look for it in vain.
        true => run.write_progress().await,
        false => run.show_progress().await,
    }
}

/// What a failure of the store means.
pub(super) fn failure<S>(run: &mut Run<'_, S>, what: &str, error: &store::Error) -> Failure
where
    S: Spec<Status: Stored>,
{
    let message = format!("{what}: {}", chain(error));
    let reason = match error {
        store::Error::Directory { .. } => Reason::DIRECTORY_CREATION_FAILED,
        store::Error::Lock { .. } => Reason::ACQUIRE_LOCK_FAILED,
        _ => Reason::ARCHIVE_OPERATION_FAILED,
    };
    let failure = Failure::transient(reason, message);
    failed(run, ConditionType::STORAGE_OPERATION_FAILED, failure)
}

/// The permits of work on files of a size that their owner chooses.
pub struct Packing(Permits);

impl Default for Packing {
    fn default() -> Self {
        Packing(Permits::of_cores())
    }
}

/// Has files of a size that their owner chooses unpacked and packed. At most half of such work at once is of one namespace, also when
/// nobody waits for it any more: it cannot be interrupted.
pub(super) async fn packed<T: Send + 'static>(
    shared: &Shared,
    namespace: &str,
    work: impl FnOnce(&Store) -> T + Send + 'static,
) -> T {
    let permit = shared.packing.0.acquire(namespace).await;
    let store = Arc::clone(&shared.store);
    blocking(move || {
        let _permit = permit;
        work(&store)
    })
    .await
}

/// Puts a file into the place of an object, and has the link beside it lead to it.
pub(super) async fn keep<S>(
    run: &mut Run<'_, S>,
    shared: &Shared,
    link: &'static str,
    what: &str,
    put: impl FnOnce(&Store, &Place) -> Result<store::Stored, store::Error> + Send + 'static,
) -> Result<store::Stored, Failure>
where
    S: Spec<Status: Stored + PartialEq>,
{
    let place = place(run.object)?;
    let namespace = run.object.namespace().unwrap_or_default();
    let stored = packed(shared, &namespace, move |store| put(store, &place)).await;
    let stored = stored.map_err(|error| failure(run, what, &error))?;
    point(run, &shared.store, stored.path.clone(), link).await;
    Ok(stored)
}

/// Has the link beside the files of an object lead to the one at this path, and says where it is served. An artifact without
/// the link is one still.
pub(super) async fn point<S>(run: &mut Run<'_, S>, store: &Arc<Store>, path: String, link: &'static str)
where
    S: Spec<Status: Stored + PartialEq>,
{
    let pointed = store.aside(move |store| store.point(&path, link)).await;
    match (pointed, run.status.url_mut()) {
        (Ok(url), Some(newest)) => *newest = Some(url),
        (Ok(_), None) => {}
        (Err(error), _) => run.tell(Notice::trace(
            Reason::SYMLINK_UPDATE_FAILED,
            format!("failed to update status URL symlink: {}", chain(&error)),
        )),
    }
}

/// Removes all files of an object that goes, and says so if there were any.
pub(super) async fn remove<S: Spec>(store: &Arc<Store>, object: &Object<S>) -> Result<Vec<Notice>, Failure> {
    let place = place(object)?;
    let removed = store.aside(move |store| store.remove_all(&place)).await;
    let removed = removed.map_err(|error| {
        let message = format!(
            "garbage collection for deleted resource failed: {}",
            chain(&error)
        );
        Failure::transient(Reason::GARBAGE_COLLECTION_FAILED, message)
    })?;
    let notice = || {
        let message = "garbage collected artifacts for deleted resource";
        Notice::trace(Reason::GARBAGE_COLLECTION_SUCCEEDED, message.into())
    };
    Ok(removed.then(notice).into_iter().collect())
}
