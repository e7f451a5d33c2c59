//! Helm's, Flux v1's and Argo CD's ways: the same engine with other values (engine §1.9).

use engine::plan::{Action, OnFailure, Propagation, flux_v1_mark, tracking_id};

use super::*;

#[test]
fn helm_applies_by_kind_and_keeps_the_order_of_the_chart() {
    let mut input = input(vec![
        missing("apps/v1 Deployment shop/z"),
        missing("apps/v1 Deployment shop/a"),
        missing("v1 ConfigMap shop/c"),
        missing("example.com/v1 Widget shop/w"),
        missing("v1 Namespace shop"),
    ]);
    was_applied(
        &mut input,
        [
            object("v1 ConfigMap shop/old"),
            object("v1 Service shop/old"),
            annotated("v1 Secret shop/kept", "helm.sh/resource-policy", "keep"),
        ],
    );
    assert_sketch(
        &planned(&input, &Strategy::helm()),
        &[
            "objects: +Namespace/shop | +ConfigMap/shop/c | +Deployment/shop/z +Deployment/shop/a | +Widget/shop/w",
            "prune: -Service/shop/old | -ConfigMap/shop/old | ·Secret/shop/kept",
        ],
    );
}

#[test]
fn flux_v1_applies_by_rank_and_each_object_stands_for_itself() {
    let ignored = annotated("v1 ConfigMap shop/ignored", "flux.weave.works/ignore", "true");
    let not_quite = annotated("v1 ConfigMap shop/not-quite", "fluxcd.io/ignore", "True");
    let input = input(vec![
        missing("apps/v1 Deployment shop/web"),
        refused("v1 ConfigMap shop/bad"),
        desired(ignored),
        desired(not_quite),
        missing("v1 Service shop/web"),
        missing("v1 Namespace shop"),
    ]);
    let plan = planned(&input, &Strategy::flux_v1("set"));
    assert_sketch(
        &plan,
        &[
            "objects: +Namespace/shop | +Service/shop/web | !ConfigMap/shop/bad ·ConfigMap/shop/ignored \
           +ConfigMap/shop/not-quite | +Deployment/shop/web",
        ],
    );
    assert_eq!(plan.stages[0].on_failure, OnFailure::GoOn);
    let Action::Fail { error } = &step(&plan, "ConfigMap/shop/bad").action else {
        panic!("{plan}");
    };
    assert_eq!(error, "dry-run failed (Forbidden): no");
}

/// The marks were computed by hand: `printf 'set<cluster>:namespace/shop' | sha256sum`, in base64 for URLs.
#[test]
fn flux_v1_knows_its_objects_by_a_mark_of_set_and_object() {
    let in_cluster = key("v1 Namespace shop");
    let in_namespace = key("apps/v1 Deployment shop/web");
    assert_eq!(
        flux_v1_mark("set", &in_cluster),
        "sha256.E9bvbrOECcS1Yaxx8m2mrXt4TgCeO6eN7oOgy-4h4IE"
    );
    assert_eq!(
        flux_v1_mark("set", &in_namespace),
        "sha256.8iyk8lfjuQNDdwQAfnKf_z3o8kSUUx1NQ9gGFSZHyB4"
    );

    let strategy = Strategy::flux_v1("set");
    let marked = |text: &str, mark: String| {
        let mut object = object(text);
        object.set_at(&["metadata", "labels", "fluxcd.io/sync-gc-mark"], mark);
        object
    };
    let ours = marked(
        "v1 ConfigMap shop/ours",
        flux_v1_mark("set", &key("v1 ConfigMap shop/ours")),
    );
    let copied = marked(
        "v1 ConfigMap shop/copied",
        flux_v1_mark("set", &key("v1 ConfigMap shop/ours")),
    );
    let other = marked(
        "v1 ConfigMap shop/other",
        flux_v1_mark("b", &key("v1 ConfigMap shop/other")),
    );
    let mut owned = marked(
        "v1 ConfigMap shop/owned",
        flux_v1_mark("set", &key("v1 ConfigMap shop/owned")),
    );
    owned.set_at(&["metadata", "ownerReferences"], value!([{ "kind": "Thing" }]));
    let mut input = input(vec![missing("v1 ConfigMap shop/new")]);
    was_applied(&mut input, [ours, copied, other, owned]);
    assert_sketch(
        &planned(&input, &strategy),
        &[
            "objects: +ConfigMap/shop/new",
            "prune: ·ConfigMap/shop/owned -ConfigMap/shop/ours ·ConfigMap/shop/other ·ConfigMap/shop/copied",
        ],
    );
}

