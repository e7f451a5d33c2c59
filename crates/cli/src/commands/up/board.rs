//! All that is known: the units, what they have in the cluster, and what follows from it.

use std::collections::{BTreeMap, BTreeSet};

use engine::health::Rules;
use jiff::Timestamp;
use model::health;
use model::{ObjectKey, Value};

use super::others;
use super::pods::Pods;
use super::unit::{State, Unit, Wait};

/// Group and kind.
pub(super) type Kind = (String, String);

/// What is known.
#[derive(Default)]
pub(super) struct Board {
    units: BTreeMap<ObjectKey, Noted>,
    live: BTreeMap<ObjectKey, Value>,
    /// Kinds of which all objects are known.
    listed: BTreeSet<Kind>,
    /// Kinds that cannot be looked at, with the reason.
    blind: BTreeMap<Kind, String>,
    pods: Pods,
    /// What the followed source has to get to.
    pub(super) wanted: Option<(ObjectKey, String)>,
    /// Of the objects that were applied here, what they are by now: anything older is told late.
    applied: BTreeMap<ObjectKey, i64>,
    /// Whether only what was applied here counts, and what has come from it: a cluster that is there has other units.
    pub(super) own_only: bool,
    /// Counts what was noted, to tell what came after what.
    count: u64,
}

struct Noted {
    unit: Unit,
    /// When it turned out to have failed, after all that was asked of it.
    failed: u64,
    /// When it became ready.
    ready: u64,
    /// What it was asked that it has not answered.
    asked: Option<String>,
}

/// How a unit is, and what of it is not as it shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) unit: Unit,
    pub(super) state: State,
    pub(super) detail: String,
    /// How many objects it has.
    pub(super) count: usize,
    pub(super) unready: Vec<Shown>,
}

/// How an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) key: ObjectKey,
    pub(super) state: State,
    pub(super) detail: String,
}

/// What all of it comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something is under way.
    Open,
    /// Everything is as it shall be.
    Ready,
    /// These have failed before others became ready that they may need: they are worth another try.
    TryAgain(Vec<ObjectKey>),
    /// Something has failed, and nothing is under way that could change it.
    Failed,
}

impl Board {
    /// Takes note of a unit that was applied here, as it is after that.
    pub(super) fn note_applied(&mut self, object: &Value) {
        let key = ObjectKey::of(object);
        self.applied.insert(key.clone(), generation(object));
        self.note_unit(&key, Some(object));
    }

    /// Takes note of a unit; `None` where it is gone.
    pub(super) fn note_unit(&mut self, key: &ObjectKey, object: Option<&Value>) {
        self.count += 1;
        let Some(object) = object else {
            self.units.remove(key);
            return;
        };
        let applied = self.applied.get(key).copied();
        if applied.is_some_and(|applied| generation(object) < applied) {
            return;
        }
        let unit = Unit::of(object);
        let count = self.count;
        let before = self.units.remove(key);
        let mut asked = before.as_ref().and_then(|before| before.asked.clone());
        let was = before.as_ref().map(|before| before.unit.state);
        let (mut failed, mut ready) = before.map_or((0, 0), |before| (before.failed, before.ready));
        let answers = asked.as_ref().is_some_and(|asked| *asked == unit.handled);
        if answers {
            asked = None;
        }
        match unit.state {
            State::Failed if was != Some(State::Failed) || answers => failed = count,
            State::Ready if was != Some(State::Ready) => ready = count,
            _ => {}
        }
        let noted = Noted {
            unit,
            failed,
            ready,
            asked,
        };
        self.units.insert(key.clone(), noted);
    }

    /// Takes note of an object; `None` where it is gone.
    pub(super) fn note_object(&mut self, key: &ObjectKey, object: Option<Value>) {
        match object {
            Some(object) => drop(self.live.insert(key.clone(), object)),
            None => drop(self.live.remove(key)),
        }
    }

    pub(super) fn note_pod(&mut self, key: &ObjectKey, pod: Option<&Value>) {
        self.pods.saw(key, pod);
    }

