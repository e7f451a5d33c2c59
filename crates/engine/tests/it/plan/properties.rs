//! What holds of every plan, whatever goes in.

use std::collections::HashSet;

use engine::plan::{Action, Reference, Strategy, plan};
use proptest::prelude::{Just, ProptestConfig, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;

use super::*;

const KINDS: [&str; 8] = [
    "v1 Namespace",
    "apiextensions.k8s.io/v1 CustomResourceDefinition",
    "storage.k8s.io/v1 StorageClass",
    "v1 ConfigMap",
    "v1 Secret",
    "apps/v1 Deployment",
    "batch/v1 Job",
    "example.com/v1 Widget",
];

fn any_object() -> impl Generator<Value = Value> {
    let hook = prop_oneof![
        6 => Just(""), 1 => Just("PreSync"), 1 => Just("PostSync"), 1 => Just("Skip"), 1 => Just("SyncFail"),
    ];
    (0..KINDS.len(), 0..6_usize, hook, -2..3_i64, any::<bool>()).prop_map(
        |(kind, name, hook, wave, in_wave)| {
            let cluster_wide = kind < 3;
            let place = if cluster_wide { "" } else { "shop/" };
            let mut object = object(&format!("{} {place}o{name}", KINDS[kind]));
            if !hook.is_empty() {
                object.set_at(&["metadata", "annotations", "argocd.argoproj.io/hook"], hook);
            }
            if in_wave {
                object.set_at(
                    &["metadata", "annotations", "argocd.argoproj.io/sync-wave"],
                    wave.to_string(),
                );
            }
            object
        },
    )
}

fn any_desired() -> impl Generator<Value = Desired> {
    let scope = prop_oneof![4 => Just(true), 1 => Just(false)];
    (any_object(), 0..8_u8, scope).prop_map(|(object, state, scope_known)| {
        let mut desired = match state {
            0 => unchanged(object),
            1 => drifted(object),
            2 => immutable(object),
            3 => desired(object).observed(Observed::KindMissing {
                error: "no".to_owned(),
            }),
            4 => desired(object).observed(Observed::NamespaceMissing {
                error: "no".to_owned(),
            }),
            5 => desired(object).observed(Observed::Failed {
                live: None,
                error: "no".to_owned(),
            }),
            _ => desired(object),
        };
        if !scope_known {
            desired.namespaced = None;
        }
        desired
    })
}

fn any_input() -> impl Generator<Value = Input> {
    let desired = proptest::collection::vec(any_desired(), 0..20);
    let previous = proptest::collection::vec((any_object(), 0..4_u8), 0..20);
    (desired, previous, any::<bool>(), any::<bool>()).prop_map(|(desired, previous, prune, force)| {
        let mut input = input(desired);
        let mut seen = HashSet::new();
        for (object, state) in previous {
            if !seen.insert(ObjectKey::of(&object)) {
                continue;
            }
            let found = match state {
                0 => Found::Gone,
                1 => Found::Unknown("no".to_owned()),
                _ => Found::There(Box::new(live(&object))),
            };
            was_found(&mut input, &object, found);
        }
        input.options.prune = prune;
        input.options.force = force;
        input.options.allow_empty = true;
        input
    })
}

fn strategies() -> [Strategy; 4] {
    [flux(), waves(), Strategy::helm(), Strategy::flux_v1("set")]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn what_is_desired_is_never_pruned(input in any_input()) {
        let desired: HashSet<ObjectKey> = input.desired.iter().map(|desired| desired.key("")).collect();
        for strategy in strategies() {
            let Ok((plan, _)) = plan(&input, &strategy) else { continue };
            for step in plan.steps().filter(|step| matches!(step.action, Action::Prune { .. })) {
                prop_assert!(!desired.contains(&step.key), "{}\n{plan}", step.key);
            }
        }
    }

    #[test]
    fn no_object_is_touched_twice_in_a_stage(input in any_input()) {
        for strategy in strategies() {
            let Ok((plan, _)) = plan(&input, &strategy) else { continue };
            for stage in &plan.stages {
                let keys: HashSet<&ObjectKey> = stage.steps.iter().map(|step| &step.key).collect();
                prop_assert_eq!(keys.len(), stage.steps.len(), "\n{}", plan);
            }
        }
    }

    #[test]
    fn every_desired_object_is_in_the_plan_exactly_once_with_its_object_if_it_is_written(input in any_input()) {
        for strategy in strategies() {
            let Ok((plan, objects)) = plan(&input, &strategy) else { continue };
            let mut desired: Vec<ObjectKey> = input.desired.iter().map(|desired| desired.key("")).collect();
            desired.sort();
            desired.dedup();
            let is_about_desired = |step: &&Step| desired.contains(&step.key)
                && !matches!(step.action, Action::DeleteHook { .. });
            let mut planned: Vec<ObjectKey> =
                plan.steps().filter(is_about_desired).map(|step| step.key.clone()).collect();
            planned.sort();
            prop_assert_eq!(&planned, &desired, "\n{}", plan);
            for step in plan.steps() {
                prop_assert_eq!(step.action.applies(), step.action.applies() && step.object.is_some());
                let object = step.object.as_ref().map(|reference: &Reference| objects.get(reference));
                if let Some(object) = object {
                    prop_assert_eq!(ObjectKey::of(object.unwrap()), step.key.clone());
                }
            }
        }
    }

    #[test]
    fn the_inventory_holds_what_is_desired_and_what_could_not_be_told(input in any_input()) {
        for strategy in [flux(), Strategy::helm(), Strategy::flux_v1("set")] {
            let Ok((plan, _)) = plan(&input, &strategy) else { continue };
            let mut keys: HashSet<&ObjectKey> = HashSet::new();
            for entry in &plan.inventory.entries {
                prop_assert!(keys.insert(&entry.id.0), "{} is there twice", entry.id);
            }
            for desired in &input.desired {
                prop_assert!(keys.contains(&desired.key("")));
            }
            for step in plan.steps() {
                match step.action {
                    Action::Prune { .. } | Action::Gone => prop_assert!(!keys.contains(&step.key)),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_plan_does_not_depend_on_the_order_of_what_goes_in(input in any_input(), seed in any::<u64>()) {
        let mut unique = HashSet::new();
        let mut input = input;
        input.desired.retain(|desired| unique.insert(desired.key("")));
        let mut shuffled = input.clone();
        shuffled.desired.sort_by_key(|desired| {
            desired.digest.bytes().iter().fold(seed, |sum, byte| sum.rotate_left(7) ^ u64::from(*byte))
        });
        shuffled.candidates.reverse();
        for strategy in [flux(), waves(), Strategy::flux_v1("set")] {
            let (Ok((first, _)), Ok((second, _))) = (plan(&input, &strategy), plan(&shuffled, &strategy)) else {
                prop_assert!(plan(&input, &strategy).is_err() && plan(&shuffled, &strategy).is_err());
                continue;
            };
            prop_assert_eq!(sketch(&first), sketch(&second));
            prop_assert!(first.difference(&second).is_empty());
        }
    }

    #[test]
    fn a_plan_survives_being_stored(input in any_input()) {
        for strategy in strategies() {
            let Ok((plan, _)) = plan(&input, &strategy) else { continue };
            let text = serde_json::to_string(&plan).unwrap();
            let read: Plan = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read, plan);
        }
    }
}
