//! The new ReplicaSet and its number in the history, and the end of old ones.

use model::{Map, Value, value};

use crate::error::Error;
use crate::simulator::condition::{self, Condition};
use crate::simulator::event::Level;
use crate::simulator::step::{deleting, number};
use crate::simulator::template::is_ending_namespace;
use crate::simulator::{Kind, Step, children, hash};
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

use super::View;
use super::progress::has_deadline;
use super::rollout::{Limits, is_rolling, room_for_new};
use super::set::{DESIRED, HASH_LABEL, MAXIMUM, REVISION, REVISION_HISTORY, Set, Sets, set_sizes};

/// So long the list of earlier revisions of a ReplicaSet may be.
const LONGEST_HISTORY: usize = 2000;
/// Annotations that a ReplicaSet does not take over from its Deployment.
const OWN_ANNOTATIONS: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    REVISION_HISTORY,
    DESIRED,
    MAXIMUM,
];

/// Brings the new ReplicaSet's annotations up to date, and the Deployment's revision with them. The new one is left out
/// of it where it is not there yet.
pub(super) fn sync(step: &Step<'_>, view: &mut View<'_>, sets: &mut Sets) {
    let revision = next_revision(&sets.old);
    let Some(new) = &mut sets.new else { return };
    let min_ready = number(view.deployment, &["spec", "minReadySeconds"]);
    let written = step.change(Kind::ReplicaSet, &new.key, |set| {
        annotate(set, view.deployment, revision);
        if number(set, &["spec", "minReadySeconds"]) != min_ready {
            set.set_at(&["spec", "minReadySeconds"], min_ready);
        }
    });
    if let Some(written) = written {
        new.value = written;
    }
    view.revision = Some(new.annotation(REVISION).to_owned());
    if has_deadline(view.deployment) && condition::find(view.status, "Progressing").is_none() {
        let message = format!("Found new replica set \"{}\"", new.name());
        view.set_progressing("True", "FoundNewReplicaSet", &message, &step.now_text());
    }
}

/// The same, but the new ReplicaSet is made where it is not there.
pub(super) fn sync_or_create(step: &mut Step<'_>, view: &mut View<'_>, sets: &mut Sets) {
    if sets.new.is_some() {
        return sync(step, view, sets);
    }
    let revision = next_revision(&sets.old);
    let template = view
        .deployment
        .at(&["spec", "template"])
        .cloned()
        .unwrap_or_default();
    let collisions = view.status.get("collisionCount").and_then(Value::as_i64);
    let hash = hash::of(&template, collisions);
    let mut set = new_set(view.deployment, template, &hash);
    let limits = Limits::of(view.deployment);
    let all = sets.sum(Set::wanted);
    let size = room_for_new(&limits, is_rolling(view.deployment), 0, all);
    set.set_at(&["spec", "replicas"], size);
    annotate(&mut set, view.deployment, revision);
    set_sizes(&mut set, &limits);
    let name = set.str_at(&["metadata", "name"]).to_owned();
    match step.create(Kind::ReplicaSet, set) {
        Ok(set) => {
            if size > 0 {
                let message = format!("Scaled up replica set {name} from 0 to {size}");
                step.event(view.deployment, Level::Normal, "ScalingReplicaSet", &message);
            }
            if has_deadline(view.deployment) {
                let message = format!("Created new replica set \"{name}\"");
                view.set_progressing("True", "NewReplicaSetCreated", &message, &step.now_text());
            }
            view.revision = Some(revision.to_string());
            sets.new = Some(Set::new(set));
        }
        Err(error) => refused(step, view, &name, &error),
    }
}

fn refused(step: &mut Step<'_>, view: &mut View<'_>, name: &str, error: &Error) {
    if is_ending_namespace(error) {
        return;
    }
    if error.code == 409 {
        // Another template has this hash: the next look makes another one.
        let collisions = number(view.status, &["collisionCount"]);
        view.status.set_at(&["collisionCount"], collisions + 1);
        return;
    }
    let message = format!("Failed to create new replica set \"{name}\": {}", error.message);
    if has_deadline(view.deployment) {
        view.set_progressing("False", "ReplicaSetCreateError", &message, &step.now_text());
    }
    step.event(view.deployment, Level::Warning, "ReplicaSetCreateError", &message);
}

