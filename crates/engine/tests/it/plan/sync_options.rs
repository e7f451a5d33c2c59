//! Argo CD's sync options.

use engine::plan::{Action, Options, Propagation, PruneOption, Refusal};

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

/// What comes of a unit with one object that differs and one that is to be pruned, when it asks for this.
fn outcome(options: &str, objects: &str) -> String {
    let options = options.split(' ').filter(|option| !option.is_empty());
    let mut input = input(vec![
        drifted(with_options("v1 ConfigMap shop/a", objects)),
        immutable(with_options("v1 ConfigMap shop/fixed", objects)),
        desired(with_options("example.com/v1 Widget shop/w", objects)).observed(Observed::KindMissing {
            error: "no such kind".to_owned(),
        }),
        unchanged(annotated(
            "v1 ConfigMap shop/same",
            "argocd.argoproj.io/sync-wave",
            "-1",
        )),
        unchanged(annotated(
            "v1 ConfigMap shop/theirs",
            "argocd.argoproj.io/tracking-id",
            "theirs:/ConfigMap:shop/theirs",
        )),
    ]);
    was_applied(&mut input, [with_options("v1 ConfigMap shop/old", objects)]);
    if let Found::There(live) = &mut input.candidates[0].found {
        let id = "mine:/ConfigMap:shop/old".to_owned();
        live.annotations
            .insert("argocd.argoproj.io/tracking-id".to_owned(), id);
    }
    input.options = Options::of_argo(options).unwrap();
    input.options.namespace = "shop".to_owned();
    let strategy = Strategy::argo("mine");
    let kept = strategy.keeps_ignored(&input.options);
    let deleted = engine::plan::deletion(&input, &strategy, None).unwrap().0;
    let refusals = |refusals: Vec<Refusal>| refusals.iter().map(ToString::to_string).collect::<Vec<_>>();
    let input = super::prepared(&input, &strategy);
    let planned = plan(&input, &strategy).map(|(plan, _)| format!("{:?}", plan.stages));
    format!("{kept} {:?} {:?}", planned.map_err(refusals), deleted.stages)
}

/// The table of §1.6: each option changes what is done, for the whole unit and, where it has that, for single objects.
#[test]
fn every_sync_option_has_its_effect() {
    // What would be refused is not, so that there is a plan to compare.
    let base = "Force=true SkipDryRunOnMissingResource=true";
    let of_units = [
        "Prune=false",
        "Prune=confirm",
        "Delete=false",
        "Delete=confirm",
        "PruneLast=true",
        "PrunePropagationPolicy=background",
        "PrunePropagationPolicy=orphan",
        "Validate=false",
        "Replace=true",
        "ApplyOutOfSyncOnly=true",
        "CreateNamespace=true",
        "RespectIgnoreDifferences=true",
        "FailOnSharedResource=true",
    ];
    let plain = outcome(base, "");
    assert!(plain.contains("Foreground"), "{plain}");
    for option in of_units {
        assert_ne!(outcome(&format!("{base} {option}"), ""), plain, "{option}");
    }
    for option in ["Force=true", "SkipDryRunOnMissingResource=true"] {
        let less: Vec<&str> = base.split(' ').filter(|other| *other != option).collect();
        assert_ne!(outcome(&less.join(" "), ""), plain, "{option}");
    }
    let of_objects = [
        "Prune=false",
        "Prune=confirm",
        "Delete=false",
        "Delete=confirm",
        "PruneLast=true",
        "Validate=false",
        "Replace=true",
    ];
    let marked = outcome(base, "Unknown=true");
    for option in of_objects {
        assert_ne!(outcome(base, option), marked, "{option}");
    }
    // These two say nothing here: the server applies everything, and takeover is a matter of policy.
    for option in [
        "ServerSideApply=true",
        "ServerSideApply=false",
        "ClientSideApplyMigration=false",
        "Replace=false",
        "ApplyOutOfSyncOnly=false",
    ] {
        assert_eq!(outcome(&format!("{base} {option}"), ""), plain, "{option}");
    }
    for option in ["Replace", "Unknown=true", "PrunePropagationPolicy=never"] {
        assert!(Options::of_argo([option]).is_err(), "{option}");
    }
    let options = Options::of_argo([]).unwrap();
    assert_eq!(options.propagation, Propagation::Foreground);
}