    /// All objects of a kind are known from now on.
    pub(super) fn note_listed(&mut self, kind: Kind) {
        self.blind.remove(&kind);
        self.listed.insert(kind);
    }

    /// Objects of a kind cannot be looked at.
    pub(super) fn note_blind(&mut self, kind: Kind, why: String) {
        self.blind.insert(kind, why);
    }

    /// A unit was asked to look again.
    pub(super) fn note_asked(&mut self, key: &ObjectKey, token: &str) {
        if let Some(noted) = self.units.get_mut(key) {
            noted.asked = Some(token.to_owned());
        }
    }

    pub(super) fn unit(&self, key: &ObjectKey) -> Option<&Unit> {
        self.units.get(key).map(|noted| &noted.unit)
    }

    pub(super) fn has_unit(&self, key: &ObjectKey) -> bool {
        self.units.contains_key(key)
    }

    /// The units that count.
    fn counted(&self) -> impl Iterator<Item = (&ObjectKey, &Noted)> {
        let own = self
            .own_only
            .then(|| others::own(self.applied.keys(), |key| self.unit(key)));
        let units = self.units.iter();
        units.filter(move |(key, _)| own.as_ref().is_none_or(|own| own.contains(*key)))
    }

    /// All objects that units have, with their `apiVersion`, and the unit of each.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&Unit, &(ObjectKey, String))> {
        let units = self.counted().map(|(_, noted)| &noted.unit);
        units.flat_map(|unit| unit.objects.iter().map(move |object| (unit, object)))
    }

    /// How everything is, sources first.
    pub(super) fn rows(&self, now: Timestamp) -> Vec<Row> {
        let mut rows: Vec<Row> = self.counted().map(|(_, noted)| self.row(noted, now)).collect();
        rows.sort_by_key(|row| row.unit.key.group != api::source::GROUP);
        rows
    }

    fn row(&self, noted: &Noted, now: Timestamp) -> Row {
        let unit = noted.unit.clone();
        let others = unit.objects.iter().filter(|(key, _)| !self.has_unit(key));
        let shown: Vec<Shown> = others.map(|(key, _)| self.shown(key, now)).collect();
        let unready: Vec<Shown> = shown
            .into_iter()
            .filter(|shown| shown.state != State::Ready)
            .collect();
        let (mut state, mut detail) = (unit.state, unit.detail.clone());
        if state == State::Ready {
            let has_failed = unready.iter().any(|shown| shown.state == State::Failed);
            if has_failed {
                state = State::Failed;
            } else if !unready.is_empty() {
                state = State::Waiting;
                detail = format!("{} of {} not ready yet", unready.len(), unit.objects.len());
            }
            if let Some(next) = self.next_revision(&unit) {
                state = State::Waiting;
                detail = format!("next: {}", super::unit::short(&next));
            }
        }
        if noted.asked.is_some() && state == State::Failed {
            state = State::Waiting;
        }
        Row {
            state,
            detail,
            count: unit.objects.len(),
            unready,
            unit,
        }
    }

    /// The revision that a unit has not got to yet.
    fn next_revision(&self, unit: &Unit) -> Option<String> {
        let (wanted, is_reached) = match (&self.wanted, &unit.source) {
            (Some((key, wanted)), None) if *key == unit.key => (wanted, unit.revision == *wanted),
            (_, Some(source)) => {
                let wanted = &self.unit(source)?.revision;
                (wanted, unit.has_reached(wanted))
            }
            _ => return None,
        };
        (!wanted.is_empty() && !is_reached && unit.detail != "suspended").then(|| wanted.clone())
    }

    /// Whether it is known how an object is.
    pub(super) fn is_seen(&self, key: &ObjectKey) -> bool {
        let kind = (key.group.to_string(), key.kind.to_string());
        self.live.contains_key(key) || self.listed.contains(&kind) || self.blind.contains_key(&kind)
    }

    /// How an object is.
    pub(super) fn shown(&self, key: &ObjectKey, now: Timestamp) -> Shown {
        let kind = (key.group.to_string(), key.kind.to_string());
        let told = |state, detail: &str| Shown {
            key: key.clone(),
            state,
            detail: detail.to_owned(),
        };
        let Some(live) = self.live.get(key) else {
            return match (self.blind.get(&kind), self.listed.contains(&kind)) {
                (Some(why), _) => told(State::Ready, why),
                (None, true) => told(State::Waiting, "it is not there"),
                (None, false) => told(State::Waiting, "not seen yet"),
            };
        };
        let health = Rules::Kstatus.assess(live, now);
        let (state, detail) = match &health {
            None => (State::Ready, ""),
            Some(health) => (state_of(health.state), health.message.as_str()),
        };
        let mut shown = told(state, detail);
        if state != State::Ready
            && let Some(trouble) = self.pods.trouble_of(live)
        {
            shown.detail = format!("{}; {trouble}", shown.detail);
        }
        shown
    }

    /// What it all comes to.
    pub(super) fn verdict(&self, root: &ObjectKey, now: Timestamp) -> Verdict {
        let rows = self.rows(now);
        if !self.units.contains_key(root) {
            return Verdict::Open;
        }
        if rows.iter().all(|row| row.state == State::Ready) {
            return Verdict::Ready;
        }
        let has_failed = rows.iter().any(|row| row.state == State::Failed);
        let is_under_way = |row: &Row| row.state == State::Waiting && row.unit.wait == Wait::Own;
        if !has_failed || rows.iter().any(is_under_way) {
            return Verdict::Open;
        }
        let stale: Vec<ObjectKey> = self
            .counted()
            .filter(|(key, noted)| noted.unit.state == State::Failed && self.is_stale(key, noted))
            .map(|(key, _)| key.clone())
            .collect();
        match stale.is_empty() {
            true => Verdict::Failed,
            false => Verdict::TryAgain(stale),
        }
    }

    /// Whether another unit became ready after this one had failed.
    fn is_stale(&self, key: &ObjectKey, noted: &Noted) -> bool {
        let mut others = self.counted().filter(|(other, _)| *other != key);
        others.any(|(_, other)| other.ready > noted.failed)
    }
}

