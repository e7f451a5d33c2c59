//! Flux's ways: stages, policies, takeover, force, and what is refused.

use std::sync::Arc;

use engine::plan::{
    Action, GroupKind, Health, Live, Observed, Order, Purpose, Refusal, Strategy, Target, plan, stale,
};
use model::inventory::{Entry, Id};
use model::{Inventory, value};

use super::*;

/// AP3
#[test]
fn definitions_come_first_then_classes_then_custom_kinds_then_the_rest() {
    let mut strategy = flux();
    strategy.order = Order::Flux {
        custom: GroupKind::list("cert-manager.io/ClusterIssuer"),
    };
    let input = input(vec![
        missing("apps/v1 Deployment shop/web"),
        missing("cert-manager.io/v1 ClusterIssuer main"),
        missing("storage.k8s.io/v1 StorageClass fast"),
        missing("example.com/v1 WidgetClass shop/big"),
        missing("rbac.authorization.k8s.io/v1 ClusterRole reader"),
        missing("v1 Namespace shop"),
        desired(widget_definition()),
        missing("example.com/v1 Namespace shop/not-a-namespace"),
    ]);
    assert_sketch(
        &planned(&input, &strategy),
        &[
            "definitions: +CustomResourceDefinition/widgets.example.com | +Namespace/shop | +ClusterRole/reader \
             ⏳ CustomResourceDefinition/widgets.example.com, Namespace/shop, ClusterRole/reader",
            "classes: +StorageClass/fast | +WidgetClass/shop/big ⏳ StorageClass/fast, WidgetClass/shop/big",
            "custom kinds: +ClusterIssuer/main",
            "objects: +Namespace/shop/not-a-namespace | +Deployment/shop/web",
        ],
    );
}

#[test]
fn the_waits_between_stages_last_a_minute_and_name_what_they_wait_for() {
    let plan = planned(&input(vec![missing("v1 Namespace shop")]), &flux());
    let wait = plan.stages[0].wait.as_ref().unwrap();
    assert_eq!(wait.seconds, 60);
    assert!(!wait.fail_fast);
    assert_eq!(
        wait.to_string(),
        "wait for definitions to become ready (1 object, at most 60s)"
    );
}

#[test]
fn what_is_missing_is_created_what_differs_is_changed_and_what_is_right_is_left() {
    let input = input(vec![
        missing("v1 ConfigMap shop/new"),
        drifted(object("v1 ConfigMap shop/other")),
        unchanged(object("v1 ConfigMap shop/same")),
    ]);
    let (plan, objects) = plan(&input, &flux()).unwrap();
    assert_sketch(
        &plan,
        &["objects: +ConfigMap/shop/new ~ConfigMap/shop/other =ConfigMap/shop/same"],
    );
    let changed = step(&plan, "ConfigMap/shop/other");
    assert_eq!(changed.fields, [".spec.replicas"]);
    assert!(changed.apply.verified);
    let object = objects.get(&changed.object.unwrap()).unwrap();
    assert!(Arc::ptr_eq(object, &input.desired[1].object));
    assert_eq!(step(&plan, "ConfigMap/shop/same").object, None);
}

/// AP10
#[test]
fn each_action_has_the_word_of_the_change_log() {
    let mut input = input(vec![
        missing("v1 ConfigMap shop/a"),
        drifted(object("v1 ConfigMap shop/b")),
        unchanged(object("v1 ConfigMap shop/c")),
        unchanged(annotated(
            "v1 ConfigMap shop/d",
            "kustomize.toolkit.fluxcd.io/reconcile",
            "disabled",
        )),
    ]);
    was_applied(&mut input, [object("v1 ConfigMap shop/e")]);
    was_found(&mut input, &object("v1 ConfigMap shop/f"), Found::Gone);
    let plan = planned(&input, &flux());
    let log: Vec<String> = plan
        .steps()
        .map(|step| format!("{} {}", step.key, step.action.done()))
        .collect();
    assert_eq!(
        log,
        [
            "ConfigMap/shop/a created",
            "ConfigMap/shop/b configured",
            "ConfigMap/shop/c unchanged",
            "ConfigMap/shop/d skipped",
            "ConfigMap/shop/f deleted",
            "ConfigMap/shop/e deleted",
        ]
    );
}

