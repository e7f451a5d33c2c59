//! Argo CD's sync options.

use engine::plan::{Action, PruneOption, Refusal};

use super::*;

const OPTIONS: &str = "argocd.argoproj.io/sync-options";

fn with_options(text: &str, options: &str) -> Value {
    annotated(text, OPTIONS, options)
}

fn action(desired: Desired, change: impl Fn(&mut Input)) -> Action {
    let mut input = input(vec![desired]);
    change(&mut input);
    let plan = planned(&input, &waves());
    plan.steps().next().unwrap().action.clone()
}

#[test]
fn what_is_to_be_replaced_is_and_by_force_it_is_recreated() {
    let text = "v1 ConfigMap shop/a";
    let replaces =
        |action: Action| matches!(action, Action::Replace(target) if target.resource_version == "7");
    let none = |_: &mut Input| {};
    assert!(replaces(action(
        drifted(with_options(text, "Replace=true")),
        none
    )));
    assert!(replaces(action(drifted(object(text)), |input| input
        .options
        .argo
        .replace =
        true)));
    let in_cluster = desired(object(text)).observed(Observed::Drifted {
        live: live(&with_options(text, "Replace=true")),
        fields: Vec::new(),
    });
    assert!(replaces(action(in_cluster, none)));
    let forced = action(drifted(with_options(text, "Force=true, Replace=true")), none);
    assert!(matches!(forced, Action::Recreate(_)));
    assert_eq!(
        action(drifted(with_options(text, "Replace=false")), none),
        Action::Patch
    );
    assert_eq!(
        action(desired(with_options(text, "Replace=true")), none),
        Action::Create
    );
    assert_eq!(
        action(unchanged(with_options(text, "Replace=true")), none),
        Action::Unchanged
    );
}

#[test]
fn definitions_and_namespaces_are_never_recreated_to_replace_them() {
    let mut definition = widget_definition();
    definition.set_at(&["metadata", "annotations", OPTIONS], "Force=true,Replace=true");
    let namespace = with_options("v1 Namespace shop", "Force=true,Replace=true");
    for object in [definition, namespace] {
        assert!(matches!(action(drifted(object), |_| {}), Action::Replace(_)));
    }
}

#[test]
fn force_recreates_what_cannot_be_changed() {
    let forced = immutable(with_options("batch/v1 Job shop/j", "Force=true"));
    assert!(matches!(action(forced, |_| {}), Action::Recreate(_)));
}

#[test]
fn the_servers_check_of_fields_can_be_left_out() {
    let input = input(vec![
        desired(with_options("v1 ConfigMap shop/a", "Validate=false")),
        missing("v1 ConfigMap shop/b"),
    ]);
    let plan = planned(&input, &waves());
    assert!(step(&plan, "ConfigMap/shop/a").apply.unchecked);
    assert!(!step(&plan, "ConfigMap/shop/b").apply.unchecked);
}

#[test]
fn a_missing_kind_is_refused_unless_it_is_expected_to_come() {
    let text = "example.com/v1 Widget shop/w";
    assert_eq!(refusals(&input(vec![kind_missing(text)]), &waves()).len(), 1);
    let mut by_unit = input(vec![kind_missing(text)]);
    by_unit.options.argo.skip_missing_kinds = true;
    let by_object = desired(with_options(text, "SkipDryRunOnMissingResource=true"));
    let by_object = input(vec![
        by_object.observed(Observed::KindMissing { error: String::new() }),
    ]);
    for input in [by_unit, by_object] {
        let plan = planned(&input, &waves());
        assert_eq!(step(&plan, "Widget/shop/w").action, Action::Create);
        assert!(!step(&plan, "Widget/shop/w").apply.verified);
    }
}

#[test]
fn objects_can_forbid_to_be_pruned_and_their_word_overrides_the_units() {
    let mut input = input(vec![missing("v1 ConfigMap shop/new")]);
    was_applied(
        &mut input,
        [
            with_options("v1 ConfigMap shop/never", "Prune=false"),
            with_options("v1 ConfigMap shop/yes", "Prune=true"),
            object("v1 ConfigMap shop/silent"),
        ],
    );
    let pruned = |input: &Input| -> Vec<String> {
        let plan = planned(input, &waves());
        let steps = plan
            .steps()
            .filter(|step| matches!(step.action, Action::Prune { .. }));
        steps.map(|step| step.key.name.to_string()).collect()
    };
    assert_eq!(pruned(&input), ["yes", "silent"]);
    input.options.argo.prune = PruneOption::Disabled;
    assert_eq!(pruned(&input), ["yes"]);
}

#[test]
fn objects_of_other_applications_can_be_refused() {
    let strategy = Strategy::argo("mine");
    let object = annotated(
        "v1 ConfigMap shop/a",
        "argocd.argoproj.io/tracking-id",
        "theirs:/ConfigMap:shop/a",
    );
    let mut input = input(vec![drifted(object)]);
    let plan = planned(&input, &strategy);
    assert_eq!(plan.notes[0].text, "is taken over from theirs");
    input.options.argo.fail_on_shared = true;
    assert_eq!(
        refusals(&input, &strategy),
        [Refusal::Shared {
            key: key("v1 ConfigMap shop/a"),
            owner: "theirs".to_owned(),
        }]
    );
}
