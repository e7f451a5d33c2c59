//! A unit that is deleted with all it has applied.

use engine::plan::{Phase, PruneOption};

use super::*;

fn deletion(input: &Input, strategy: &Strategy, seconds: Option<u64>) -> Plan {
    engine::plan::deletion(input, strategy, seconds).unwrap().0
}

#[test]
fn hooks_run_before_the_first_object_is_deleted_and_after_the_last_is_gone() {
    let hook = |name: &str, annotation: &str, value: &str| {
        desired(annotated(&format!("batch/v1 Job shop/{name}"), annotation, value))
    };
    let argo = "argocd.argoproj.io/hook";
    let mut last = annotated("batch/v1 Job shop/last", argo, "PostDelete");
    last.set_at(
        &["metadata", "annotations", "argocd.argoproj.io/hook-delete-policy"],
        "HookSucceeded",
    );
    let mut input = input(vec![
        hook("backup", argo, "PreDelete"),
        hook("drain", "helm.sh/hook", "pre-delete,pre-install"),
        hook("test", "helm.sh/hook", "post-delete,test"),
        hook("sync", argo, "PreSync"),
        desired(last),
        missing("v1 ConfigMap shop/a"),
    ]);
    was_applied(&mut input, [object("v1 ConfigMap shop/a")]);
    let plan = deletion(&input, &waves(), None);
    assert_sketch(
        &plan,
        &[
            "PreDelete wave 0: +Job/shop/backup +Job/shop/drain \
             ⏳ Job/shop/backup Completed, Job/shop/drain Completed",
            "delete wave 0: -ConfigMap/shop/a ⏳ ConfigMap/shop/a Gone",
            "PostDelete wave 0: +Job/shop/last +Job/shop/test ⏳ Job/shop/last Completed, Job/shop/test Completed",
            "hooks that have succeeded: -Job/shop/last",
        ],
    );
    assert_eq!(
        plan.stages[0].steps[0].hook.as_ref().unwrap().phase,
        Phase::PreDelete
    );
    // To Flux they are objects like any other.
    assert_sketch(&deletion(&input, &flux(), None), &["delete: -ConfigMap/shop/a"]);
}

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
