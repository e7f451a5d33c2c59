//! Waves, dependencies that are pulled forward, and selective syncs.

use std::collections::BTreeSet;

use engine::plan::{CreateNamespace, Health, PruneOption};

use super::*;

const WAVE: &str = "argocd.argoproj.io/sync-wave";

fn in_wave(text: &str, wave: &str) -> Value {
    annotated(text, WAVE, wave)
}

#[test]
fn each_wave_waits_until_the_one_before_is_healthy_and_the_last_one_does_not_wait() {
    let input = input(vec![
        desired(in_wave("apps/v1 Deployment shop/late", "2")),
        missing("apps/v1 Deployment shop/web"),
        missing("v1 Service shop/web"),
        desired(in_wave("apps/v1 Deployment shop/early", "-1")),
    ]);
    let plan = planned(&input, &waves());
    assert_sketch(
        &plan,
        &[
            "Sync wave -1: +Deployment/shop/early ⏳ Deployment/shop/early",
            "Sync wave 0: +Service/shop/web | +Deployment/shop/web ⏳ Service/shop/web, Deployment/shop/web",
            "Sync wave 2: +Deployment/shop/late",
        ],
    );
    assert!(plan.stages[0].wait.as_ref().unwrap().fail_fast);
}

/// Argo CD calls a sync successful whose last wave never becomes healthy.
#[test]
fn a_unit_that_asks_for_health_waits_for_the_last_wave_too() {
    let mut input = input(vec![
        missing("v1 ConfigMap shop/a"),
        desired(in_wave("apps/v1 Deployment shop/late", "2")),
    ]);
    input.options.wait = Some(Health {
        seconds: 60,
        ..Health::default()
    });
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "Sync wave 0: +ConfigMap/shop/a ⏳ ConfigMap/shop/a",
            "Sync wave 2: +Deployment/shop/late",
            "health: ⏳ ConfigMap/shop/a, Deployment/shop/late",
        ],
    );
}

#[test]
fn a_wave_is_a_number_or_the_weight_of_a_helm_hook_or_zero() {
    let mut both = annotated("v1 ConfigMap shop/both", "helm.sh/hook-weight", "9");
    both.set_at(&["metadata", "annotations", WAVE], "3");
    let mut fallen_back = annotated("v1 ConfigMap shop/fallen-back", "helm.sh/hook-weight", "9");
    fallen_back.set_at(&["metadata", "annotations", WAVE], "third");
    let input = input(vec![
        desired(both),
        desired(fallen_back),
        desired(in_wave("v1 ConfigMap shop/plus", "+4")),
        desired(in_wave("v1 ConfigMap shop/text", "first")),
        desired(in_wave("v1 ConfigMap shop/float", "1.5")),
    ]);
    let plan = planned(&input, &waves());
    let stages: Vec<&str> = plan.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(
        stages,
        ["Sync wave 0", "Sync wave 3", "Sync wave 4", "Sync wave 9"]
    );
    assert_eq!(plan.stages[0].steps.len(), 2);
}

#[test]
fn nobody_waits_for_what_does_not_change_if_only_changes_are_synced() {
    let mut input = input(vec![
        unchanged(object("v1 ConfigMap shop/same")),
        drifted(object("v1 ConfigMap shop/other")),
        desired(in_wave("v1 ConfigMap shop/late", "1")),
    ]);
    input.options.argo.out_of_sync_only = true;
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "Sync wave 0: ~ConfigMap/shop/other =ConfigMap/shop/same ⏳ ConfigMap/shop/other",
            "Sync wave 1: +ConfigMap/shop/late",
        ],
    );
}

#[test]
fn what_is_pruned_goes_in_the_mirrored_order_of_waves_and_before_what_is_applied() {
    let mut input = input(vec![missing("v1 ConfigMap shop/new")]);
    was_applied(
        &mut input,
        [
            in_wave("v1 ConfigMap shop/first", "1"),
            in_wave("v1 ConfigMap shop/second", "2"),
            in_wave("v1 ConfigMap shop/third", "7"),
            object("v1 Secret shop/zeroth"),
        ],
    );
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "Sync wave 0: -ConfigMap/shop/third | +ConfigMap/shop/new \
             ⏳ ConfigMap/shop/third Gone, ConfigMap/shop/new",
            "Sync wave 1: -ConfigMap/shop/second ⏳ ConfigMap/shop/second Gone",
            "Sync wave 2: -ConfigMap/shop/first ⏳ ConfigMap/shop/first Gone",
            "Sync wave 7: -Secret/shop/zeroth",
        ],
    );
}

