//! What is no longer desired, and whether it is deleted.

use engine::plan::{Action, OnFailure, Propagation, Purpose, Target};

use super::*;

/// I3
#[test]
fn what_was_applied_and_is_not_desired_any_more_is_pruned_in_reverse_order() {
    let mut input = input(vec![unchanged(object("v1 ConfigMap shop/kept"))]);
    was_applied(
        &mut input,
        [
            object("v1 Namespace shop"),
            object("v1 ConfigMap shop/kept"),
            object("v1 Service shop/web"),
            object("apps/v1 Deployment shop/web"),
            object("apps/v1 Deployment shop/api"),
        ],
    );
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "objects: =ConfigMap/shop/kept",
            "prune: -Deployment/shop/web -Deployment/shop/api | -Service/shop/web | -Namespace/shop",
        ],
    );
    let pruned = &plan.stages[1];
    assert_eq!(
        (pruned.purpose, pruned.on_failure),
        (Purpose::Prune, OnFailure::FinishStage)
    );
    assert_eq!(
        pruned.steps[0].action,
        Action::Prune {
            propagation: Propagation::Background,
            target: Target {
                uid: "uid-of-Deployment/shop/web".to_owned(),
                resource_version: "7".to_owned(),
            },
        }
    );
    assert_eq!(plan.inventory.entries.len(), 1);
}

/// I3
#[test]
fn what_another_owner_took_over_is_not_pruned() {
    let mut other = object("v1 ConfigMap shop/a");
    other.set_at(
        &["metadata", "labels", "kustomize.toolkit.fluxcd.io/name"],
        "other",
    );
    let mut nobodys = live(&object("v1 ConfigMap shop/b"));
    nobodys.labels.clear();
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_applied(&mut input, [other]);
    was_found(
        &mut input,
        &object("v1 ConfigMap shop/b"),
        Found::There(Box::new(nobodys)),
    );
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "objects: +ConfigMap/shop/x",
            "prune: ·ConfigMap/shop/b ·ConfigMap/shop/a",
        ],
    );
    assert_eq!(
        step(&plan, "ConfigMap/shop/a").reason,
        "it belongs to another owner: kustomize.toolkit.fluxcd.io/name is other"
    );
    assert_eq!(
        step(&plan, "ConfigMap/shop/b").reason,
        "it does not have kustomize.toolkit.fluxcd.io/name any more"
    );
}

/// The annotations of flux-core §0.3.
#[test]
fn what_asks_to_be_kept_in_the_cluster_is_not_pruned() {
    for (name, value) in [
        ("prune", "disabled"),
        ("prune", "DISABLED"),
        ("reconcile", "disabled"),
        ("ssa", "Ignore"),
    ] {
        let key = format!("kustomize.toolkit.fluxcd.io/{name}");
        let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
        was_applied(&mut input, [annotated("v1 ConfigMap shop/a", &key, value)]);
        let plan = planned(&input, &flux());
        assert_sketch(&plan, &["objects: +ConfigMap/shop/x", "prune: ·ConfigMap/shop/a"]);
        assert_eq!(
            plan.inventory.entries.len(),
            1,
            "it is settled and leaves the inventory"
        );
    }
}

#[test]
fn nothing_is_pruned_if_pruning_is_off() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_applied(&mut input, [object("v1 ConfigMap shop/a")]);
    input.options.prune = false;
    let plan = planned(&input, &flux());
    assert_sketch(&plan, &["objects: +ConfigMap/shop/x"]);
    assert_eq!(
        plan.notes[0].text,
        "is no longer desired, and stays because pruning is off"
    );
    assert_eq!(plan.inventory.entries.len(), 1);
}

/// I4
#[test]
fn what_could_not_be_looked_at_fails_the_pruning_and_stays_in_the_inventory() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    let lost = object("v1 ConfigMap shop/lost");
    was_found(
        &mut input,
        &lost,
        Found::Unknown("query failed: forbidden".to_owned()),
    );
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &["objects: +ConfigMap/shop/x", "prune: !ConfigMap/shop/lost"],
    );
    assert!(plan.inventory.contains(&key("v1 ConfigMap shop/lost")));
    assert!(!step(&plan, "ConfigMap/shop/lost").action.writes());
}

#[test]
fn what_nobody_looked_at_stays_in_the_inventory() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_applied(&mut input, [object("v1 ConfigMap shop/a")]);
    input.candidates.clear();
    let plan = planned(&input, &flux());
    assert_sketch(&plan, &["objects: +ConfigMap/shop/x"]);
    assert!(plan.inventory.contains(&key("v1 ConfigMap shop/a")));
}

/// I4
#[test]
fn what_could_not_be_deleted_stays_in_the_inventory() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_applied(
        &mut input,
        [object("v1 ConfigMap shop/a"), object("v1 ConfigMap shop/b")],
    );
    let plan = planned(&input, &flux());
    let after = plan.inventory_with([key("v1 ConfigMap shop/b")]);
    let ids: Vec<String> = after
        .entries
        .iter()
        .map(|entry| format!("{} {}", entry.id, entry.version))
        .collect();
    assert_eq!(ids, ["shop_x__ConfigMap v1", "shop_b__ConfigMap v1"]);
}

#[test]
fn what_is_gone_or_going_is_not_deleted_once_more() {
    let mut leaving = live(&object("v1 ConfigMap shop/leaving"));
    leaving.deleting = true;
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_found(&mut input, &object("v1 ConfigMap shop/gone"), Found::Gone);
    was_found(
        &mut input,
        &object("v1 ConfigMap shop/leaving"),
        Found::There(Box::new(leaving)),
    );
    let plan = planned(&input, &flux());
    assert_sketch(
        &plan,
        &[
            "objects: +ConfigMap/shop/x",
            "prune: ·ConfigMap/shop/leaving =ConfigMap/shop/gone",
        ],
    );
    assert!(!plan.stages[1].writes());
}

#[test]
fn an_object_that_moved_to_another_group_is_not_pruned_under_the_old_one() {
    let new = object("networking.k8s.io/v1 Ingress shop/web");
    let old = object("extensions/v1beta1 Ingress shop/web");
    let same = Live {
        uid: live(&new).uid,
        ..live(&old)
    };
    let mut input = input(vec![unchanged(new)]);
    was_found(&mut input, &old, Found::There(Box::new(same)));
    let plan = planned(&input, &flux());
    let pruned = &plan.stages[1].steps[0];
    assert_eq!(pruned.action, Action::Skip);
    assert_eq!(pruned.reason, "it is desired in another group of the same kind");
}

#[test]
fn what_was_found_besides_the_inventory_is_pruned_too() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    was_applied(&mut input, [object("v1 ConfigMap shop/a")]);
    input.previous.entries.clear();
    assert_sketch(
        &planned(&input, &flux()),
        &["objects: +ConfigMap/shop/x", "prune: -ConfigMap/shop/a"],
    );
}
