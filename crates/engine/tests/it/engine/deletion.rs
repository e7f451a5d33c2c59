//! Units that are deleted with all that they have.

use engine::cluster::Write;
use engine::unit::{Operation, Phase, Status};
use model::value;

use super::{Bed, argo, config_map, slow};

fn delete() -> Operation {
    Operation {
        delete: true,
        ..Operation::default()
    }
}

fn is_deleted(status: &Status) -> bool {
    let operation = status.operation.as_ref();
    let succeeded = operation.is_some_and(|state| state.phase == Phase::Succeeded);
    succeeded && status.inventory.entries.is_empty()
}

/// I6
#[tokio::test(flavor = "multi_thread")]
async fn all_that_a_unit_has_is_deleted_and_nothing_is_applied_again() {
    let bed = Bed::start().await;
    let mut kept = config_map("kept", "1");
    kept.set_at(
        &["metadata", "annotations", "kustomize.toolkit.fluxcd.io/prune"],
        "disabled",
    );
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1"), kept]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", config_map("bystander", "mine")).await;
    bed.ask("shop", delete());
    bed.until("shop", is_deleted).await;
    bed.engine.refresh("shop");
    for (name, stays) in [("a", false), ("b", false), ("kept", true), ("bystander", true)] {
        assert_eq!(bed.get("", "ConfigMap", name).await.is_some(), stays, "{name}");
    }
    bed.units.remove("shop");
    bed.engine.refresh("shop");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_has_not_succeeded_while_something_keeps_an_object() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.options.stage_seconds = 1;
    unit.policy.retry = std::time::Duration::from_secs(3600);
    bed.units.put(unit);
    let mut kept = config_map("kept", "1");
    kept.set_at(&["metadata", "finalizers"], value!(["example.com/kept"]));
    bed.sync("shop", "v1", [kept, config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    bed.ask("shop", delete());
    bed.waits("shop").await;
    let status = bed.phase("shop", Phase::Failed).await;
    let told = format!(
        "timeout waiting for: [ConfigMap/{}/kept status: 'Terminating']",
        bed.space
    );
    assert_eq!(status.errors, [told]);
    let entries = &status.inventory.entries;
    let left: Vec<&str> = entries.iter().map(|entry| &*entry.id.0.name).collect();
    assert_eq!(left, ["kept"], "what is not gone is not forgotten");
    let config_maps = bed.resource("", "ConfigMap").await;
    let (patch, by) = (value!({ "metadata": { "finalizers": [] } }), Write::by("hand"));
    let patched = bed
        .cluster
        .merge_patch(&config_maps, &bed.space, "kept", &patch, &by);
    patched.await.unwrap();
    bed.engine.refresh("shop");
    bed.until("shop", is_deleted).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_is_deleted_in_the_middle_of_an_operation() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = super::waiting(600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a")]);
    bed.waits("shop").await;
    bed.ask("shop", delete());
    bed.until("shop", is_deleted).await;
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_before_and_after_a_deletion_and_one_that_fails_stops_it() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let objects = [
        argo(slow("backup"), "hook", "PreDelete"),
        argo(
            argo(slow("last"), "hook", "PostDelete"),
            "hook-delete-policy",
            "HookSucceeded",
        ),
        config_map("web", "1"),
    ];
    bed.sync("shop", "v1", objects);
    bed.applied("shop", "v1").await;
    assert!(bed.get("", "ConfigMap", "backup").await.is_none());
    bed.ask("shop", delete());
    bed.seen("ConfigMap", "backup", |live| live.is_some()).await;
    let first = bed.uid("backup").await.unwrap();
    bed.outcome("backup", "failed").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(status.errors[0].contains("backup"), "{:?}", status.errors);
    assert!(bed.get("", "ConfigMap", "web").await.is_some());
    // Somebody has put right what was wrong.
    bed.engine.refresh("shop");
    bed.seen("ConfigMap", "backup", |live| {
        live.is_some_and(|live| live.str_at(&["metadata", "uid"]) != first)
    })
    .await;
    bed.outcome("backup", "done").await;
    bed.seen("ConfigMap", "last", |live| live.is_some()).await;
    assert!(bed.get("", "ConfigMap", "web").await.is_none());
    bed.outcome("last", "done").await;
    bed.until("shop", is_deleted).await;
    assert!(bed.get("", "ConfigMap", "last").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_whose_source_is_gone_is_deleted_without_its_hooks_if_somebody_says_so() {
    let bed = Bed::start().await;
    bed.units.put(bed.argo("shop"));
    bed.sync("shop", "v1", [config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    bed.sources.0.lock().clear();
    bed.ask("shop", delete());
    // It may have been looked at in between, when nobody had asked for its deletion.
    bed.until("shop", |status| {
        let mut errors = status.errors.iter();
        errors.any(|error| error.contains("skip_hooks"))
    })
    .await;
    assert!(bed.get("", "ConfigMap", "web").await.is_some());
    let mut unit = bed.units.unit("shop").unwrap();
    unit.policy.options.argo.skip_hooks = true;
    bed.units.put(unit);
    bed.engine.refresh("shop");
    bed.until("shop", is_deleted).await;
    assert!(bed.get("", "ConfigMap", "web").await.is_none());
    bed.finish().await;
}

/// What is deleted is of no revision: only other hooks for that occasion are a reason to begin anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_newer_revision_does_not_end_a_deletion_nor_run_its_hooks_again() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let backup = |phase: &str| argo(slow("backup"), "hook", phase);
    bed.sync("shop", "v1", [backup("PreDelete"), config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    bed.ask("shop", delete());
    let begun = bed.waits("shop").await.operation.unwrap();
    let uid = bed.uid("backup").await.unwrap();
    bed.sync(
        "shop",
        "v2",
        [
            backup("PreDelete"),
            config_map("web", "2"),
            config_map("new", "1"),
        ],
    );
    super::requests::look(&bed).await;
    // A process that comes after finds another revision too.
    bed.sources
        .set("shop", "v3", [backup("PreDelete"), config_map("web", "3")]);
    bed.restart().await;
    for _ in 0..3 {
        super::requests::look(&bed).await;
    }
    let now = bed.units.unit("shop").unwrap().status.operation.unwrap();
    assert_eq!((now.phase, now.started), (Phase::Running, begun.started));
    assert_eq!(bed.uid("backup").await.as_deref(), Some(uid.as_str()));
    // Somebody has put right what kept the hook.
    let mut other = backup("PreDelete");
    other.set_at(&["data", "slow"], "no");
    bed.sync("shop", "v4", [other]);
    bed.until("shop", is_deleted).await;
    assert!(bed.get("", "ConfigMap", "web").await.is_none());
    bed.finish().await;
}
