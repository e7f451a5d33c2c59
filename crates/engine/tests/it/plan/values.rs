//! Plans as values: printed, stored, compared.

use std::sync::Arc;

use engine::plan::{Objects, objects, plan};

use super::*;

fn example() -> Input {
    let hook = annotated("batch/v1 Job shop/migrate", "argocd.argoproj.io/hook", "PreSync");
    let mut secret = object("v1 Secret shop/token");
    secret.set_at(&["data", "password"], "aHVudGVyMg==");
    let mut input = input(vec![
        unchanged(hook),
        drifted(secret),
        desired(annotated(
            "apps/v1 Deployment shop/web",
            "argocd.argoproj.io/sync-wave",
            "1",
        )),
        unchanged(object("v1 Service shop/web")),
        desired(annotated(
            "batch/v1 Job shop/alarm",
            "argocd.argoproj.io/hook",
            "SyncFail",
        )),
    ]);
    was_applied(&mut input, [object("v1 ConfigMap shop/old")]);
    input
}

#[test]
fn a_plan_prints_its_stages_steps_and_reasons() {
    let text = planned(&example(), &waves()).to_string();
    let expected = "\
shop/apps at main@sha1:0123456789
  PreSync wave 0: earlier hooks
    - Job/shop/migrate  it is left of an earlier run
    wait for earlier hooks to be gone (1 object, at most 3600s)
  PreSync wave 0
    + Job/shop/migrate  a hook is run anew
    wait for PreSync wave 0 to complete (1 object, at most 3600s)
  Sync wave 0
    - ConfigMap/shop/old  it is no longer desired
    ~ Secret/shop/token   it differs: .spec.replicas
    = Service/shop/web    it is as desired
    wait for Sync wave 0 to complete (3 objects, at most 3600s)
  Sync wave 1
    + Deployment/shop/web  it is missing
  SyncFail wave 0 (if something has failed)
    + Job/shop/alarm  it is missing
    wait for SyncFail wave 0 to complete (1 object, at most 3600s)
1 to create, 1 to change, 1 to prune, 2 hooks to run, 1 unchanged";
    assert_eq!(text, expected, "\n{text}");
    assert_eq!(
        planned(&input(Vec::new()), &flux()).to_string(),
        "shop/apps at main@sha1:0123456789\nnothing to do"
    );
}

#[test]
fn no_value_of_a_secret_is_in_a_plan_or_in_what_is_printed_for_debugging() {
    let input = example();
    let (plan, objects) = plan(&input, &waves()).unwrap();
    let texts = [
        plan.to_string(),
        serde_json::to_string(&plan).unwrap(),
        format!("{plan:?}"),
        format!("{objects:?}"),
        format!("{input:?}"),
    ];
    for text in texts {
        assert!(!text.contains("aHVudGVyMg"), "{text}");
    }
}

#[test]
fn a_plan_is_stored_and_read_back() {
    for strategy in [flux(), waves(), Strategy::helm(), Strategy::flux_v1("set")] {
        let plan = planned(&example(), &strategy);
        let text = serde_json::to_string(&plan).unwrap();
        let read: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(read, plan);
    }
}

#[test]
fn the_objects_of_a_stored_plan_are_found_again_when_they_are_built_in_another_order() {
    let input = example();
    let (plan, objects) = plan(&input, &waves()).unwrap();
    let mut rebuilt = Objects::default();
    for desired in input.desired.iter().rev() {
        // Keys may come in another order too: the digest is the same.
        let text = serde_json::to_string(&*desired.object).unwrap();
        rebuilt.push(Arc::new(model::json::parse(text.as_bytes()).unwrap()));
    }
    for reference in plan.steps().filter_map(|step| step.object) {
        let found = rebuilt.get(&reference).unwrap();
        assert_eq!(found, objects.get(&reference).unwrap());
    }
    let lost = engine::plan::Reference {
        index: 0,
        digest: objects::digest(&value!({})),
    };
    assert_eq!(
        rebuilt.get(&lost),
        None,
        "an index alone does not make it the same object"
    );
}

#[test]
fn digests_tell_objects_apart_by_what_they_mean() {
    let same = [
        (
            value!({ "a": 1, "b": [true, null] }),
            value!({ "b": [true, null], "a": 1 }),
        ),
        (value!({ "a": 1 }), value!({ "a": 1.0 })),
    ];
    for (a, b) in same {
        assert_eq!(objects::digest(&a), objects::digest(&b));
    }
    let different = [
        value!({}),
        value!([]),
        value!(null),
        value!({ "a": 1 }),
        value!({ "a": "1" }),
        value!({ "a": 1.5 }),
        value!({ "a": true }),
        value!({ "a": null }),
        value!({ "a": { "b": "c" } }),
        value!({ "a": "b", "c": "" }),
        value!(["ab", "c"]),
        value!(["a", "bc"]),
        value!([["a"], "bc"]),
    ];
    let digests: std::collections::HashSet<_> = different.iter().map(objects::digest).collect();
    assert_eq!(digests.len(), different.len());
}

#[test]
fn plans_that_do_the_same_do_not_differ() {
    let first = planned(&example(), &waves());
    let mut later = example();
    later.revision = "main@sha1:abcdef".to_owned();
    later.candidates[0].found = {
        let mut live = live(&object("v1 ConfigMap shop/old"));
        "8".clone_into(&mut live.resource_version);
        Found::There(Box::new(live))
    };
    assert!(first.difference(&planned(&later, &waves())).is_empty());
}

#[test]
fn plans_differ_in_what_they_do_with_each_object() {
    let first = planned(
        &input(vec![
            missing("v1 ConfigMap shop/a"),
            missing("v1 ConfigMap shop/b"),
            missing("v1 ConfigMap shop/c"),
        ]),
        &flux(),
    );
    let mut changed = object("v1 ConfigMap shop/c");
    changed.set_at(&["data", "x"], "y");
    let second = planned(
        &input(vec![
            drifted(object("v1 ConfigMap shop/b")),
            desired(changed),
            missing("v1 ConfigMap shop/d"),
        ]),
        &flux(),
    );
    let difference = first.difference(&second);
    assert_eq!(
        difference.to_string(),
        "ConfigMap/shop/a: + (objects) → nothing, with another object\n\
         ConfigMap/shop/b: + (objects) → ~ (objects)\n\
         ConfigMap/shop/c: + (objects) → + (objects), with another object\n\
         ConfigMap/shop/d: nothing → + (objects), with another object\n"
    );
}

#[test]
fn a_plan_that_changes_nothing_says_so() {
    let same = input(vec![
        unchanged(object("v1 Namespace shop")),
        unchanged(object("v1 ConfigMap shop/a")),
    ]);
    assert!(!planned(&same, &flux()).changes_anything());
    assert!(planned(&example(), &flux()).changes_anything());
}
