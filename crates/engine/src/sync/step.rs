//! Carries out one step: the requests that its action stands for.

use model::Value;
use model::object_key::split_api_version;

use crate::cluster::{Apply, Error, Resource, Validation, Write};
use crate::diff::dry_run_failure;
use crate::plan::{Action, Objects, Step, Target};

use super::World;
use super::anew;
use super::delete::{Pruned, TRIES, delete_hook, prune};
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
        if let Action::Replace(target) = &step.action {
            let put = put(step, target, objects, world, true).await?;
            return put.map(drop).map_err(|error| dry_run_failed(step, &error));
        }
        let object = object_of(step, objects)?;
        let resource = resource_of(step, world)
            .await
            .map_err(|error| dry_run_failed(step, &error))?;
        let options = Apply {
            dry_run: true,
            ..options(step, world)
        };
        let refused = match &step.action {
            // It is deleted before it is applied: an apply to what is there tells nothing.
            Action::Recreate(_) => return anew::is_makeable(step, &resource, object, world).await,
            _ => world.cluster.apply(&resource, object, &options).await.err(),
        };
        let Some(error) = refused else {
            return Ok(());
        };
        match anew::victim(step, &resource, object, &error, world).await {
            Some(_) => Ok(()),
            None => Err(dry_run_failed(step, &error)),
        }
    };
    let message = checked.await.err()?;
    Some(StepResult {
        unsent: true,
        ..result(step, Outcome::Failed, "", message)
    })
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
        Action::Recreate(target) => anew::recreate(step, target, objects, world, turn).await,
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
pub(super) async fn apply(
    step: &Step,
    objects: &Objects,
    world: &World<'_>,
    turn: Turn,
) -> Result<Option<StepResult>, Failed> {
    let object = object_of(step, objects)?;
    let resource = resource_of(step, world)
        .await
        .map_err(|error| apply_failed(step, &error))?;
    if turn != Turn::First && anew::is_leaving(step, &resource, world).await? {
        return anew::still_there(step, turn);
    }
    if let (Turn::First, Some(takeover)) = (turn, &step.apply.takeover) {
        // After a crash the patch is not known any more; the next run finds what is to be taken over and does it.
        if let Some(patch) = objects.get(takeover) {
            take_over(step, &resource, patch, world).await?;
        }
    }
    let applied = world
        .cluster
        .apply(&resource, object, &options(step, world))
        .await;
    let error = match applied {
        Ok(live) => return written(step, &live, world, turn),
        Err(error) => error,
    };
    if turn != Turn::First {
        return Err(apply_failed(step, &error));
    }
    match anew::victim(step, &resource, object, &error, world).await {
        Some(uid) => anew::clear(step, &resource, &uid, world).await.map(|()| None),
        None => Err(apply_failed(step, &error)),
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

/// Whether the object of a step is not there, as far as the server can be asked.
pub(super) async fn is_gone(step: &Step, world: &World<'_>) -> bool {
    let Ok(resource) = resource_of(step, world).await else {
        return false;
    };
    let key = &step.key;
    let live = world.cluster.get(&resource, &key.namespace, &key.name).await;
    matches!(live, Ok(None))
}

/// What has become of an applied object. One that is on its way out was only touched, and is applied again when it is gone.
fn written(step: &Step, live: &Value, world: &World<'_>, turn: Turn) -> Result<Option<StepResult>, Failed> {
    let leaving = live.at(&["metadata", "deletionTimestamp"]).is_some();
    if turn != Turn::First && leaving {
        return anew::still_there(step, turn);
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
    let live = put(step, target, objects, world, false).await?;
    let live = live.map_err(|error| apply_failed(step, &error))?;
    world.around.applied(step, &live);
    let version = live.str_at(&["metadata", "resourceVersion"]);
    Ok(result(step, Outcome::Configured, version, String::new()))
}

/// Puts an object in the place of exactly what was looked at. If that has changed since, and be it by a process before that has done the
/// same, the current version is the one that is replaced.
async fn put(
    step: &Step,
    target: &Target,
    objects: &Objects,
    world: &World<'_>,
    dry_run: bool,
) -> Result<Result<Value, Error>, Failed> {
    let mut object = Value::clone(object_of(step, objects)?);
    let mut version = target.resource_version.clone();
    let options = Write {
        dry_run,
        validation: validation(step),
        ..Write::by(world.manager)
    };
    let resource = match resource_of(step, world).await {
        Ok(resource) => resource,
        Err(error) => return Ok(Err(error)),
    };
    let key = &step.key;
    for _ in 1..TRIES {
        object.set_at(&["metadata", "resourceVersion"], version.as_str());
        let conflict = match world.cluster.replace(&resource, &object, &options).await {
            Err(error @ Error::Conflict(_)) => error,
            replaced => return Ok(replaced),
        };
        match world.cluster.get(&resource, &key.namespace, &key.name).await {
            Ok(Some(live)) if live.str_at(&["metadata", "uid"]) == target.uid => {
                live.str_at(&["metadata", "resourceVersion"])
                    .clone_into(&mut version);
            }
            Ok(_) => return Ok(Err(conflict)),
            Err(error) => return Ok(Err(error)),
        }
    }
    object.set_at(&["metadata", "resourceVersion"], version.as_str());
    Ok(world.cluster.replace(&resource, &object, &options).await)
}

pub(super) async fn resource_of(step: &Step, world: &World<'_>) -> Result<Resource, Error> {
    let (group, version) = split_api_version(&step.api_version);
    world.cluster.resource(group, version, &step.key.kind).await
}

pub(super) fn object_of<'a>(step: &Step, objects: &'a Objects) -> Result<&'a Value, Failed> {
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

pub(super) fn validation(step: &Step) -> Validation {
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
        unsent: false,
    }
}

pub(super) fn dry_run_failed(step: &Step, error: &Error) -> Failed {
    format!("{} {}", step.key, dry_run_failure(&step.key.namespace, error))
}

pub(super) fn apply_failed(step: &Step, error: &Error) -> Failed {
    format!("{} apply failed: {error}", step.key)
}
