//! Hooks on a cluster: before and after the objects, when something fails, and when they are deleted.

use apiserver::fault::{Fault, Rule};
use engine::cluster::Write;
use engine::plan::Strategy;
use engine::unit::{Operation, Phase, SyncState};
use model::{Value, value};

use super::{Bed, argo, config_map, hook, slow, worked_on};

async fn is_there(bed: &Bed, name: &str) -> bool {
    bed.get("", "ConfigMap", name).await.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_before_and_after_the_objects_and_each_phase_waits_for_the_one_before() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let objects = [
        hook(slow("before"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
        hook(slow("after"), "PostSync", "HookSucceeded"),
        hook(config_map("failed", "1"), "SyncFail", "HookFailed"),
    ];
    bed.sync("shop", "v1", objects);
    bed.waits("shop").await;
    bed.seen("ConfigMap", "before", |live| live.is_some()).await;
    assert!(!is_there(&bed, "web").await && !is_there(&bed, "after").await);
    bed.outcome("before", "done").await;
    bed.seen("ConfigMap", "after", |live| live.is_some()).await;
    assert!(is_there(&bed, "web").await);
    bed.outcome("after", "done").await;
    let status = bed.applied("shop", "v1").await;
    assert_eq!(worked_on(&status), ["before", "web", "after", "after"]);
    // The one is deleted because all went well, the other one before it is made anew.
    assert!(!is_there(&bed, "after").await && is_there(&bed, "before").await);
    assert!(!is_there(&bed, "failed").await);
    assert_eq!(status.inventory.entries.len(), 1, "hooks are not applied objects");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_is_made_anew_for_each_revision_and_left_alone_when_drift_is_put_right() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let migrate = || hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation");
    bed.sync("shop", "v1", [migrate(), config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    let first = bed.uid("migrate").await.unwrap();
    bed.by_hand("", config_map("web", "by hand")).await;
    bed.seen("ConfigMap", "web", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    assert_eq!(bed.uid("migrate").await.unwrap(), first);
    bed.sync("shop", "v2", [migrate(), config_map("web", "2")]);
    bed.applied("shop", "v2").await;
    let second = bed.uid("migrate").await.unwrap();
    assert_ne!(second, first);
    // Whoever asks for an operation gets the hooks too.
    bed.ask("shop", Operation::default());
    let again = bed.until("shop", |_| bed.units.unit("shop").unwrap().operation.is_none());
    again.await;
    assert_ne!(bed.uid("migrate").await.unwrap(), second);
    bed.finish().await;
}

/// A store need not keep operations that have ended: the status of a custom resource has no place for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_is_not_run_again_by_a_process_that_finds_its_revision_applied() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let migrate = hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation");
    bed.sync("shop", "v1", [migrate, config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    let first = bed.uid("migrate").await.unwrap();
    let mut unit = bed.units.unit("shop").unwrap();
    unit.status.operation = None;
    bed.units.put(unit);
    bed.restart().await;
    bed.until("shop", |status| status.sync == SyncState::Synced).await;
    bed.by_hand("", config_map("web", "by hand")).await;
    bed.seen("ConfigMap", "web", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    assert_eq!(bed.uid("migrate").await.unwrap(), first);
    bed.finish().await;
}

/// argo-cd#27507: after a failure a hook is deleted and never made anew, and everybody waits for its deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_fails_stops_the_operation_and_is_run_again_by_the_next_one() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let objects = || {
        [
            hook(slow("before"), "PreSync", "BeforeHookCreation"),
            config_map("web", "1"),
            hook(config_map("sorry", "1"), "SyncFail", "BeforeHookCreation"),
            hook(config_map("brief", "1"), "PreSync", "HookFailed"),
        ]
    };
    bed.sync("shop", "v1", objects());
    bed.waits("shop").await;
    let first = bed.uid("before").await.unwrap();
    bed.outcome("before", "failed").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(status.errors[0].contains("before"), "{:?}", status.errors);
    assert!(!is_there(&bed, "web").await);
    assert!(is_there(&bed, "sorry").await && !is_there(&bed, "brief").await);
    // The next try has a hook of its own.
    bed.engine.refresh("shop");
    bed.seen("ConfigMap", "before", |live| {
        live.is_some_and(|live| live.str_at(&["metadata", "uid"]) != first)
    })
    .await;
    bed.outcome("before", "done").await;
    bed.applied("shop", "v1").await;
    assert!(is_there(&bed, "web").await);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_that_run_are_deleted_when_the_operation_is_terminated() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let objects = [
        hook(slow("running"), "PreSync", "BeforeHookCreation"),
        argo(
            hook(config_map("ended", "1"), "PreSync", "BeforeHookCreation"),
            "sync-wave",
            "-1",
        ),
        config_map("web", "1"),
    ];
    bed.sync("shop", "v1", objects);
    bed.seen("ConfigMap", "running", |live| live.is_some()).await;
    bed.waits("shop").await;
    bed.engine.terminate("shop");
    bed.phase("shop", Phase::Terminated).await;
    assert!(!is_there(&bed, "running").await && !is_there(&bed, "web").await);
    assert!(is_there(&bed, "ended").await);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_without_a_name_gets_one_of_its_own_in_each_operation() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let unnamed = value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "generateName": "migrate-" }, "data": { "slow": "yes" },
    });
    let objects = [hook(unnamed, "PreSync", "HookSucceeded"), config_map("web", "1")];
    bed.sync("shop", "main@sha1:0123456789abcdef", objects);
    let status = bed.waits("shop").await;
    let operation = status.operation.unwrap();
    let name = format!("migrate-0123456-presync-{}", operation.started.as_second());
    // The name says when the operation began, which was a moment before it was stored.
    let hook = operation.progress.results[0].key.name.to_string();
    assert!(hook.starts_with("migrate-0123456-presync-"), "{hook} {name}");
    bed.outcome(&hook, "done").await;
    bed.applied("shop", "main@sha1:0123456789abcdef").await;
    assert!(!is_there(&bed, &hook).await);
    bed.finish().await;
}

/// argo-cd#21055: a Job that deletes itself is waited for for ever. A hook that is not seen yet has not vanished.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_deletes_itself_may_vanish() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let job = value!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "migrate" },
        "spec": {
            "ttlSecondsAfterFinished": 1, "parallelism": 0, "completions": 1,
            "template": { "spec": {
                "restartPolicy": "Never", "containers": [{ "name": "main", "image": "nothing" }],
            } },
        },
    });
    bed.sync(
        "shop",
        "v1",
        [hook(job, "PreSync", "HookSucceeded"), config_map("web", "1")],
    );
    bed.waits("shop").await;
    assert!(!is_there(&bed, "web").await);
    let jobs = bed.resource("batch", "Job").await;
    let options = engine::cluster::Delete::default();
    bed.cluster
        .delete(&jobs, &bed.space, "migrate", &options)
        .await
        .unwrap();
    bed.applied("shop", "v1").await;
    assert!(is_there(&bed, "web").await);
    bed.finish().await;
}

