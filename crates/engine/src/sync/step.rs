//! Carries out one step: the requests that its action stands for.

use model::Value;
use model::object_key::split_api_version;

use crate::cluster::{Apply, Delete, Error, Resource, Validation, Write};
use crate::diff::dry_run_failure;
use crate::plan::{Action, Objects, Step, Target};

use super::World;
use super::delete::{Pruned, delete, delete_hook, prune};
use super::progress::{Outcome, StepResult};

/// What a step has come to.
pub(super) enum Done {
    /// Its end.
    Ended(StepResult),
    /// Its object is deleted and is applied when it is gone.
    Leaving,
    /// Its object was not deleted, since another unit wants it by now.
    Wanted(StepResult),
}

/// Whether a step is carried out for the first time, or goes on after its object was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    First,
    Again,
    /// There is no time left to wait.
    Last,
}

/// Why a step failed.
pub(super) type Failed = String;

/// Lets the server check the object of a step. What it refuses is the result.
pub(super) async fn verify(step: &Step, objects: &Objects, world: &World<'_>) -> Option<StepResult> {
    let checked = async {
        let object = object_of(step, objects)?;
        let resource = resource_of(step, world)
            .await
            .map_err(|error| dry_run_failed(step, &error))?;
        let options = Apply {
            dry_run: true,
            ..options(step, world)
        };
        match world.cluster.apply(&resource, object, &options).await {
            Ok(_) => Ok(()),
            Err(error) if step.apply.recreate && error.is_immutable() => Ok(()),
            Err(error) => Err(dry_run_failed(step, &error)),
        }
    };
    let message = checked.await.err()?;
    Some(result(step, Outcome::Failed, "", message))
}

/// Carries out a step.
///
/// `made` is the identity of the hook that the run has made under its name.
pub(super) async fn carry_out(
    step: &Step,
    objects: &Objects,
    world: &World<'_>,
    turn: Turn,
    made: Option<&str>,
) -> Done {
    if let Some(done) = others_object(step, world) {
        return done;
    }
    if step.action.applies() {
        world.around.applies(&step.key);
    }
    let done = match &step.action {
        Action::Fail { error } => Err(format!("{} {error}", step.key)),
        Action::Gone => Ok(Some(ended(step, Outcome::Deleted))),
        Action::Unchanged => Ok(Some(ended(step, Outcome::Unchanged))),
        Action::Skip | Action::Yield { .. } => {
            Ok(Some(result(step, Outcome::Skipped, "", step.reason.clone())))
        }
        Action::Create | Action::Patch => apply(step, objects, world, turn).await,
        Action::Recreate(target) => recreate(step, target, objects, world, turn).await,
        Action::Replace(target) => replace(step, target, objects, world).await.map(Some),
        Action::Prune { propagation, target } => match prune(step, *propagation, target, world).await {
            Ok(Pruned::Ended(result)) => Ok(Some(result)),
            Ok(Pruned::Wanted(unit)) => {
                let message = format!("unit {unit:?} wants it by now");
                return Done::Wanted(result(step, Outcome::Skipped, "", message));
            }
            Err(message) => Err(message),
        },
        Action::DeleteHook { target, release } => {
            let release = release.as_deref();
            let uid = target.as_ref().map(|target| target.uid.as_str()).or(made);
            delete_hook(step, uid, release, world).await.map(Some)
        }
    };
    match done {
        Ok(Some(result)) => Done::Ended(result),
        Ok(None) => Done::Leaving,
        Err(message) => Done::Ended(result(step, Outcome::Failed, "", message)),
    }
}

/// What becomes of a step for a hook whose name an object of another unit has: that is neither deleted nor overwritten.
fn others_object(step: &Step, world: &World<'_>) -> Option<Done> {
    step.hook.as_ref().filter(|_| step.action.writes())?;
    let unit = world.around.lasts_for(&step.key)?;
    if step.action.applies() {
        let message = format!(
            "{} is a hook, and an object of unit {unit:?} has the same name: give one of them another name",
            step.key
        );
        return Some(Done::Ended(result(step, Outcome::Failed, "", message)));
    }
    let message = format!("it is an object of unit {unit:?}");
    Some(Done::Wanted(result(step, Outcome::Skipped, "", message)))
}

/// Applies an object. Where a field cannot be changed and the plan says so, the object is made anew.
async fn apply(
    step: &Step,
    objects: &Objects,
    world: &World<'_>,
    turn: Turn,
) -> Result<Option<StepResult>, Failed> {
    let object = object_of(step, objects)?;
    let resource = resource_of(step, world)
        .await
        .map_err(|error| apply_failed(step, &error))?;
    if turn != Turn::First && is_leaving(step, &resource, world).await? {
        return still_there(step, turn);
    }
    if let (Turn::First, Some(takeover)) = (turn, &step.apply.takeover) {
        // After a crash the patch is not known any more; the next run finds what is to be taken over and does it.
        if let Some(patch) = objects.get(takeover) {
            take_over(step, &resource, patch, world).await?;
        }
    }
    match world
        .cluster
        .apply(&resource, object, &options(step, world))
        .await
    {
        Ok(live) => written(step, &live, world, turn),
        Err(error) if turn == Turn::First && step.apply.recreate && error.is_immutable() => {
            let by_name = Delete::default();
            delete(step, &resource, &by_name, world).await?;
            Ok(None)
        }
        Err(error) => Err(apply_failed(step, &error)),
    }
}

