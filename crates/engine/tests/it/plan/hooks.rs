//! Hooks: when they run, how they are replaced, and when they are deleted.

use engine::plan::{Action, OnFailure, Phase, Purpose, prepare};

use super::*;

const HOOK: &str = "argocd.argoproj.io/hook";
const POLICY: &str = "argocd.argoproj.io/hook-delete-policy";

fn hook(name: &str, phases: &str) -> Value {
    annotated(&format!("batch/v1 Job shop/{name}"), HOOK, phases)
}

fn with_policy(mut hook: Value, policy: &str) -> Value {
    hook.set_at(&["metadata", "annotations", POLICY], policy);
    hook
}

#[test]
fn hooks_run_before_with_and_after_the_objects_and_when_something_has_failed() {
    let input = input(vec![
        desired(hook("after", "PostSync")),
        desired(hook("before", "PreSync")),
        desired(hook("with", "Sync")),
        desired(hook("failed", "SyncFail")),
        missing("apps/v1 Deployment shop/web"),
    ]);
    let plan = planned(&input, &waves());
    assert_sketch(
        &plan,
        &[
            "PreSync wave 0: +Job/shop/before ⏳ Job/shop/before Completed",
            "Sync wave 0: +Deployment/shop/web | +Job/shop/with ⏳ Deployment/shop/web, Job/shop/with Completed",
            "PostSync wave 0: +Job/shop/after ⏳ Job/shop/after Completed",
            "SyncFail wave 0 [Failure]: +Job/shop/failed ⏳ Job/shop/failed Completed",
        ],
    );
    assert_eq!(
        plan.stages[1].on_failure,
        OnFailure::FinishStage,
        "one failure does not stop the wave"
    );
    assert_eq!(plan.counts().hooks, 4);
    let entries: Vec<String> = plan
        .inventory
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(
        entries,
        ["shop_web_apps_Deployment"],
        "hooks are not applied objects"
    );
}

#[test]
fn what_the_annotations_say_decides_whether_something_is_a_hook() {
    let cases: [(&str, &str, Option<&[Phase]>); 16] = [
        (HOOK, "PreSync", Some(&[Phase::PreSync])),
        (HOOK, "PostSync,PreSync", Some(&[Phase::PreSync, Phase::PostSync])),
        (HOOK, " Sync , Sync ,", Some(&[Phase::Sync])),
        (HOOK, "SyncFail", Some(&[Phase::SyncFail])),
        (HOOK, "Skip,PreSync", Some(&[Phase::PreSync])),
        (HOOK, "PreSync,nonsense", Some(&[Phase::PreSync])),
        (HOOK, "Skip", None),
        (HOOK, "nonsense", None),
        (HOOK, "presync", None),
        (HOOK, "", None),
        (HOOK, "PreDelete", None),
        ("helm.sh/hook", "pre-install,pre-upgrade", Some(&[Phase::PreSync])),
        ("helm.sh/hook", "post-upgrade", Some(&[Phase::PostSync])),
        ("helm.sh/hook", "test", None),
        ("helm.sh/hook", "pre-rollback", None),
        ("helm.sh/hook", "pre-install,crd-install", Some(&[Phase::PreSync])),
    ];
    for (annotation, text, expected) in cases {
        let job = annotated("batch/v1 Job shop/j", annotation, text);
        let plan = planned(&input(vec![desired(job)]), &waves());
        let applied = plan.steps().filter(|step| step.action == Action::Create);
        let phases: Vec<Phase> = applied.map(|step| step.hook.as_ref().unwrap().phase).collect();
        assert_eq!(phases, expected.unwrap_or_default(), "{annotation}: {text}");
        if expected.is_none() {
            assert_eq!(
                step(&plan, "Job/shop/j").action,
                Action::Skip,
                "{annotation}: {text}"
            );
        }
    }
}

#[test]
fn a_definition_that_helm_calls_a_hook_is_none() {
    let mut definition = widget_definition();
    definition.set_at(&["metadata", "annotations", "helm.sh/hook"], "crd-install");
    let plan = planned(&input(vec![desired(definition)]), &waves());
    assert_eq!(plan.steps().next().unwrap().hook, None);
    assert_eq!(plan.counts().create, 1);
}

