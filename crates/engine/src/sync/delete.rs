//! Deletes objects: those that are no longer wanted, hooks, and what is made anew.

use model::{Value, value};

use crate::cluster::{self, Delete, Deleted, Error, Resource, Write};
use crate::plan::{Propagation, Step, Target};

use super::World;
use super::progress::{Outcome, StepResult};
use super::step::{Failed, ended, resource_of, result};

/// An object that changes all the time, as one with a busy status does, is deleted or replaced by the last try or is left for the next run.
pub(super) const TRIES: usize = 3;

/// What has become of an object that was to be pruned.
pub(super) enum Pruned {
    Ended(StepResult),
    /// This unit wants it by now.
    Wanted(String),
}

/// Deletes exactly the object that was looked at. If it has changed since, it is looked at again.
pub(super) async fn prune(
    step: &Step,
    propagation: Propagation,
    target: &Target,
    world: &World<'_>,
) -> Result<Pruned, Failed> {
    let deleted = || Ok(Pruned::Ended(ended(step, Outcome::Deleted)));
    let skipped = |why: &str| Ok(Pruned::Ended(result(step, Outcome::Skipped, "", why.to_owned())));
    let resource = match served_as(step, world).await {
        Ok(resource) => resource,
        Err(Error::NoSuchKind { .. }) => return deleted(),
        Err(error) => return Err(delete_failed(step, &error)),
    };
    let mut options = Delete {
        propagation: match propagation {
            Propagation::Background => cluster::Propagation::Background,
            Propagation::Foreground => cluster::Propagation::Foreground,
            Propagation::Orphan => cluster::Propagation::Orphan,
        },
        uid: Some(target.uid.as_str().into()),
        resource_version: Some(target.resource_version.as_str().into()),
        dry_run: false,
    };
    for _ in 0..TRIES {
        let key = &step.key;
        // Also when it has changed: that may be what the other unit has applied.
        if let Some(unit) = world.around.wanted_by(key) {
            return Ok(Pruned::Wanted(unit));
        }
        if let Some(unit) = definition_wanted(step, &resource, world).await? {
            return Ok(Pruned::Wanted(unit));
        }
        match world
            .cluster
            .delete(&resource, &key.namespace, &key.name, &options)
            .await
        {
            Ok(Deleted::Gone | Deleted::Leaving(_)) | Err(Error::NotFound(_)) => {
                return deleted();
            }
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(delete_failed(step, &error)),
        }
        let live = world.cluster.get(&resource, &key.namespace, &key.name).await;
        match live.map_err(|error| delete_failed(step, &error))? {
            None => return deleted(),
            Some(live) if live.str_at(&["metadata", "uid"]) != target.uid => {
                return skipped("another object has taken its name and was left alone");
            }
            Some(live) if !world.around.may_prune(&live) => {
                return skipped("it changed while it was to be deleted and is not ours to delete any more");
            }
            Some(live) => {
                let version = live.str_at(&["metadata", "resourceVersion"]);
                options.resource_version = Some(version.into());
            }
        }
    }
    Err(changes_all_the_time(step))
}

/// What the object of a step is served as. Where it is not in the version that the plan has, any other will do to delete it.
async fn served_as(step: &Step, world: &World<'_>) -> Result<Resource, Error> {
    match resource_of(step, world).await {
        Err(Error::NoSuchKind { .. }) => world.cluster.preferred(&step.key.group, &step.key.kind).await,
        served => served,
    }
}

/// Another unit that wants objects of the kind that a definition defines: they would go with it. What it defines is in the definition.
async fn definition_wanted(
    step: &Step,
    resource: &Resource,
    world: &World<'_>,
) -> Result<Option<String>, Failed> {
    let key = &step.key;
    if key.kind != "CustomResourceDefinition" {
        return Ok(None);
    }
    let live = world.cluster.get(resource, &key.namespace, &key.name).await;
    let Some(live) = live.map_err(|error| delete_failed(step, &error))? else {
        return Ok(None);
    };
    let group = live.str_at(&["spec", "group"]);
    let kind = live.str_at(&["spec", "names", "kind"]);
    Ok(world.around.kind_wanted_by(group, kind))
}

