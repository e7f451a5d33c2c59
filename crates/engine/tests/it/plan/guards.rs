//! What must not happen by mistake.

use engine::plan::Budget;
use model::manifest::Origin;

use super::*;

fn with_old_objects(desired: Vec<Desired>, count: usize) -> Input {
    let mut input = input(desired);
    was_applied(
        &mut input,
        (0..count).map(|n| object(&format!("v1 ConfigMap shop/old-{n}"))),
    );
    input
}

fn messages(input: &Input) -> Vec<String> {
    refusals(input, &flux()).iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_build_does_not_prune_everything() {
    let mut input = with_old_objects(Vec::new(), 3);
    assert_eq!(
        messages(&input),
        ["the build is empty and all 3 objects would be pruned: allow an empty build if this is meant"]
    );
    input.options.allow_empty = true;
    assert_eq!(planned(&input, &flux()).counts().prune, 3);
}

#[test]
fn a_build_that_has_only_hooks_left_is_empty_too() {
    let hook = annotated("batch/v1 Job shop/migrate", "argocd.argoproj.io/hook", "PreSync");
    let mut input = with_old_objects(vec![desired(hook.clone())], 3);
    let told = refusals(&input, &waves());
    assert_eq!(
        told.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["the build is empty and all 3 objects would be pruned: allow an empty build if this is meant"]
    );
    // To whoever has no hooks it is an object as any other.
    assert_eq!(planned(&input, &flux()).counts().prune, 3);
    input.desired.push(missing("v1 ConfigMap shop/a"));
    assert_eq!(planned(&input, &waves()).counts().prune, 3);
}

#[test]
fn an_empty_build_is_fine_if_nothing_would_be_pruned() {
    assert!(planned(&input(Vec::new()), &flux()).stages.is_empty());
    let mut off = with_old_objects(Vec::new(), 3);
    off.options.prune = false;
    assert!(planned(&off, &flux()).stages.is_empty());
}

#[test]
fn no_more_is_pruned_than_the_budget_allows() {
    let cases = [
        (
            Budget {
                count: Some(2),
                percent: None,
            },
            3,
            Some(2),
        ),
        (
            Budget {
                count: Some(3),
                percent: None,
            },
            3,
            None,
        ),
        (
            Budget {
                count: Some(0),
                percent: None,
            },
            1,
            Some(0),
        ),
        (
            Budget {
                count: None,
                percent: Some(50),
            },
            6,
            Some(5),
        ),
        (
            Budget {
                count: None,
                percent: Some(50),
            },
            5,
            None,
        ),
        // A share is rounded up, so that small units can lose an object.
        (
            Budget {
                count: None,
                percent: Some(1),
            },
            1,
            None,
        ),
        (
            Budget {
                count: None,
                percent: Some(0),
            },
            1,
            Some(0),
        ),
        (
            Budget {
                count: Some(9),
                percent: Some(10),
            },
            2,
            Some(1),
        ),
        (Budget::default(), 10, None),
    ];
    for (budget, pruned, allowed) in cases {
        let kept = (pruned..10).map(|n| unchanged(object(&format!("v1 ConfigMap shop/old-{n}"))));
        let kept = kept.chain([missing("v1 ConfigMap shop/new")]);
        let mut input = with_old_objects(kept.collect(), 10);
        input.options.budget = budget;
        match allowed {
            None => assert_eq!(planned(&input, &flux()).counts().prune, pruned, "{budget:?}"),
            Some(allowed) => assert_eq!(
                messages(&input),
                [format!(
                    "{pruned} of 10 objects would be pruned, but the budget allows {allowed}: raise it if this is meant"
                )],
                "{budget:?}"
            ),
        }
    }
}

#[test]
fn what_is_not_pruned_for_other_reasons_uses_up_no_budget() {
    let mut input = input(vec![missing("v1 ConfigMap shop/x")]);
    let kept = annotated(
        "v1 ConfigMap shop/kept",
        "kustomize.toolkit.fluxcd.io/prune",
        "disabled",
    );
    was_applied(&mut input, [kept]);
    was_found(&mut input, &object("v1 ConfigMap shop/gone"), Found::Gone);
    input.options.budget.count = Some(0);
    assert_eq!(planned(&input, &flux()).counts().prune, 0);
}

#[test]
fn all_refusals_are_told_at_once() {
    let mut input = with_old_objects(vec![refused("v1 ConfigMap shop/a")], 2);
    input.options.budget.count = Some(1);
    assert_eq!(refusals(&input, &flux()).len(), 2);
}

#[test]
fn an_object_that_would_be_recorded_as_another_is_refused_with_the_place_it_was_read_at() {
    let role = "rbac.authorization.k8s.io/v1 ClusterRole a__b";
    let mut wrong = missing(role).namespaced(false);
    wrong.origin = Some(Origin {
        file: "rbac.yaml".into(),
        line: 3,
    });
    let right = missing("v1 ConfigMap shop/a");
    assert_eq!(
        messages(&input(vec![right, wrong])),
        [
            "rbac.yaml:3: ClusterRole/a__b cannot be recorded: its inventory entry \
             \"_a__b_rbac.authorization.k8s.io_ClusterRole\" would be read as another object; give it another name"
        ]
    );
}