/// The annotations of flux-core §0.3.
#[test]
fn objects_that_ask_for_it_are_not_applied() {
    let policies = [
        ("reconcile", "disabled"),
        ("reconcile", "Disabled"),
        ("ssa", "Ignore"),
        ("ssa", "ignore"),
    ];
    for (name, value) in policies {
        let key = format!("kustomize.toolkit.fluxcd.io/{name}");
        let marked = annotated("v1 ConfigMap shop/a", &key, value);
        let plain = object("v1 ConfigMap shop/a");
        let by_label = {
            let mut object = plain.clone();
            object.set_at(&["metadata", "labels", &key], value);
            object
        };
        let in_cluster = desired(plain).observed(Observed::Drifted {
            live: live(&marked),
            fields: Vec::new(),
        });
        for desired in [drifted(marked), drifted(by_label), in_cluster] {
            let plan = planned(&input(vec![desired]), &flux());
            assert_sketch(&plan, &["objects: ·ConfigMap/shop/a"]);
            assert!(
                plan.inventory.contains(&super::key("v1 ConfigMap shop/a")),
                "it stays in the inventory"
            );
        }
    }
}

#[test]
fn if_not_present_creates_once_and_is_read_from_the_desired_object_alone() {
    let ssa = "kustomize.toolkit.fluxcd.io/ssa";
    let marked = annotated("v1 ConfigMap shop/a", ssa, "IfNotPresent");
    let plan = planned(&input(vec![desired(marked.clone())]), &flux());
    assert_sketch(&plan, &["objects: +ConfigMap/shop/a"]);
    let plan = planned(&input(vec![drifted(marked.clone())]), &flux());
    assert_sketch(&plan, &["objects: ·ConfigMap/shop/a"]);
    let only_live = desired(object("v1 ConfigMap shop/a")).observed(Observed::Drifted {
        live: live(&marked),
        fields: Vec::new(),
    });
    assert_sketch(
        &planned(&input(vec![only_live]), &flux()),
        &["objects: ~ConfigMap/shop/a"],
    );
}

/// AP6
#[test]
fn fields_that_others_have_set_are_taken_over_before_the_apply_unless_they_are_to_be_merged() {
    let patch = Arc::new(value!([{ "op": "remove", "path": "/metadata/managedFields/0" }]));
    let taken = |object: Value| {
        let live = Live {
            takeover: Some(patch.clone()),
            ..live(&object)
        };
        desired(object).observed(Observed::Unchanged(live))
    };
    let plain = input(vec![taken(object("v1 ConfigMap shop/a"))]);
    let (plan, objects) = plan(&plain, &flux()).unwrap();
    let taken_over = step(&plan, "ConfigMap/shop/a");
    assert_eq!(taken_over.action, Action::Patch);
    assert_eq!(taken_over.reason, "fields that others have set are taken over");
    let sent = objects.get(&taken_over.apply.takeover.unwrap()).unwrap();
    assert_eq!(**sent, *patch);

    let merged = annotated("v1 ConfigMap shop/a", "kustomize.toolkit.fluxcd.io/ssa", "Merge");
    let plan = planned(&input(vec![taken(merged)]), &flux());
    assert_eq!(step(&plan, "ConfigMap/shop/a").action, Action::Unchanged);
}

/// AP7
#[test]
fn what_cannot_be_changed_is_recreated_only_by_force() {
    let job = || object("batch/v1 Job shop/once");
    let refused = refusals(&input(vec![immutable(job())]), &flux());
    let [Refusal::Rejected { immutable: true, .. }] = &refused[..] else {
        panic!("{refused:?}");
    };
    assert_eq!(
        refused[0].to_string(),
        "Job/shop/once dry-run failed (Invalid): field is immutable"
    );

    let recreated = Action::Recreate(Target {
        uid: "uid-of-Job/shop/once".to_owned(),
        resource_version: "7".to_owned(),
    });
    let mut by_unit = input(vec![immutable(job())]);
    by_unit.options.force = true;
    let marked = annotated(
        "batch/v1 Job shop/once",
        "kustomize.toolkit.fluxcd.io/force",
        "enabled",
    );
    let by_object = input(vec![immutable(marked.clone())]);
    let by_cluster = input(vec![desired(job()).observed(Observed::Immutable {
        live: live(&marked),
        error: String::new(),
    })]);
    for input in [by_unit, by_object, by_cluster] {
        let plan = planned(&input, &flux());
        assert_eq!(step(&plan, "Job/shop/once").action, recreated);
        assert_eq!(
            step(&plan, "Job/shop/once").apply.recreate_seconds,
            60,
            "the wait for its end has a deadline"
        );
    }
}

#[test]
fn force_reaches_objects_that_are_dry_run_again_only_if_they_exist() {
    let mut input = input(vec![
        missing("v1 Namespace shop"),
        desired(object("batch/v1 Job shop/old")).observed(Observed::Failed {
            live: Some(live(&object("batch/v1 Job shop/old"))),
            error: "dry-run failed".to_owned(),
        }),
        namespace_missing("batch/v1 Job shop/new"),
    ]);
    input.options.force = true;
    let plan = planned(&input, &flux());
    assert!(step(&plan, "Job/shop/old").apply.recreate);
    assert!(!step(&plan, "Job/shop/new").apply.recreate);
}