#[test]
fn what_is_to_be_pruned_last_is_pruned_after_the_last_wave() {
    let options = "argocd.argoproj.io/sync-options";
    let last = annotated("v1 ConfigMap shop/last", options, "PruneLast=true");
    let mut by_object = input(vec![desired(in_wave("v1 ConfigMap shop/new", "3"))]);
    was_applied(&mut by_object, [last, object("v1 ConfigMap shop/old")]);
    assert_sketch(
        &planned(&by_object, &waves()),
        &[
            "Sync wave 0: -ConfigMap/shop/old ⏳ ConfigMap/shop/old Gone",
            "Sync wave 3: +ConfigMap/shop/new ⏳ ConfigMap/shop/new",
            "Sync wave 4: -ConfigMap/shop/last",
        ],
    );
    let mut by_unit = input(vec![desired(in_wave("v1 ConfigMap shop/new", "-3"))]);
    was_applied(&mut by_unit, [object("v1 ConfigMap shop/old")]);
    by_unit.options.argo.prune_last = true;
    assert_sketch(
        &planned(&by_unit, &waves()),
        &[
            "Sync wave -3: +ConfigMap/shop/new ⏳ ConfigMap/shop/new",
            "Sync wave 1: -ConfigMap/shop/old",
        ],
    );
}

#[test]
fn what_is_being_deleted_already_is_waited_for_before_the_next_wave() {
    let mut leaving = live(&object("v1 ConfigMap shop/leaving"));
    leaving.deleting = true;
    let mut input = input(vec![desired(in_wave("v1 ConfigMap shop/new", "1"))]);
    was_found(
        &mut input,
        &object("v1 ConfigMap shop/leaving"),
        Found::There(Box::new(leaving)),
    );
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "Sync wave 0: ·ConfigMap/shop/leaving ⏳ ConfigMap/shop/leaving Gone",
            "Sync wave 1: +ConfigMap/shop/new",
        ],
    );
}

#[test]
fn a_namespace_and_a_definition_are_pulled_into_the_wave_that_needs_them() {
    let mut definition = widget_definition();
    definition.set_at(&["metadata", "annotations", WAVE], "5");
    let input = input(vec![
        desired(in_wave("v1 Namespace shop", "4")),
        desired(definition),
        desired(in_wave("v1 ConfigMap shop/a", "-2")),
        desired(in_wave("example.com/v1 Widget shop/b", "1")),
        missing("v1 ConfigMap other/c"),
    ]);
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "Sync wave -2: +Namespace/shop | +ConfigMap/shop/a ⏳ Namespace/shop, ConfigMap/shop/a",
            "Sync wave 0: +ConfigMap/other/c ⏳ ConfigMap/other/c",
            "Sync wave 1: +CustomResourceDefinition/widgets.example.com | +Widget/shop/b",
        ],
    );
}

#[test]
fn a_hook_pulls_its_namespace_into_its_phase() {
    let hook = annotated("batch/v1 Job shop/migrate", "argocd.argoproj.io/hook", "PreSync");
    let input = input(vec![missing("v1 Namespace shop"), desired(hook)]);
    assert_sketch(
        &planned(&input, &waves()),
        &["PreSync wave 0: +Namespace/shop | +Job/shop/migrate ⏳ Job/shop/migrate Completed"],
    );
}

#[test]
fn definitions_that_others_of_their_wave_cannot_be_dry_run_without_are_a_stage_of_their_own() {
    let input = input(vec![
        missing("v1 Secret shop/a"),
        missing("v1 Namespace shop"),
        desired(widget_definition()),
        kind_missing("example.com/v1 Widget shop/b"),
    ]);
    let plan = planned(&input, &waves());
    assert_sketch(
        &plan,
        &[
            "Sync wave 0: definitions: +Namespace/shop | +CustomResourceDefinition/widgets.example.com \
             ⏳ Namespace/shop, CustomResourceDefinition/widgets.example.com",
            "Sync wave 0: +Secret/shop/a | +Widget/shop/b",
        ],
    );
    assert!(!step(&plan, "Widget/shop/b").apply.verified);
}

#[test]
fn the_units_namespace_is_created_before_everything_if_it_asks_for_that_and_brings_none() {
    let mut asks = input(vec![missing("v1 ConfigMap shop/a")]);
    asks.options.namespace = "shop".to_owned();
    asks.options.argo.create_namespace = Some(CreateNamespace {
        labels: [("team".to_owned(), "shop".to_owned())].into(),
        ..CreateNamespace::default()
    });
    let plan = planned(&asks, &waves());
    assert_sketch(
        &plan,
        &[
            "PreSync wave 0: +Namespace/shop ⏳ Namespace/shop",
            "Sync wave 0: +ConfigMap/shop/a",
        ],
    );
    assert!(
        !plan.inventory.contains(&key("v1 Namespace shop")),
        "it is never pruned"
    );
    let prepared = engine::plan::prepare(asks.desired.clone(), &waves(), &asks.options, "");
    assert_eq!(prepared[1].object.str_at(&["metadata", "labels", "team"]), "shop");

    let mut brings = asks.clone();
    brings.desired.push(missing("v1 Namespace shop"));
    assert_sketch(
        &planned(&brings, &waves()),
        &["Sync wave 0: +Namespace/shop | +ConfigMap/shop/a"],
    );

    // A Namespace that is a hook counts as brought; Argo CD does not see it.
    let mut as_hook = asks.clone();
    as_hook.desired.push(desired(annotated(
        "v1 Namespace shop",
        "argocd.argoproj.io/hook",
        "Sync",
    )));
    assert_eq!(planned(&as_hook, &waves()).counts().create, 1);

    assert_sketch(&planned(&asks, &flux()), &["objects: +ConfigMap/shop/a"]);
}