/// Takes the fields over that others have set by hand.
async fn take_over(step: &Step, resource: &Resource, patch: &Value, world: &World<'_>) -> Result<(), Failed> {
    let (key, by) = (&step.key, Write::by(world.manager));
    let taken = world
        .cluster
        .json_patch(resource, &key.namespace, &key.name, patch, &by)
        .await;
    taken.map(drop).map_err(|error| apply_failed(step, &error))
}

/// Deletes an object and applies it when it is gone.
async fn recreate(
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
    object_of(step, objects)?;
    let resource = resource_of(step, world)
        .await
        .map_err(|error| apply_failed(step, &error))?;
    let options = Delete {
        uid: Some(target.uid.as_str().into()),
        ..Delete::default()
    };
    delete(step, &resource, &options, world).await?;
    Ok(None)
}

/// Whether the object that was deleted is still there: something has a finalizer on it. Until it is gone the server refuses
/// what cannot be changed.
async fn is_leaving(step: &Step, resource: &Resource, world: &World<'_>) -> Result<bool, Failed> {
    let key = &step.key;
    let live = world.cluster.get(resource, &key.namespace, &key.name).await;
    let live = live.map_err(|error| apply_failed(step, &error))?;
    Ok(live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_some()))
}

/// Whether the object of a step is not there, as far as the server can be asked.
pub(super) async fn is_gone(step: &Step, world: &World<'_>) -> bool {
    let Ok(resource) = resource_of(step, world).await else {
        return false;
    };
    let key = &step.key;
    let live = world.cluster.get(&resource, &key.namespace, &key.name).await;
    matches!(live, Ok(None))
}

/// It is waited for until there is no time left.
fn still_there(step: &Step, turn: Turn) -> Result<Option<StepResult>, Failed> {
    match turn {
        Turn::Last => Err(format!(
            "{} timeout waiting for it to be deleted, to be made anew: something keeps it; look at its finalizers",
            step.key
        )),
        _ => Ok(None),
    }
}

/// What has become of an applied object. One that is on its way out was only touched, and is applied again when it is gone.
fn written(step: &Step, live: &Value, world: &World<'_>, turn: Turn) -> Result<Option<StepResult>, Failed> {
    let leaving = live.at(&["metadata", "deletionTimestamp"]).is_some();
    if turn != Turn::First && leaving {
        return still_there(step, turn);
    }
    world.around.applied(step, live);
    let version = live.str_at(&["metadata", "resourceVersion"]);
    let outcome = match step.action {
        Action::Create | Action::Recreate(_) => Outcome::Created,
        // It was deleted first, as a field of it cannot be changed.
        _ if turn != Turn::First => Outcome::Created,
        _ => Outcome::Configured,
    };
    let uid = match step.hook {
        Some(_) => live.str_at(&["metadata", "uid"]),
        None => "",
    };
    Ok(Some(StepResult {
        uid: uid.to_owned(),
        ..result(step, outcome, version, String::new())
    }))
}

async fn replace(
    step: &Step,
    target: &Target,
    objects: &Objects,
    world: &World<'_>,
) -> Result<StepResult, Failed> {
    let mut object = Value::clone(object_of(step, objects)?);
    object.set_at(&["metadata", "resourceVersion"], target.resource_version.as_str());
    let resource = resource_of(step, world)
        .await
        .map_err(|error| apply_failed(step, &error))?;
    let options = Write {
        validation: validation(step),
        ..Write::by(world.manager)
    };
    let live = world.cluster.replace(&resource, &object, &options).await;
    let live = live.map_err(|error| apply_failed(step, &error))?;
    world.around.applied(step, &live);
    let version = live.str_at(&["metadata", "resourceVersion"]);
    Ok(result(step, Outcome::Configured, version, String::new()))
}

pub(super) async fn resource_of(step: &Step, world: &World<'_>) -> Result<Resource, Error> {
    let (group, version) = split_api_version(&step.api_version);
    world.cluster.resource(group, version, &step.key.kind).await
}

fn object_of<'a>(step: &Step, objects: &'a Objects) -> Result<&'a Value, Failed> {
    let object = step.object.as_ref().and_then(|reference| objects.get(reference));
    object.map(|object| &**object).ok_or_else(|| lost(step))
}

/// After a crash the objects are built anew, and the build may not be what it was.
fn lost(step: &Step) -> Failed {
    format!(
        "{} is not what it was when this was planned; the next run plans anew",
        step.key
    )
}

fn options(step: &Step, world: &World<'_>) -> Apply {
    Apply {
        validation: validation(step),
        ..Apply::by(world.manager)
    }
}

fn validation(step: &Step) -> Validation {
    match step.apply.unchecked {
        true => Validation::Ignore,
        false => Validation::Unspecified,
    }
}

pub(super) fn ended(step: &Step, outcome: Outcome) -> StepResult {
    result(step, outcome, "", String::new())
}

pub(super) fn result(step: &Step, outcome: Outcome, version: &str, message: String) -> StepResult {
    StepResult {
        key: step.key.clone(),
        outcome,
        resource_version: version.to_owned(),
        uid: String::new(),
        message,
    }
}

fn dry_run_failed(step: &Step, error: &Error) -> Failed {
    format!("{} {}", step.key, dry_run_failure(&step.key.namespace, error))
}

fn apply_failed(step: &Step, error: &Error) -> Failed {
    format!("{} apply failed: {error}", step.key)
}