/// What Flux applies as a plain object is no hook to it.
#[tokio::test(flavor = "multi_thread")]
async fn annotations_of_hooks_mean_nothing_unless_the_unit_asks_for_them() {
    let bed = Bed::with_outcomes().await;
    let objects = [
        hook(config_map("job", "1"), "PreSync", "HookSucceeded"),
        config_map("web", "1"),
    ];
    bed.sync("shop", "v1", objects);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(status.inventory.entries.len(), 2);
    assert!(is_there(&bed, "job").await);
    assert_eq!(
        bed.unit("shop").policy.strategy,
        Strategy::flux("shop", &bed.space)
    );
    bed.finish().await;
}

/// §1.7: a hook that somebody holds is waited for, but not for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_is_held_has_a_deadline_too() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.options.wave_seconds = 1;
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let mut held = slow("before");
    held.set_at(&["data", "outcome"], "held");
    let objects = [hook(held, "PreSync", "HookFailed"), config_map("web", "1")];
    bed.sync("shop", "v1", objects);
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(
        status.errors[0].starts_with("timeout waiting for: [ConfigMap/"),
        "{:?}",
        status.errors
    );
    assert!(!is_there(&bed, "web").await && !is_there(&bed, "before").await);
    bed.finish().await;
}

/// §1.7: a hook of which nobody can tell how it is doing is waited for, but not for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_whose_health_is_unknown_is_waited_for_until_its_deadline() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let unclear = || {
        let mut object = slow("before");
        object.set_at(&["data", "outcome"], "unclear");
        hook(object, "PreSync", "BeforeHookCreation")
    };
    bed.sync("shop", "v1", [unclear(), config_map("web", "1")]);
    bed.waits("shop").await;
    bed.outcome("before", "done").await;
    bed.applied("shop", "v1").await;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.policy.options.wave_seconds = 1;
    bed.units.put(unit);
    bed.sync("shop", "v2", [unclear(), config_map("web", "2")]);
    let status = bed.phase("shop", Phase::Failed).await;
    let told = format!(
        "timeout waiting for: [ConfigMap/{}/before status: 'Unknown': nobody knows]",
        bed.space
    );
    assert_eq!(status.errors, [told]);
    bed.finish().await;
}

