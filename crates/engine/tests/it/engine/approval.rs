//! What is not done before somebody approves.

use engine::unit::{Operation, Phase};

use super::{Bed, argo, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn pruning_that_must_be_confirmed_waits_for_somebody_and_outlives_a_crash() {
    let mut bed = Bed::start().await;
    bed.units.put(bed.argo("shop"));
    let precious = argo(config_map("precious", "1"), "sync-options", "Prune=confirm");
    bed.sync("shop", "v1", [precious, config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("web", "2")]);
    let status = bed.phase("shop", Phase::Pending).await;
    let operation = status.operation.unwrap();
    assert_eq!(
        operation.message,
        "waiting for approval: pruning must be confirmed"
    );
    bed.restart().await;
    bed.engine.refresh("shop");
    assert!(bed.get("", "ConfigMap", "precious").await.is_some());
    let approved = Operation {
        approved: true,
        by: "ada".to_owned(),
        ..Operation::default()
    };
    bed.ask("shop", approved);
    bed.applied("shop", "v2").await;
    assert!(bed.get("", "ConfigMap", "precious").await.is_none());
    assert!(bed.units.unit("shop").unwrap().operation.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_keeps_objects_from_being_pruned() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.options.budget.percent = Some(50);
    bed.units.put(unit);
    let objects = ["a", "b", "c", "d"].map(|name| config_map(name, "1"));
    bed.sync("shop", "v1", objects.clone());
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", objects[..1].to_vec());
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].starts_with("3 of 4 objects would be pruned"),
        "{:?}",
        status.errors
    );
    for name in ["a", "b", "c", "d"] {
        assert!(bed.get("", "ConfigMap", name).await.is_some(), "{name}");
    }
    bed.sync("shop", "v3", objects[..2].to_vec());
    bed.applied("shop", "v3").await;
    assert!(bed.get("", "ConfigMap", "d").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_tells_the_plan_and_changes_nothing() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    bed.sources.set("shop", "v1", [config_map("a", "1")]);
    let dry = Operation {
        dry_run: true,
        ..Operation::default()
    };
    bed.ask("shop", dry);
    let status = bed.phase("shop", Phase::Succeeded).await;
    let operation = status.operation.unwrap();
    assert_eq!(operation.message, "dry run: nothing was changed");
    assert_eq!(operation.plan.counts().create, 1);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

/// As Argo CD is told: by the time at which somebody approved.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_in_the_options_counts_for_the_operation_that_waits_for_it_and_for_no_later_one() {
    let bed = Bed::start().await;
    bed.units.put(bed.argo("shop"));
    let precious = |name: &str| argo(config_map(name, "1"), "sync-options", "Prune=confirm");
    bed.sync(
        "shop",
        "v1",
        [precious("one"), precious("two"), config_map("web", "1")],
    );
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [precious("two"), config_map("web", "2")]);
    let pending = bed.phase("shop", Phase::Pending).await;
    let approved = pending.operation.unwrap().started;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.policy.options.argo.approved = Some(model::Time::new(approved));
    bed.units.put(unit);
    bed.engine.refresh("shop");
    bed.applied("shop", "v2").await;
    assert!(bed.get("", "ConfigMap", "one").await.is_none());
    // Times have whole seconds: what begins from the next one on is later.
    let every = testkit::settled::Every(std::time::Duration::from_millis(20));
    let later = testkit::settled(super::LIMIT, every, async || {
        let now = jiff::Timestamp::now();
        (now.as_second() > approved.as_second()).then_some(()).ok_or(now)
    });
    later.await.unwrap();
    bed.sync("shop", "v3", [config_map("web", "3")]);
    bed.phase("shop", Phase::Pending).await;
    assert!(bed.get("", "ConfigMap", "two").await.is_some());
    bed.finish().await;
}