#[test]
fn objects_without_a_namespace_get_the_units_and_objects_of_the_cluster_lose_theirs() {
    let mut strayed = object("rbac.authorization.k8s.io/v1 ClusterRole reader");
    strayed.set_at(&["metadata", "namespace"], "shop");
    let mut input = input(vec![
        missing("v1 ConfigMap a").namespaced(true),
        desired(strayed).namespaced(false),
    ]);
    input.options.namespace = "shop".to_owned();
    let prepared = engine::plan::prepare(input.desired.clone(), &flux(), &input.options, "");
    assert_eq!(prepared[0].object.str_at(&["metadata", "namespace"]), "shop");
    assert_eq!(prepared[1].object.at(&["metadata", "namespace"]), None);
    assert_ne!(prepared[0].digest, input.desired[0].digest);
    assert_sketch(
        &planned(&input, &flux()),
        &[
            "definitions: +ClusterRole/reader ⏳ ClusterRole/reader",
            "objects: +ConfigMap/shop/a",
        ],
    );
}

#[test]
fn only_selected_objects_are_touched_and_all_others_stay_as_they_are() {
    let hook = annotated("batch/v1 Job shop/migrate", "argocd.argoproj.io/hook", "PreSync");
    let mut input = input(vec![
        drifted(object("v1 ConfigMap shop/chosen")),
        drifted(object("v1 ConfigMap shop/known")),
        missing("v1 ConfigMap shop/unknown"),
        desired(hook),
    ]);
    was_applied(
        &mut input,
        [
            object("v1 ConfigMap shop/known"),
            object("v1 ConfigMap shop/stale"),
            object("v1 ConfigMap shop/stale-chosen"),
        ],
    );
    input.options.only = Some(BTreeSet::from([
        key("v1 ConfigMap shop/chosen"),
        key("v1 ConfigMap shop/stale-chosen"),
    ]));
    let plan = planned(&input, &waves());
    assert_sketch(
        &plan,
        &[
            "Sync wave 0: -ConfigMap/shop/stale-chosen | ~ConfigMap/shop/chosen ·ConfigMap/shop/known \
           ·ConfigMap/shop/unknown | ·Job/shop/migrate",
        ],
    );
    let ids: Vec<String> = plan
        .inventory
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(
        ids,
        [
            "shop_chosen__ConfigMap",
            "shop_known__ConfigMap",
            "shop_stale__ConfigMap"
        ]
    );
}

#[test]
fn pruning_that_must_be_confirmed_holds_its_wave_until_somebody_approves() {
    let confirm = annotated(
        "v1 ConfigMap shop/old",
        "argocd.argoproj.io/sync-options",
        "Prune=confirm",
    );
    let mut waiting = input(vec![missing("v1 ConfigMap shop/new")]);
    was_applied(&mut waiting, [confirm, object("v1 ConfigMap shop/other")]);
    waiting.options.started = Some("2026-01-01T10:00:00Z".parse().unwrap());
    let plan = planned(&waiting, &waves());
    let gate = plan.stages[0].gate.as_ref().unwrap();
    assert_eq!(gate.objects, [key("v1 ConfigMap shop/old")]);
    assert!(
        plan.to_string()
            .contains("held: pruning must be confirmed: ConfigMap/shop/old")
    );

    for (approved, held) in [("09:59:59", true), ("10:00:00", false), ("11:00:00", false)] {
        let mut input = waiting.clone();
        input.options.argo.approved = Some(format!("2026-01-01T{approved}Z").parse().unwrap());
        assert_eq!(
            planned(&input, &waves()).stages[0].gate.is_some(),
            held,
            "{approved}"
        );
    }

    let mut by_unit = input(vec![missing("v1 ConfigMap shop/new")]);
    let free = annotated(
        "v1 ConfigMap shop/free",
        "argocd.argoproj.io/sync-options",
        "Prune=true",
    );
    was_applied(&mut by_unit, [free, object("v1 ConfigMap shop/other")]);
    by_unit.options.argo.prune = PruneOption::Confirm;
    let gate = planned(&by_unit, &waves()).stages[0].gate.clone().unwrap();
    assert_eq!(
        gate.objects,
        [key("v1 ConfigMap shop/other")],
        "the object's word overrides the unit's"
    );
}

/// §1.7: a Namespace that is a hook is not seen, and another one is created beside it.
#[test]
fn a_namespace_that_is_a_hook_is_seen_where_the_units_is_to_be_created() {
    let mut input = input(vec![
        desired(annotated(
            "v1 Namespace shop",
            "argocd.argoproj.io/hook",
            "PreSync",
        )),
        missing("v1 ConfigMap shop/a"),
    ]);
    input.options.namespace = "shop".to_owned();
    input.options.argo.create_namespace = Some(CreateNamespace::default());
    let plan = planned(&input, &waves());
    let namespaces = plan.steps().filter(|step| step.key.kind == "Namespace");
    assert_eq!(namespaces.count(), 1, "{plan}");
}
