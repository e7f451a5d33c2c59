//! What a stage waits for, by what the cache knows, and by what the server [has said](Asked) of what no watch tells of. Nobody is held up:
//! whoever runs the plan comes back when one of the objects changes, or when the time is up.

use std::collections::HashMap;
use std::sync::Arc;

use model::health::State;
use model::{Health, ObjectKey};

use crate::cache::{Entry, Standard};
use crate::plan::{Awaited, Target, Until, Wait};

use super::World;
use super::ask::{Answer, Asked};
use super::progress::{Progress, StepResult};

/// What was found of the objects that a stage waits for.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Those that are not there yet.
    pub(super) pending: Vec<Pending>,
    /// Those that will not get there.
    pub(super) failed: Vec<Pending>,
}

/// An object that is waited for, and how it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Which object.
    pub key: ObjectKey,
    /// How it is doing.
    pub health: Health,
}

impl Found {
    /// Whether the wait is over, one way or the other.
    pub(super) fn is_over(&self, wait: &Wait) -> bool {
        self.pending.is_empty() || (wait.fail_fast && !self.failed.is_empty())
    }
}

/// Looks at what is waited for.
pub(super) fn look(wait: &Wait, progress: &Progress, asked: &Asked, world: &World<'_>) -> Found {
    let (cache, standard) = (world.cache, world.standard);
    // Each object is looked up once, although a long list of results is behind it.
    let written: HashMap<&ObjectKey, &StepResult> = progress
        .results
        .iter()
        .filter(|result| !result.resource_version.is_empty())
        .map(|result| (&result.key, result))
        .collect();
    let mut found = Found::default();
    for awaited in &wait.objects {
        if awaited.until == Until::Gone && progress.still_there.contains(&awaited.key) {
            // It was not deleted.
            continue;
        }
        let entry = cache.get_by(&awaited.key, standard);
        let (entry, is_gone) = match asked.of(&awaited.key).filter(|_| entry.is_none()) {
            Some(Answer::There(entry)) => (Some(Arc::clone(entry)), false),
            Some(Answer::Gone) => (None, true),
            Some(Answer::Unreadable(_)) if awaited.until == Until::Gone => (None, true),
            Some(Answer::Unreadable(error) | Answer::Failed(error)) => {
                let health = Health::because(State::Unknown, error.clone());
                found.pending.push(pending(awaited, health));
                continue;
            }
            None => (entry, false),
        };
        let result = written.get(&awaited.key).copied();
        let written = result.map(|result| result.resource_version.as_str());
        // What the watch has not told of yet is not gone.
        let known = is_gone || written.is_none_or(|version| cache.has_reached(&awaited.key, version));
        let is_another = |entry: &Arc<Entry>| result.is_some_and(|result| is_another(entry, result));
        let is_other = |entry: &Arc<Entry>| is_another(entry) || is_not_meant(entry, awaited);
        if awaited.until == Until::Gone && entry.as_ref().is_some_and(is_other) {
            // What was to go is gone.
            continue;
        }
        if entry.as_ref().is_some_and(is_another) {
            let message = "another object has taken its name";
            let health = Health::because(State::Degraded, message.to_owned());
            found.failed.push(pending(awaited, health));
            continue;
        }
        match judge(awaited, entry.as_deref(), standard, written, known) {
            Judgement::Done => {}
            Judgement::Pending(health) => found.pending.push(pending(awaited, health)),
            Judgement::Failed(health) => found.failed.push(pending(awaited, health)),
        }
    }
    found
}

/// Whether what is there now is not the hook that was run, but what somebody else has made since under its name.
fn is_another(entry: &Entry, hook: &StepResult) -> bool {
    let is_behind = is_older(entry.resource_version(), &hook.resource_version);
    !hook.uid.is_empty() && !is_behind && entry.uid().to_string() != hook.uid
}

/// Whether what is there now is not what was to go, but what came after it: a process before this one may have made it, and was
/// ended before it could say so.
fn is_not_meant(entry: &Entry, awaited: &Awaited) -> bool {
    let is_other = |target: &Target| {
        let is_behind = is_older(entry.resource_version(), &target.resource_version);
        !is_behind && entry.uid().to_string() != target.uid
    };
    awaited.target.as_ref().is_some_and(is_other)
}

/// Which of the objects that were to be gone are not.
pub(super) fn still_there<'a>(wait: &'a Wait, found: &'a Found) -> impl Iterator<Item = &'a ObjectKey> {
    let gone = wait.objects.iter().filter(|awaited| awaited.until == Until::Gone);
    let is_left = |key: &ObjectKey| found.pending.iter().any(|pending| pending.key == *key);
    gone.map(|awaited| &awaited.key).filter(move |key| is_left(key))
}

fn pending(awaited: &Awaited, health: Health) -> Pending {
    Pending {
        key: awaited.key.clone(),
        health,
    }
}

#[derive(Debug, PartialEq)]
enum Judgement {
    Done,
    Pending(Health),
    Failed(Health),
}

fn judge(
    awaited: &Awaited,
    entry: Option<&Entry>,
    standard: &Standard,
    written: Option<&str>,
    known: bool,
) -> Judgement {
    let Some(entry) = entry else {
        let may_be_gone = awaited.until == Until::Gone || (awaited.may_vanish && known);
        return match may_be_gone {
            true => Judgement::Done,
            false => Judgement::Pending(Health::new(State::Missing)),
        };
    };
    if awaited.until == Until::Gone {
        return Judgement::Pending(Health::new(State::Terminating));
    }
    if written.is_some_and(|written| is_older(entry.resource_version(), written)) {
        // The watch has not brought back yet what was written: the health is that of the object before.
        return Judgement::Pending(Health::new(State::Progressing));
    }
    match entry.health_by(standard) {
        // The unit has other rules since a moment ago, and the objects are being looked at again.
        None => Judgement::Pending(Health::new(State::Progressing)),
        Some(None) => Judgement::Done,
        Some(Some(health)) => match health.state {
            State::Healthy => Judgement::Done,
            // A hook that somebody has put on hold is not done; everything else that is held is as it should be.
            State::Suspended if awaited.until == Until::Healthy => Judgement::Done,
            State::Degraded => Judgement::Failed(health.clone()),
            _ => Judgement::Pending(health.clone()),
        },
    }
}

/// Whether one version of an object is older than another. Versions are numbers that grow, as Kubernetes promises by now; of
/// those that are none it cannot be told.
pub(crate) fn is_older(version: &str, than: &str) -> bool {
    match (version.parse::<u64>(), than.parse::<u64>()) {
        (Ok(version), Ok(than)) => version < than,
        _ => false,
    }
}

/// `[Deployment/shop/web status: 'InProgress', …]`, as Flux tells it.
pub(super) fn told(objects: &[Pending]) -> String {
    let mut text = String::from("[");
    for (number, Pending { key, health }) in objects.iter().enumerate() {
        if number > 0 {
            text.push_str(", ");
        }
        text.push_str(&format!("{key} status: '{}'", health.state.kstatus()));
        if !health.message.is_empty() {
            text.push_str(&format!(": {}", health.message));
        }
    }
    text.push(']');
    text
}