/// A conflict is no sign that it is gone: the old one would be taken for the new one, and nothing would run.
#[tokio::test(start_paused = true)]
async fn a_hook_whose_deletion_meets_a_conflict_is_made_anew_all_the_same() {
    let bed = Bed::paused().await;
    bed.units.put(bed.argo("shop"));
    let migrate = || hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation");
    bed.sync("shop", "v1", [migrate(), config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    let first = bed.uid("migrate").await;
    let conflict = Rule::new(Fault::Conflict).client("sluice-engine");
    let conflict = conflict.verb("delete").name("migrate").once();
    let conflict = bed.server().faults().add(conflict);
    bed.sync("shop", "v2", [migrate(), config_map("web", "2")]);
    bed.applied("shop", "v2").await;
    assert_eq!(bed.server().faults().fired(conflict), 1);
    assert_ne!(bed.uid("migrate").await, first);
    bed.finish().await;
}

/// The process is killed between making the hook and storing that it did.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_was_made_before_a_crash_is_not_taken_for_the_one_that_was_to_go() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let migrate = || hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation");
    bed.sync("shop", "v1", [migrate(), config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    kept(&bed, value!(["example.com/kept"])).await;
    bed.sync("shop", "v2", [migrate(), config_map("web", "2")]);
    let status = bed.waits("shop").await;
    let message = &status.operation.unwrap().message;
    assert_eq!(message, "waiting for earlier hooks to be gone");
    bed.running.end().await;
    kept(&bed, value!([])).await;
    bed.seen("ConfigMap", "migrate", |live| live.is_none()).await;
    bed.by_hand("", migrate()).await;
    bed.restart().await;
    bed.applied("shop", "v2").await;
    assert_eq!(bed.key("web").await.as_deref(), Some("2"));
    bed.finish().await;
}

/// Each phase has a hook of its own, also where an earlier operation has left one.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_of_several_phases_that_is_left_of_an_earlier_operation_runs_in_each() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let both = || hook(config_map("both", "1"), "PreSync,PostSync", "BeforeHookCreation");
    for revision in ["v1", "v2"] {
        bed.sync("shop", revision, [both(), config_map("web", revision)]);
        bed.applied("shop", revision).await;
    }
    bed.finish().await;
}

/// Somebody keeps the hook, or lets it go.
async fn kept(bed: &Bed, finalizers: Value) {
    let config_maps = bed.resource("", "ConfigMap").await;
    let patch = value!({ "metadata": { "finalizers": finalizers } });
    let by = Write::by("hand");
    let patched = bed
        .cluster
        .merge_patch(&config_maps, &bed.space, "migrate", &patch, &by);
    patched.await.unwrap();
}
