//! Plans carried out on a cluster of a few lines, by an executor that follows the rules at [`Plan`] and decides nothing.

use std::collections::{BTreeMap, HashSet};

use engine::plan::{Action, Objects, OnFailure, Purpose, Strategy, objects, plan, stale};
use model::{Digest, Inventory};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::strategy::{Just, Strategy as Generator};

use super::*;

/// The objects that are there.
#[derive(Clone, Default)]
struct Cluster(BTreeMap<ObjectKey, Value>);

impl Cluster {
    fn live(&self, key: &ObjectKey) -> Option<Live> {
        self.0.get(key).map(live)
    }

    fn observe(&self, object: Value) -> Desired {
        let key = ObjectKey::of(&object);
        let desired = desired(object);
        let observed = match self.0.get(&key) {
            None if !self.has_namespace(&key) => Observed::NamespaceMissing {
                error: "no namespace".to_owned(),
            },
            None => Observed::Missing,
            Some(there) if *there == *desired.object => Observed::Unchanged(live(there)),
            Some(there) if key.kind == "Job" => Observed::Immutable {
                live: live(there),
                error: "immutable".to_owned(),
            },
            Some(there) => Observed::Drifted {
                live: live(there),
                fields: Vec::new(),
            },
        };
        desired.observed(observed)
    }

    fn has_namespace(&self, key: &ObjectKey) -> bool {
        key.namespace.is_empty()
            || self
                .0
                .contains_key(&super::key(&format!("v1 Namespace {}", key.namespace)))
    }

    /// One write. `broken` is an object that the server fails to write.
    fn write(&mut self, step: &Step, objects: &Objects, broken: Option<&ObjectKey>) -> Result<(), ()> {
        if !step.action.writes() {
            return Ok(());
        }
        if broken == Some(&step.key) {
            return Err(());
        }
        match &step.action {
            Action::Prune { target, .. } => {
                let there = self.live(&step.key).ok_or(())?;
                assert_eq!(there.uid, target.uid);
                self.0.remove(&step.key);
            }
            Action::DeleteHook { .. } => {
                self.0.remove(&step.key);
            }
            _ => {
                assert!(self.has_namespace(&step.key), "{} has no namespace yet", step.key);
                let object = objects.get(step.object.as_ref().unwrap()).unwrap();
                self.0.insert(step.key.clone(), Value::clone(object));
            }
        }
        Ok(())
    }
}

/// Walks over the stages; whether all went well, and what could not be deleted.
fn carry_out(
    plan: &Plan,
    objects: &Objects,
    cluster: &mut Cluster,
    broken: Option<&ObjectKey>,
) -> (bool, Vec<ObjectKey>) {
    let mut failed = false;
    for stage in &plan.stages {
        let runs = match stage.when {
            When::Success => !failed,
            When::Failure => failed,
            When::Always => true,
        };
        if !runs {
            continue;
        }
        let mut failed_batch = None;
        for step in &stage.steps {
            if stage.on_failure == OnFailure::Stop && failed_batch.is_some_and(|batch| batch < step.batch) {
                break;
            }
            if cluster.write(step, objects, broken).is_err() {
                failed_batch.get_or_insert(step.batch);
            }
        }
        failed |= failed_batch.is_some() && stage.on_failure != OnFailure::GoOn;
    }
    // What was never tried because of an earlier failure has survived as well as what could not be deleted.
    let prunes = plan
        .steps()
        .filter(|step| matches!(step.action, Action::Prune { .. }));
    let survivors = prunes.filter(|step| cluster.0.contains_key(&step.key));
    let survivors = survivors.map(|step| step.key.clone()).collect();
    (!failed, survivors)
}

fn planned_for(
    cluster: &Cluster,
    manifests: &[Value],
    previous: &Inventory,
    strategy: &Strategy,
) -> (Plan, Objects) {
    let mut input = input(
        manifests
            .iter()
            .map(|object| cluster.observe(object.clone()))
            .collect(),
    );
    input.previous = previous.clone();
    input.options.force = true;
    input.options.allow_empty = true;
    for entry in stale(previous, &input.desired, "") {
        let key = entry.id.0.clone();
        let found = match cluster.live(&key) {
            Some(live) => Found::There(Box::new(live)),
            None => Found::Gone,
        };
        let api_version = "v1".to_owned();
        input.candidates.push(Candidate {
            key,
            api_version,
            found,
        });
    }
    plan(&input, strategy).unwrap()
}