/// Deletes a hook, which need not be there. If it is known which one, one that another unit has made since under its name is left alone.
pub(super) async fn delete_hook(
    step: &Step,
    uid: Option<&str>,
    release: Option<&str>,
    world: &World<'_>,
) -> Result<StepResult, Failed> {
    let resource = match served_as(step, world).await {
        Ok(resource) => resource,
        Err(Error::NoSuchKind { .. }) => return Ok(ended(step, Outcome::Deleted)),
        Err(error) => return Err(delete_failed(step, &error)),
    };
    if let Some(finalizer) = release {
        take_finalizer(step, &resource, finalizer, world).await?;
    }
    let options = Delete {
        uid: uid.map(Into::into),
        ..Delete::default()
    };
    delete(step, &resource, &options, world).await?;
    Ok(ended(step, Outcome::Deleted))
}

/// Deletes a hook that this run has created and that is not needed any more.
pub(super) async fn end_hook(step: &Step, world: &World<'_>, made: Option<&str>) -> StepResult {
    if let Some(unit) = world.around.lasts_for(&step.key) {
        let message = format!("unit {unit:?} wants it by now");
        return result(step, Outcome::Skipped, "", message);
    }
    match delete_hook(step, made, None, world).await {
        Ok(deleted) => deleted,
        Err(message) => result(step, Outcome::Failed, "", message),
    }
}

/// Takes a finalizer off an object, so that it can go.
async fn take_finalizer(
    step: &Step,
    resource: &Resource,
    finalizer: &str,
    world: &World<'_>,
) -> Result<(), Failed> {
    let key = &step.key;
    let live = world.cluster.get(resource, &key.namespace, &key.name).await;
    let Some(live) = live.map_err(|error| delete_failed(step, &error))? else {
        return Ok(());
    };
    let finalizers = live.list_at(&["metadata", "finalizers"]);
    let Some(place) = finalizers
        .iter()
        .position(|name| name.as_str() == Some(finalizer))
    else {
        return Ok(());
    };
    let path = format!("/metadata/finalizers/{place}");
    // The test makes sure that it is still in its place.
    let patch = value!([
        {"op": "test", "path": (path.as_str()), "value": finalizer},
        {"op": "remove", "path": (path.as_str())},
    ]);
    let by = Write::by(world.manager);
    let patched = world
        .cluster
        .json_patch(resource, &key.namespace, &key.name, &patch, &by)
        .await;
    match patched {
        Ok(_) | Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(delete_failed(step, &error)),
    }
}

/// Deletes an object that need not be there. One that another has taken the name of is gone too.
pub(super) async fn delete(
    step: &Step,
    resource: &Resource,
    options: &Delete,
    world: &World<'_>,
) -> Result<(), Failed> {
    let key = &step.key;
    for _ in 0..TRIES {
        match world
            .cluster
            .delete(resource, &key.namespace, &key.name, options)
            .await
        {
            Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
            Err(Error::Conflict(_)) => {}
            Err(error) => return Err(delete_failed(step, &error)),
        }
        // A conflict alone does not say that it is another one: somebody may have changed it at the same moment.
        let live = world.cluster.get(resource, &key.namespace, &key.name).await;
        let live = live.map_err(|error| delete_failed(step, &error))?;
        let is_it = |live: &Value| {
            let uid = options.uid.as_deref();
            uid.is_none_or(|uid| live.str_at(&["metadata", "uid"]) == uid)
        };
        if !live.as_ref().is_some_and(is_it) {
            return Ok(());
        }
    }
    Err(changes_all_the_time(step))
}

fn changes_all_the_time(step: &Step) -> Failed {
    format!(
        "{} delete failed: it changes all the time; the next run tries again",
        step.key
    )
}

fn delete_failed(step: &Step, error: &Error) -> Failed {
    format!("{} delete failed: {error}", step.key)
}