fn generation(object: &Value) -> i64 {
    let generation = object.at(&["metadata", "generation"]);
    generation.and_then(Value::as_i64).unwrap_or_default()
}

fn state_of(state: health::State) -> State {
    match state {
        health::State::Healthy | health::State::Suspended => State::Ready,
        health::State::Degraded => State::Failed,
        health::State::Progressing
        | health::State::Terminating
        | health::State::Missing
        | health::State::Unknown => State::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    const REVISION: &str = "main@sha1:0123456789abcdef";

    fn source(revision: &str) -> Value {
        value!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": {"name": "app", "namespace": "flux-system", "generation": 1},
            "spec": {},
            "status": {
                "observedGeneration": 1, "artifact": {"revision": revision},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        })
    }

    fn kustomization(name: &str, status: &str, reason: &str) -> Value {
        value!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system", "generation": 1},
            "spec": {"sourceRef": {"kind": "GitRepository", "name": "app"}},
            "status": {
                "observedGeneration": 1, "lastAppliedRevision": REVISION,
                "conditions": [{"type": "Ready", "status": status, "reason": reason, "message": "because"}],
                "inventory": {"entries": [{"id": "shop_page__ConfigMap", "v": "v1"}]},
            },
        })
    }

    fn note(board: &mut Board, object: &Value) -> ObjectKey {
        let key = ObjectKey::of(object);
        board.note_unit(&key, Some(object));
        key
    }

    fn page() -> Value {
        value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "page", "namespace": "shop"}})
    }

    /// A board with a source and a Kustomization that is so.
    fn board(status: &str, reason: &str) -> (Board, ObjectKey) {
        let mut board = Board::default();
        note(&mut board, &source(REVISION));
        let root = note(&mut board, &kustomization("app", status, reason));
        board.note_object(&ObjectKey::of(&page()), Some(page()));
        (board, root)
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn all_is_ready_when_units_and_objects_are() {
        let (mut board, root) = board("True", "ReconciliationSucceeded");
        assert_eq!(board.verdict(&root, now()), Verdict::Ready);
        board.note_object(&ObjectKey::of(&page()), None);
        assert_eq!(board.verdict(&root, now()), Verdict::Open);
        board.note_blind((String::new(), "ConfigMap".into()), "forbidden".into());
        assert_eq!(board.verdict(&root, now()), Verdict::Ready);
    }

    #[test]
    fn in_a_cluster_that_is_there_the_units_of_others_do_not_count() {
        let (mut board, root) = board("True", "ReconciliationSucceeded");
        board.own_only = true;
        board.note_applied(&source(REVISION));
        board.note_applied(&kustomization("app", "True", "ReconciliationSucceeded"));
        note(&mut board, &kustomization("other", "False", "BuildFailed"));
        assert_eq!(board.verdict(&root, now()), Verdict::Ready);
        assert_eq!(board.rows(now()).len(), 2);
        // What has come from ours does.
        let mut parent = kustomization("app", "True", "ReconciliationSucceeded");
        let entries =
            value!([{"id": "flux-system_other_kustomize.toolkit.fluxcd.io_Kustomization", "v": "v1"}]);
        parent.set_at(&["status", "inventory", "entries"], entries);
        note(&mut board, &parent);
        assert_eq!(board.rows(now()).len(), 3);
        assert_ne!(board.verdict(&root, now()), Verdict::Ready);
    }

    #[test]
    fn a_revision_that_is_not_applied_yet_is_waited_for() {
        let (mut board, root) = board("True", "ReconciliationSucceeded");
        note(&mut board, &source("main@sha1:another"));
        assert_eq!(board.verdict(&root, now()), Verdict::Open);
        let (mut board, root) = self::board("True", "ReconciliationSucceeded");
        board.wanted = Some((ObjectKey::of(&source("")), "main@sha1:another".into()));
        assert_eq!(board.verdict(&root, now()), Verdict::Open);
    }

    #[test]
    fn what_failed_first_is_tried_again_once_others_are_ready() {
        let (mut board, root) = board("False", "BuildFailed");
        assert_eq!(board.verdict(&root, now()), Verdict::Failed);
        let other = kustomization("other", "Unknown", "Progressing");
        note(&mut board, &other);
        assert_eq!(board.verdict(&root, now()), Verdict::Open);
        let waiting = kustomization("other", "False", "DependencyNotReady");
        note(&mut board, &waiting);
        assert_eq!(
            board.verdict(&root, now()),
            Verdict::Failed,
            "it waits for what has failed"
        );
        note(
            &mut board,
            &kustomization("other", "True", "ReconciliationSucceeded"),
        );
        assert_eq!(board.verdict(&root, now()), Verdict::TryAgain(vec![root.clone()]));
        board.note_asked(&root, "now");
        assert_eq!(board.verdict(&root, now()), Verdict::Open);
        let mut answered = kustomization("app", "False", "BuildFailed");
        answered.set_at(&["status", "lastHandledReconcileAt"], "now");
        note(&mut board, &answered);
        assert_eq!(board.verdict(&root, now()), Verdict::Failed);
    }

    #[test]
    fn a_workload_that_has_failed_fails_its_unit() {
        let (mut board, root) = board("True", "ReconciliationSucceeded");
        let mut job = kustomization("app", "True", "ReconciliationSucceeded");
        let entries = value!([{"id": "shop_job_batch_Job", "v": "v1"}]);
        job.set_at(&["status", "inventory", "entries"], entries);
        note(&mut board, &job);
        let failed = value!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job", "namespace": "shop"},
            "status": {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Failed", "status": "True", "message": "no"}]},
        });
        board.note_object(&ObjectKey::of(&failed), Some(failed));
        assert_eq!(board.verdict(&root, now()), Verdict::Failed);
        let rows = board.rows(now());
        assert_eq!(rows[1].unready[0].state, State::Failed);
    }
}