fn new_set(deployment: &Value, mut template: Value, hash: &str) -> Value {
    template.set_at(&["metadata", "labels", HASH_LABEL], hash);
    let labels = template.at(&["metadata", "labels"]).cloned().unwrap_or_default();
    let mut selector = deployment.at(&["spec", "selector"]).cloned().unwrap_or_default();
    selector.set_at(&["matchLabels", HASH_LABEL], hash);
    let name = deployment.str_at(&["metadata", "name"]);
    // Names end somewhere, and the hash is what tells them apart.
    let kept: String = name.chars().take(253 - 1 - hash.len()).collect();
    let mut set = value!({
        "metadata": {
            "name": (format!("{kept}-{hash}")),
            "namespace": (deployment.str_at(&["metadata", "namespace"])),
            "labels": labels,
            "ownerReferences": [(children::reference(deployment))],
        },
        "spec": {"selector": selector, "template": template},
    });
    let min_ready = number(deployment, &["spec", "minReadySeconds"]);
    if min_ready > 0 {
        set.set_at(&["spec", "minReadySeconds"], min_ready);
    }
    set
}

fn next_revision(old: &[Set]) -> i64 {
    old.iter().map(Set::revision).max().unwrap_or(0) + 1
}

/// Copies the Deployment's annotations, and numbers the ReplicaSet; a number it had before goes into its history.
fn annotate(set: &mut Value, deployment: &Value, revision: i64) {
    let source = deployment.at(&["metadata", "annotations"]);
    let source = source.and_then(Value::as_object).into_iter().flat_map(Map::iter);
    for (key, value) in source.filter(|(key, _)| !OWN_ANNOTATIONS.contains(key)) {
        set.set_at(&["metadata", "annotations", key], value.clone());
    }
    let before = set.str_at(&["metadata", "annotations", REVISION]).to_owned();
    let old: i64 = match before.as_str() {
        "" => 0,
        text => match text.parse() {
            Ok(number) => number,
            // Somebody else numbers it.
            Err(_) => return,
        },
    };
    if old >= revision {
        return;
    }
    set.set_at(&["metadata", "annotations", REVISION], revision.to_string());
    if !before.is_empty() {
        let history = set.str_at(&["metadata", "annotations", REVISION_HISTORY]);
        let history = extend_history(history, &before);
        set.set_at(&["metadata", "annotations", REVISION_HISTORY], history);
    }
}

/// Appends a revision; the oldest ones go where the list becomes too long.
fn extend_history(history: &str, revision: &str) -> String {
    let mut text = match history {
        "" => revision.to_owned(),
        history => format!("{history},{revision}"),
    };
    while text.len() > LONGEST_HISTORY {
        match text.split_once(',') {
            Some((_, rest)) => text = rest.to_owned(),
            None => break,
        }
    }
    text
}

/// Deletes the oldest ReplicaSets beyond the limit, if they are empty.
pub(super) fn clean_up(step: &Step<'_>, view: &View<'_>, sets: &Sets) {
    let limit = view
        .deployment
        .at(&["spec", "revisionHistoryLimit"])
        .and_then(Value::as_i64);
    let Some(limit) = limit.filter(|limit| *limit < i64::from(i32::MAX)) else {
        return;
    };
    let mut alive: Vec<&Set> = sets.old.iter().filter(|set| !deleting(&set.value)).collect();
    alive.sort_by_key(|set| set.revision());
    let surplus = alive.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    for set in alive.into_iter().take(surplus) {
        let observed = number(&set.value, &["status", "observedGeneration"]);
        let settled = observed >= number(&set.value, &["metadata", "generation"]);
        if set.actual() == 0 && set.wanted() == 0 && settled {
            let key = Key::new(step.key.namespace(), set.name());
            step.delete(Kind::ReplicaSet, &key, &DeleteOptions::default());
        }
    }
}

impl View<'_> {
    /// Sets the condition that tells how the exchange goes.
    pub(super) fn set_progressing(&mut self, status: &str, reason: &str, message: &str, now: &str) {
        Condition {
            kind: "Progressing",
            status,
            reason,
            message,
        }
        .append(self.status, now, |condition| {
            condition.set_at(&["lastUpdateTime"], now)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_a_set_had_before_goes_into_its_history() {
        let deployment = value!({"metadata": {"annotations": {"team": "a", REVISION: "7"}}});
        let mut set = value!({});
        annotate(&mut set, &deployment, 1);
        assert_eq!(
            set,
            value!({"metadata": {"annotations": {"team": "a", REVISION: "1"}}})
        );
        annotate(&mut set, &deployment, 3);
        annotate(&mut set, &deployment, 3);
        annotate(&mut set, &deployment, 5);
        let annotations = value!({"team": "a", REVISION: "5", REVISION_HISTORY: "1,3"});
        assert_eq!(set, value!({"metadata": {"annotations": annotations}}));
    }

    #[test]
    fn the_history_stays_short() {
        let history = (0..1000).fold(String::new(), |history, number| {
            extend_history(&history, &number.to_string())
        });
        assert!(history.len() <= LONGEST_HISTORY, "{}", history.len());
        assert!(history.ends_with(",998,999"), "{history}");
    }
}
