//! A unit that is deleted with all it has applied.

use engine::plan::{PruneOption, deletion};

use super::*;

/// I6
#[test]
fn everything_is_deleted_in_reverse_order_without_asking_for_budget_or_desired_objects() {
    let mut input = input(vec![unchanged(object("v1 ConfigMap shop/still-desired"))]);
    was_applied(
        &mut input,
        [
            object("v1 Namespace shop"),
            object("v1 ConfigMap shop/still-desired"),
            object("apps/v1 Deployment shop/web"),
            annotated(
                "v1 Secret shop/kept",
                "kustomize.toolkit.fluxcd.io/prune",
                "disabled",
            ),
        ],
    );
    input.options.budget.count = Some(0);
    input.options.prune = false;
    let plan = deletion(&input, &flux(), None);
    assert_sketch(
        &plan,
        &[
            "delete: -Deployment/shop/web | ·Secret/shop/kept | -ConfigMap/shop/still-desired | -Namespace/shop",
        ],
    );
    assert!(plan.inventory.entries.is_empty());

    let waited = deletion(&input, &flux(), Some(120));
    let wait = waited.stages[0].wait.as_ref().unwrap();
    assert_eq!((wait.seconds, wait.optional, wait.objects.len()), (120, true, 3));
}

#[test]
fn units_with_waves_are_deleted_wave_by_wave_from_the_highest() {
    let wave = "argocd.argoproj.io/sync-wave";
    let options = "argocd.argoproj.io/sync-options";
    let mut input = input(Vec::new());
    was_applied(
        &mut input,
        [
            annotated("v1 ConfigMap shop/early", wave, "-1"),
            object("v1 ConfigMap shop/plain"),
            annotated("v1 ConfigMap shop/late", wave, "3"),
            annotated("v1 ConfigMap shop/kept", options, "Delete=false"),
            annotated("v1 ConfigMap shop/unpruned", options, "Prune=false"),
            widget_definition(),
        ],
    );
    let plan = deletion(&input, &waves(), None);
    assert_sketch(
        &plan,
        &[
            "delete wave 3: -ConfigMap/shop/late ⏳ ConfigMap/shop/late Gone",
            "delete wave 0: ·CustomResourceDefinition/widgets.example.com | -ConfigMap/shop/unpruned \
             -ConfigMap/shop/plain ·ConfigMap/shop/kept \
             ⏳ ConfigMap/shop/unpruned Gone, ConfigMap/shop/plain Gone",
            "delete wave -1: -ConfigMap/shop/early ⏳ ConfigMap/shop/early Gone",
        ],
    );
}

#[test]
fn deletion_that_must_be_confirmed_is_held() {
    let mut input = input(Vec::new());
    was_applied(&mut input, [object("v1 ConfigMap shop/a")]);
    input.options.argo.delete = PruneOption::Confirm;
    assert!(deletion(&input, &waves(), None).stages[0].gate.is_some());
    assert!(deletion(&input, &flux(), None).stages[0].gate.is_none());
}

#[test]
fn what_could_not_be_looked_at_stays_in_the_inventory() {
    let mut input = input(Vec::new());
    was_found(
        &mut input,
        &object("v1 ConfigMap shop/a"),
        Found::Unknown("no".to_owned()),
    );
    let plan = deletion(&input, &flux(), None);
    assert_sketch(&plan, &["delete: !ConfigMap/shop/a"]);
    assert_eq!(plan.inventory.entries.len(), 1);
}