/// A revision: objects of a few names, each in one of three states.
fn any_revision() -> impl Generator<Value = Vec<Value>> {
    let kinds = ["v1 ConfigMap", "apps/v1 Deployment", "batch/v1 Job", "v1 Secret"];
    let member = (0..kinds.len(), 0..4_usize, 0..3_i64, any::<bool>(), 0..8_u8);
    let members = proptest::collection::vec(member, 0..12);
    (members, Just(kinds)).prop_map(|(members, kinds)| {
        let mut revision = BTreeMap::new();
        revision.insert("ns".to_owned(), object("v1 Namespace shop"));
        for (kind, name, state, in_wave, hook) in members {
            let text = format!("{} shop/o{name}", kinds[kind]);
            let mut object = object(&text);
            object.set_at(&["spec", "state"], state);
            if in_wave {
                object.set_at(
                    &["metadata", "annotations", "argocd.argoproj.io/sync-wave"],
                    (state - 1).to_string(),
                );
            }
            if hook == 0 {
                object.set_at(&["metadata", "annotations", "argocd.argoproj.io/hook"], "PreSync");
            }
            revision.insert(text, object);
        }
        revision.into_values().collect()
    })
}

fn is_hook(object: &Value) -> bool {
    object
        .at(&["metadata", "annotations", "argocd.argoproj.io/hook"])
        .is_some()
}

fn digests(objects: impl Iterator<Item = Value>) -> HashSet<Digest> {
    objects.map(|object| objects::digest(&object)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_cluster_becomes_what_is_desired_and_then_nothing_is_left_to_do(
        revisions in proptest::collection::vec(any_revision(), 1..5),
        foreign in any_revision(),
    ) {
        for strategy in [flux(), Strategy::helm()] {
            let mut cluster = Cluster::default();
            let theirs: Vec<Value> = foreign.iter().map(|object| {
                let mut object = object.clone();
                object.set_at(&["metadata", "name"], format!("theirs-{}", object.str_at(&["metadata", "name"])));
                object
            }).collect();
            cluster.0.extend(theirs.iter().map(|object| (ObjectKey::of(object), object.clone())));
            let mut inventory = Inventory::default();
            for revision in &revisions {
                let (plan, objects) = planned_for(&cluster, revision, &inventory, &strategy);
                let (succeeded, _) = carry_out(&plan, &objects, &mut cluster, None);
                prop_assert!(succeeded, "{plan}");
                inventory = plan.inventory;
                let wanted = digests(revision.iter().chain(&theirs).cloned());
                prop_assert_eq!(digests(cluster.0.values().cloned()), wanted);
                let (again, _) = planned_for(&cluster, revision, &inventory, &strategy);
                prop_assert!(!again.changes_anything(), "{again}");
            }
        }
    }

    /// Objects that a run could not write or delete are written and deleted by the next one; nothing is forgotten.
    #[test]
    fn a_run_that_fails_is_made_good_by_the_next(
        first in any_revision(),
        second in any_revision(),
        victim in any::<proptest::sample::Index>(),
    ) {
        for strategy in [flux(), waves(), Strategy::helm(), Strategy::flux_v1("set")] {
            let mut cluster = Cluster::default();
            let (plan, objects) = planned_for(&cluster, &first, &Inventory::default(), &strategy);
            carry_out(&plan, &objects, &mut cluster, None);
            let previous = plan.inventory;

            let all: Vec<&Value> = first.iter().chain(&second).collect();
            let broken = ObjectKey::of(all[victim.index(all.len())]);
            let (plan, objects) = planned_for(&cluster, &second, &previous, &strategy);
            let (succeeded, survivors) = carry_out(&plan, &objects, &mut cluster, Some(&broken));
            // What applied nothing to the end keeps the inventory of before.
            let applied = plan.stages.iter().filter(|stage| stage.purpose != Purpose::Prune);
            let touched = applied.flat_map(|stage| &stage.steps).any(|step| step.key == broken && step.action.writes());
            let inventory = match succeeded || !touched {
                true => plan.inventory_with(survivors),
                false => previous,
            };

            let (plan, objects) = planned_for(&cluster, &second, &inventory, &strategy);
            let (succeeded, _) = carry_out(&plan, &objects, &mut cluster, None);
            prop_assert!(succeeded, "{plan}");
            let hooks = |object: &&Value| strategy.hooks && is_hook(object);
            let lasting = |object: &&Value| !hooks(object);
            let wanted = digests(second.iter().filter(lasting).cloned());
            let there = digests(cluster.0.values().filter(lasting).cloned());
            if strategy.ownership != (Strategy::flux_v1("set").ownership) {
                prop_assert_eq!(there, wanted, "{}", plan);
            } else {
                prop_assert!(there.is_superset(&wanted));
            }
        }
    }
}