#[test]
fn argo_cds_word_on_hooks_is_heard_before_helms() {
    let mut job = hook("j", "PostSync");
    job.set_at(&["metadata", "annotations", "helm.sh/hook"], "pre-install");
    assert_sketch(
        &planned(&input(vec![desired(job)]), &waves()),
        &["PostSync wave 0: +Job/shop/j ⏳ Job/shop/j Completed"],
    );
    let mut job = hook("j", "nonsense");
    job.set_at(&["metadata", "annotations", "helm.sh/hook"], "pre-install");
    assert_sketch(
        &planned(&input(vec![desired(job)]), &waves()),
        &["PreSync wave 0: +Job/shop/j ⏳ Job/shop/j Completed"],
    );
}

#[test]
fn a_hook_of_an_earlier_run_is_deleted_and_gone_before_it_is_created_anew() {
    for existing in [
        unchanged(hook("j", "PreSync")),
        drifted(hook("j", "PreSync")),
        immutable(hook("j", "PreSync")),
        unchanged(with_policy(hook("j", "PreSync"), "BeforeHookCreation,HookFailed")),
        unchanged(with_policy(hook("j", "PreSync"), "nonsense")),
    ] {
        let plan = planned(&input(vec![existing]), &waves());
        let sketch = sketch(&plan);
        assert_eq!(
            sketch[..2],
            [
                "PreSync wave 0: earlier hooks: -Job/shop/j ⏳ Job/shop/j Gone",
                "PreSync wave 0: +Job/shop/j ⏳ Job/shop/j Completed",
            ]
        );
        let created = &plan.stages[1].steps[0];
        assert!(
            created.object.is_some(),
            "what is created is known, though it was unchanged"
        );
        assert!(
            !created.apply.verified,
            "the dry run beside the old one tells nothing"
        );
    }
}

#[test]
fn a_hook_that_may_not_be_replaced_is_applied_over() {
    let kept = unchanged(with_policy(hook("j", "PreSync"), "HookSucceeded"));
    let plan = planned(&input(vec![kept]), &waves());
    assert_sketch(
        &plan,
        &[
            "PreSync wave 0: =Job/shop/j ⏳ Job/shop/j Completed",
            "hooks that have succeeded: -Job/shop/j",
        ],
    );
}

#[test]
fn a_hook_of_several_phases_is_run_once_in_each() {
    let plan = planned(&input(vec![desired(hook("j", "PreSync,PostSync"))]), &waves());
    assert_sketch(
        &plan,
        &[
            "PreSync wave 0: +Job/shop/j ⏳ Job/shop/j Completed",
            "PostSync wave 0: earlier hooks: -Job/shop/j ⏳ Job/shop/j Gone",
            "PostSync wave 0: +Job/shop/j ⏳ Job/shop/j Completed",
        ],
    );
}

#[test]
fn hooks_are_deleted_when_the_whole_sync_has_succeeded_or_failed_as_their_policy_says() {
    let mut helm = annotated("batch/v1 Job shop/helm", "helm.sh/hook", "post-install");
    helm.set_at(
        &["metadata", "annotations", "helm.sh/hook-delete-policy"],
        "hook-succeeded,hook-failed",
    );
    let input = input(vec![
        desired(with_policy(hook("good", "PreSync"), "HookSucceeded")),
        desired(with_policy(hook("bad", "PreSync"), "HookFailed")),
        desired(with_policy(hook("alarm", "SyncFail"), "HookFailed")),
        desired(helm),
        missing("v1 ConfigMap shop/a"),
    ]);
    let plan = planned(&input, &waves());
    assert_sketch(
        &plan,
        &[
            "PreSync wave 0: +Job/shop/bad +Job/shop/good ⏳ Job/shop/bad Completed, Job/shop/good Completed",
            "Sync wave 0: +ConfigMap/shop/a ⏳ ConfigMap/shop/a",
            "PostSync wave 0: +Job/shop/helm ⏳ Job/shop/helm Completed",
            "hooks that have succeeded: -Job/shop/good -Job/shop/helm",
            "SyncFail wave 0 [Failure]: +Job/shop/alarm ⏳ Job/shop/alarm Completed",
            "hooks of a failed sync [Failure]: -Job/shop/bad -Job/shop/helm -Job/shop/alarm",
        ],
    );
    let cleanup = &plan.stages[3];
    assert_eq!(
        (cleanup.purpose, cleanup.on_failure),
        (Purpose::Cleanup, OnFailure::GoOn)
    );
}

