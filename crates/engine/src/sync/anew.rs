//! Objects that are deleted and applied again: what is there cannot become them.

use model::Value;

use crate::cluster::{Delete, Error, Resource, Write};
use crate::plan::{Objects, Step, Target};

use super::World;
use super::delete::delete;
use super::progress::StepResult;
use super::step::{Failed, Turn, apply, apply_failed, dry_run_failed, object_of, resource_of, validation};

/// The identity of what is deleted for an object that was refused: the plan says so, and the object would be accepted then.
pub(super) async fn victim(
    step: &Step,
    resource: &Resource,
    object: &Value,
    error: &Error,
    world: &World<'_>,
) -> Option<String> {
    if !step.apply.recreate || !error.asks_for_another() {
        return None;
    }
    let (key, by) = (&step.key, by(step, world));
    let live = world
        .cluster
        .get(resource, &key.namespace, &key.name)
        .await
        .ok()??;
    let uid = live.str_at(&["metadata", "uid"]);
    // What has come in its place since was never looked at: the next run does that. A plan of a version before does not say which it was.
    let planned = &step.apply.recreate_uid;
    if !planned.is_empty() && planned != uid {
        return None;
    }
    let makeable = world.cluster.could_make(resource, object, &live, &by).await;
    makeable.ok()?;
    Some(uid.to_owned())
}

/// Whether the server would make the object of a step if what is there were deleted. Nothing is deleted for what could not be made.
pub(super) async fn is_makeable(
    step: &Step,
    resource: &Resource,
    object: &Value,
    world: &World<'_>,
) -> Result<(), Failed> {
    let (key, by) = (&step.key, by(step, world));
    let live = world.cluster.get(resource, &key.namespace, &key.name).await;
    let Some(live) = live.map_err(|error| dry_run_failed(step, &error))? else {
        // Nothing is lost.
        return Ok(());
    };
    let made = world.cluster.could_make(resource, object, &live, &by).await;
    made.map_err(|error| dry_run_failed(step, &error))
}

/// Deletes exactly this object, not what somebody puts in its place.
pub(super) async fn clear(
    step: &Step,
    resource: &Resource,
    uid: &str,
    world: &World<'_>,
) -> Result<(), Failed> {
    let options = Delete {
        uid: Some(uid.into()),
        ..Delete::default()
    };
    delete(step, resource, &options, world).await
}

fn by(step: &Step, world: &World<'_>) -> Write {
    Write {
        validation: validation(step),
        ..Write::by(world.manager)
    }
}

/// Deletes an object and applies it when it is gone.
pub(super) async fn recreate(
    step: &Step,
    target: &Target,
    objects: &Objects,
    world: &World<'_>,
    turn: Turn,
) -> Result<Option<StepResult>, Failed> {
    if turn != Turn::First {
        return apply(step, objects, world, turn).await;
    }
    // The object to apply is looked for first: without it nothing may be deleted.
    let object = object_of(step, objects)?;
    let resource = resource_of(step, world)
        .await
        .map_err(|error| apply_failed(step, &error))?;
    is_makeable(step, &resource, object, world).await?;
    clear(step, &resource, &target.uid, world).await?;
    Ok(None)
}

/// Whether the object that was deleted is still there: something has a finalizer on it. Until it is gone the server refuses
/// what cannot be changed.
pub(super) async fn is_leaving(step: &Step, resource: &Resource, world: &World<'_>) -> Result<bool, Failed> {
    let key = &step.key;
    let live = world.cluster.get(resource, &key.namespace, &key.name).await;
    let live = live.map_err(|error| apply_failed(step, &error))?;
    Ok(live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_some()))
}

/// It is waited for until there is no time left.
pub(super) fn still_there(step: &Step, turn: Turn) -> Result<Option<StepResult>, Failed> {
    match turn {
        Turn::Last => Err(format!(
            "{} timeout waiting for it to be deleted, to be made anew: something keeps it; look at its finalizers",
            step.key
        )),
        _ => Ok(None),
    }
}