#[test]
fn objects_whose_definition_or_namespace_comes_with_them_are_dry_run_when_it_is_there() {
    let input = input(vec![
        desired(widget_definition()),
        missing("v1 Namespace shop"),
        kind_missing("example.com/v1 Widget shop/small"),
        namespace_missing("v1 ConfigMap shop/settings"),
    ]);
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "definitions: +CustomResourceDefinition/widgets.example.com | +Namespace/shop \
             ⏳ CustomResourceDefinition/widgets.example.com, Namespace/shop",
            "objects: +ConfigMap/shop/settings | +Widget/shop/small",
        ],
    );
    assert!(step(&plan, "Namespace/shop").apply.verified);
    assert!(!step(&plan, "Widget/shop/small").apply.verified);
    assert!(!step(&plan, "ConfigMap/shop/settings").apply.verified);
}

#[test]
fn objects_whose_definition_changes_are_dry_run_again_by_the_new_one() {
    let widgets = || {
        vec![
            drifted(object("example.com/v1 Widget shop/old")),
            missing("example.com/v1 Widget shop/new"),
            missing("v1 ConfigMap shop/other"),
        ]
    };
    let verified = |definition: Desired| -> Vec<bool> {
        let mut desired = widgets();
        desired.push(definition);
        let plan = planned(&input(desired), &flux());
        let names = ["Widget/shop/old", "Widget/shop/new", "ConfigMap/shop/other"];
        names.map(|name| step(&plan, name).apply.verified).to_vec()
    };
    assert_eq!(verified(drifted(widget_definition())), [false, false, true]);
    assert_eq!(verified(unchanged(widget_definition())), [true, true, true]);
}

/// AP2, AP11: the dry run of a stage comes before its first write, and after the stages before.
#[test]
fn a_refused_object_refuses_the_plan_if_nothing_is_written_before_it() {
    let unchanged_namespace = unchanged(object("v1 Namespace shop"));
    let input = input(vec![
        unchanged_namespace,
        refused("v1 ConfigMap shop/a"),
        missing("v1 ConfigMap shop/b"),
        kind_missing("example.com/v1 Widget shop/c"),
    ]);
    let messages: Vec<String> = refusals(&input, &flux())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        messages,
        [
            "ConfigMap/shop/a dry-run failed (Forbidden): no",
            "Widget/shop/c dry-run failed: no matches for kind",
        ],
        "all that is wrong is told, not only the first"
    );
}

#[test]
fn a_refused_object_is_tried_again_after_a_stage_that_writes() {
    let input = input(vec![
        missing("v1 Namespace shop"),
        refused("v1 ConfigMap shop/a"),
        kind_missing("example.com/v1 Widget shop/b"),
    ]);
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "definitions: +Namespace/shop ⏳ Namespace/shop",
            "objects: +ConfigMap/shop/a | +Widget/shop/b",
        ],
    );
    assert!(plan.stages[1].steps.iter().all(|step| !step.apply.verified));
}

#[test]
fn annotations_of_argo_cd_mean_nothing_to_flux() {
    let mut hook = annotated("batch/v1 Job shop/migrate", "argocd.argoproj.io/hook", "PreSync");
    hook.set_at(&["metadata", "annotations", "argocd.argoproj.io/sync-wave"], "-5");
    let helm = annotated("batch/v1 Job shop/test", "helm.sh/hook", "test");
    let skip = annotated("v1 ConfigMap shop/skip", "argocd.argoproj.io/hook", "Skip");
    let replace = annotated(
        "v1 ConfigMap shop/r",
        "argocd.argoproj.io/sync-options",
        "Replace=true",
    );
    let input = input(vec![
        desired(hook),
        desired(helm),
        desired(skip),
        drifted(replace),
    ]);
    assert_sketch(
        &planned(&input, &flux()),
        &["objects: ~ConfigMap/shop/r +ConfigMap/shop/skip | +Job/shop/migrate +Job/shop/test"],
    );
}

/// I2
#[test]
fn the_inventory_has_everything_in_the_order_it_is_applied() {
    let input = input(vec![
        missing("apps/v1 Deployment shop/web"),
        missing("v1 Namespace shop"),
        drifted(annotated(
            "v1 Secret shop/s",
            "kustomize.toolkit.fluxcd.io/ssa",
            "Ignore",
        )),
    ]);
    let plan = planned(&input, &flux());
    let entries: Vec<String> = plan
        .inventory
        .entries
        .iter()
        .map(|entry| format!("{} {}", entry.id, entry.version))
        .collect();
    assert_eq!(
        entries,
        [
            "_shop__Namespace v1",
            "shop_s__Secret v1",
            "shop_web_apps_Deployment v1"
        ]
    );
}