#[test]
fn argo_cd_knows_its_objects_by_a_tracking_id_that_copies_do_not_fool() {
    let tracking = "argocd.argoproj.io/tracking-id";
    assert_eq!(
        tracking_id("app", &key("apps/v1 Deployment shop/web")),
        "app:apps/Deployment:shop/web"
    );
    let ours = annotated("v1 ConfigMap shop/ours", tracking, "app:/ConfigMap:shop/ours");
    let copy = annotated("v1 ConfigMap shop/copy", tracking, "app:/ConfigMap:shop/ours");
    let mut owned = annotated("v1 ConfigMap shop/owned", tracking, "app:/ConfigMap:shop/owned");
    owned.set_at(&["metadata", "ownerReferences"], value!([{ "kind": "Thing" }]));
    let mut input = input(vec![missing("v1 ConfigMap shop/new")]);
    was_applied(&mut input, [ours, copy, owned]);
    input.options.propagation = Propagation::Foreground;
    let plan = planned(&input, &Strategy::argo("app"));
    assert_sketch(
        &plan,
        &[
            "Sync wave 0: ·ConfigMap/shop/owned -ConfigMap/shop/ours ·ConfigMap/shop/copy | +ConfigMap/shop/new",
        ],
    );
    assert!(matches!(
        step(&plan, "ConfigMap/shop/ours").action,
        Action::Prune {
            propagation: Propagation::Foreground,
            ..
        }
    ));
}

#[test]
fn other_orders_than_fluxs_get_a_stage_for_definitions_when_it_is_needed() {
    let input = input(vec![
        missing("v1 Secret shop/s"),
        desired(widget_definition()),
        kind_missing("example.com/v1 Widget shop/w"),
    ]);
    for strategy in [Strategy::helm(), Strategy::flux_v1("set")] {
        assert_sketch(
            &planned(&input, &strategy),
            &[
                "objects: definitions: +CustomResourceDefinition/widgets.example.com \
                 ⏳ CustomResourceDefinition/widgets.example.com",
                "objects: +Secret/shop/s | +Widget/shop/w",
            ],
        );
    }
}

#[test]
fn what_a_unit_has_marked_as_its_own_is_its_own() {
    let strategies = [
        flux(),
        Strategy::flux_v1("set"),
        Strategy::argo("app"),
        Strategy::helm(),
    ];
    for strategy in strategies {
        for text in ["v1 ConfigMap shop/a", "v1 Namespace shop"] {
            let mut object = object(text);
            strategy.ownership.mark(&mut object);
            assert_eq!(strategy.keeps(&Live::of(&object)), None, "{strategy:?}");
        }
    }
    let mut object = object("v1 ConfigMap shop/a");
    flux().ownership.mark(&mut object);
    assert!(Strategy::argo("app").keeps(&Live::of(&object)).is_some());
    assert!(
        Strategy::flux("other", "shop")
            .keeps(&Live::of(&object))
            .is_some()
    );
}

#[test]
fn objects_that_are_left_alone_need_not_be_compared() {
    let ssa = "kustomize.toolkit.fluxcd.io/ssa";
    let markers = flux().markers;
    for (value, left) in [
        ("Ignore", true),
        ("IfNotPresent", true),
        ("Merge", false),
        ("Override", false),
    ] {
        assert_eq!(
            markers.leave_alone(&annotated("v1 ConfigMap shop/a", ssa, value)),
            left,
            "{value}"
        );
    }
}