/// argo-cd#27507: a hook was deleted to be created anew after the sync had failed, and then never was.
#[test]
fn after_a_failure_no_hook_is_deleted_without_being_created() {
    let input = input(vec![
        unchanged(hook("late", "PostSync")),
        desired(hook("early", "PreSync")),
    ]);
    let plan = planned(&input, &waves());
    for stage in plan
        .stages
        .iter()
        .filter(|stage| stage.name.ends_with("earlier hooks"))
    {
        assert_eq!(stage.when, When::Success);
    }
}

#[test]
fn the_finalizer_of_argo_cd_is_taken_from_hooks_it_has_left_and_put_on_none() {
    let object = hook("j", "PreSync");
    let mut left = live(&object);
    left.finalizers = vec!["other".to_owned(), "argocd.argoproj.io/hook-finalizer".to_owned()];
    let input = input(vec![desired(object).observed(Observed::Unchanged(left))]);
    let (plan, objects) = plan(&input, &waves()).unwrap();
    let Action::DeleteHook { release, target } = &plan.stages[0].steps[0].action else {
        panic!("{plan}");
    };
    assert_eq!(release.as_deref(), Some("argocd.argoproj.io/hook-finalizer"));
    assert_eq!(target.as_ref().unwrap().uid, "uid-of-Job/shop/j");
    let created = objects.get(&plan.stages[1].steps[0].object.unwrap()).unwrap();
    assert_eq!(created.at(&["metadata", "finalizers"]), None);
}

/// argo-cd#21055
#[test]
fn a_hook_that_deletes_itself_when_it_is_done_may_vanish() {
    let mut job = hook("j", "PreSync");
    job.set_at(&["spec", "ttlSecondsAfterFinished"], 0);
    let plan = planned(&input(vec![desired(job)]), &waves());
    assert!(plan.stages[0].wait.as_ref().unwrap().objects[0].may_vanish);
}

#[test]
fn a_hook_without_a_name_is_named_after_revision_phase_and_start() {
    let mut job = hook("", "PreSync,PostSync");
    job.remove_at(&["metadata", "name"]);
    job.set_at(&["metadata", "generateName"], "migrate-");
    let mut input = input(vec![desired(job)]);
    input.options.started = Some("2026-01-01T00:00:00Z".parse().unwrap());
    assert_sketch(
        &planned(&input, &waves()),
        &[
            "PreSync wave 0: +Job/shop/migrate-0123456-presync-1767225600 \
             ⏳ Job/shop/migrate-0123456-presync-1767225600 Completed",
            "PostSync wave 0: +Job/shop/migrate-0123456-postsync-1767225600 \
             ⏳ Job/shop/migrate-0123456-postsync-1767225600 Completed",
        ],
    );
    let name = |revision: &str| {
        let prepared = prepare(input.desired.clone(), &waves(), &input.options, revision);
        prepared[0].object.str_at(&["metadata", "name"]).to_owned()
    };
    assert_eq!(name("1.2.3"), "migrate-1.2.3-presync-1767225600");
    assert_eq!(name("feature/X"), "migrate-feature-presync-1767225600");
    assert_eq!(name("v1/Y"), "migrate-v1-y-presync-1767225600");
}

#[test]
fn hooks_can_be_left_out() {
    let mut input = input(vec![
        desired(hook("j", "PreSync")),
        missing("v1 ConfigMap shop/a"),
    ]);
    input.options.argo.skip_hooks = true;
    let plan = planned(&input, &waves());
    assert_sketch(&plan, &["Sync wave 0: +ConfigMap/shop/a | ·Job/shop/j"]);
}

#[test]
fn a_live_hook_is_never_pruned() {
    let mut input = input(vec![missing("v1 ConfigMap shop/a")]);
    was_applied(
        &mut input,
        [
            hook("old", "PreSync"),
            annotated("v1 Pod shop/t", "helm.sh/hook", "test"),
        ],
    );
    assert_eq!(planned(&input, &waves()).counts().prune, 0);
    assert_eq!(
        planned(&input, &flux()).counts().prune,
        2,
        "to Flux it is an object like any other"
    );
}

#[test]
fn a_hook_that_is_refused_refuses_the_plan() {
    let object = hook("j", "SyncFail");
    let input = input(vec![desired(object).observed(Observed::Failed {
        live: None,
        error: "dry-run failed".to_owned(),
    })]);
    assert_eq!(
        refusals(&input, &waves())[0].to_string(),
        "Job/shop/j dry-run failed"
    );
}