/// HL3, HL6
#[test]
fn the_wait_for_health_is_for_all_that_was_applied_but_what_is_skipped_and_the_unit_itself() {
    let itself = "kustomize.toolkit.fluxcd.io/v1 Kustomization shop/apps";
    let mut job = object("batch/v1 Job shop/once");
    job.set_at(&["spec", "ttlSecondsAfterFinished"], 60);
    let mut input = input(vec![
        missing("apps/v1 Deployment shop/web"),
        unchanged(object("v1 Service shop/web")),
        desired(job),
        drifted(annotated(
            "v1 Secret shop/s",
            "kustomize.toolkit.fluxcd.io/ssa",
            "Ignore",
        )),
        missing(itself),
    ]);
    was_applied(&mut input, [object("v1 ConfigMap shop/old")]);
    input.options.wait = Some(Health {
        except: Some(key(itself)),
        seconds: 300,
        fail_fast: true,
        objects: None,
    });
    let plan = planned(&input, &flux());
    let last = plan.stages.last().unwrap();
    assert_eq!(last.purpose, Purpose::Health);
    let wait = last.wait.as_ref().unwrap();
    let objects: Vec<String> = wait.objects.iter().map(|object| object.key.to_string()).collect();
    assert_eq!(
        objects,
        ["Deployment/shop/web", "Service/shop/web", "Job/shop/once"]
    );
    let vanishing: Vec<bool> = wait.objects.iter().map(|object| object.may_vanish).collect();
    assert_eq!(vanishing, [false, false, true]);
    assert!(wait.fail_fast);
    assert_eq!(
        plan.stages[plan.stages.len() - 2].purpose,
        Purpose::Prune,
        "pruning comes before"
    );
}

#[test]
fn the_wait_for_health_can_be_for_chosen_objects() {
    let mut input = input(vec![
        missing("apps/v1 Deployment shop/web"),
        missing("v1 Service shop/web"),
    ]);
    input.options.wait = Some(Health {
        objects: Some(vec![
            key("apps/v1 Deployment elsewhere/db"),
            key("v1 Service shop/web"),
        ]),
        ..Health::default()
    });
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "objects: +Service/shop/web | +Deployment/shop/web",
            "health: ⏳ Deployment/elsewhere/db, Service/shop/web",
        ],
    );
}

#[test]
fn a_namespace_that_is_written_on_an_object_of_the_whole_cluster_makes_no_other_object_of_it() {
    let mut written = object("rbac.authorization.k8s.io/v1 ClusterRole reader");
    let live = live(&written);
    written.set_at(&["metadata", "namespace"], "shop");
    let found = Desired::of(Arc::new(written.clone())).observed(Observed::Unchanged(live));
    let not_found = Desired::of(Arc::new(written)).observed(Observed::KindMissing { error: String::new() });
    let previous = Inventory {
        entries: vec![Entry {
            id: Id(key("rbac.authorization.k8s.io/v1 ClusterRole reader")),
            version: "v1".to_owned(),
        }],
    };
    for desired in [&found, &not_found] {
        assert!(stale(&previous, std::slice::from_ref(desired), "").is_empty());
    }
    let plan = planned(&input(vec![found]), &flux());
    assert_eq!(
        plan.inventory, previous,
        "the inventory names it as the cluster does"
    );
}

#[test]
fn an_object_that_another_unit_has_is_taken_over_with_a_note() {
    let mut theirs = live(&object("v1 ConfigMap shop/a"));
    theirs
        .labels
        .insert("kustomize.toolkit.fluxcd.io/name".to_owned(), "other".to_owned());
    let input = input(vec![missing("v1 ConfigMap shop/a").observed(Observed::Drifted {
        live: theirs,
        fields: Vec::new(),
    })]);
    let plan = planned(&input, &Strategy::flux("apps", "shop"));
    assert_sketch(&plan, &["objects: ~ConfigMap/shop/a"]);
    assert_eq!(
        plan.notes[0].text,
        "is taken over from kustomize.toolkit.fluxcd.io/name=other"
    );
}

#[test]
fn of_several_objects_with_one_key_the_last_counts() {
    let mut second = object("v1 ConfigMap shop/a");
    second.set_at(&["data", "x"], "2");
    let input = input(vec![missing("v1 ConfigMap shop/a"), desired(second)]);
    let plan = planned(&input, &flux());
    assert_sketch(&plan, &["objects: +ConfigMap/shop/a"]);
    assert_eq!(step(&plan, "ConfigMap/shop/a").object.unwrap().index, 1);
    assert_eq!(plan.notes[0].text, "is there several times; the last one counts");
}
