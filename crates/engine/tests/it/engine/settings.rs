//! Settings that change while the engine runs: only what they touch is done again.

use std::sync::Arc;
use std::time::Duration;

use engine::cluster::{Counts, Verb};
use engine::diff::{IgnoreRule, IgnoreRules};
use engine::plan::GroupKind;
use engine::unit::{ReconciliationSettings, ResourceFilter, ResourceOverride};
use model::value;

use super::gate::Gate;
use super::{Bed, Outcomes, config_map};

fn secret() -> model::Value {
    value!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "data": {} })
}

fn kind(kind: &str) -> GroupKind {
    GroupKind {
        group: "".into(),
        kind: kind.into(),
    }
}

/// Looks at the unit until a look sends nothing, and returns what was sent since.
async fn settled(bed: &Bed, before: &Counts) -> Counts {
    for _ in 0..100 {
        let requests = bed.engine.requests("").unwrap();
        let looks = bed.engine.looks();
        bed.engine.refresh("shop");
        let every = testkit::settled::Every(Duration::from_millis(5));
        let looked = testkit::settled(super::LIMIT, every, async || {
            (bed.engine.looks() > looks).then_some(()).ok_or("not looked at")
        });
        looked.await.unwrap();
        if bed.engine.requests("").unwrap() == requests {
            return requests.since(before);
        }
    }
    panic!("each look sends requests");
}

async fn synced() -> (Bed, Counts) {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1"), secret()]);
    bed.applied("shop", "v1").await;
    let start = bed.engine.requests("").unwrap();
    settled(&bed, &start).await;
    let counts = bed.engine.requests("").unwrap();
    (bed, counts)
}

#[tokio::test(flavor = "multi_thread")]
async fn other_health_of_one_kind_has_only_its_watch_begun_anew() {
    let (bed, before) = synced().await;
    let special = ResourceOverride {
        health: Some(Arc::new(Outcomes)),
        ..ResourceOverride::default()
    };
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        overrides: [(kind("ConfigMap"), special)].into(),
        ..ReconciliationSettings::default()
    });
    bed.outcome("a", "failed").await;
    bed.until("shop", |status| {
        let health = status.health.as_ref();
        health.is_some_and(|health| health.state == model::health::State::Degraded)
    })
    .await;
    let sent = bed.engine.requests("").unwrap().since(&before);
    assert_eq!(sent.of(Verb::Watch), 1, "{sent:?}");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_ignore_rules_have_objects_compared_again_and_no_watch_begun_anew() {
    let (bed, before) = synced().await;
    let rule = IgnoreRule {
        paths: vec!["/data/key".to_owned()],
        ..IgnoreRule::default()
    };
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        ignore: IgnoreRules::new(&[rule]).unwrap(),
        ..ReconciliationSettings::default()
    });
    let sent = settled(&bed, &before).await;
    assert_eq!(
        (sent.of(Verb::DryRun), sent.of(Verb::Watch), sent.of(Verb::Apply)),
        (2, 0, 0),
        "{sent:?}"
    );
    // The same settings again change nothing at all.
    let before = bed.engine.requests("").unwrap();
    let rule = IgnoreRule {
        paths: vec!["/data/key".to_owned()],
        ..IgnoreRule::default()
    };
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        ignore: IgnoreRules::new(&[rule]).unwrap(),
        ..ReconciliationSettings::default()
    });
    settled(&bed, &before).await;
    assert_eq!(bed.engine.requests("").unwrap(), before);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_instance_label_is_put_on_objects_and_selects_what_is_watched() {
    let (bed, _) = synced().await;
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        instance_label: Some("example.com/unit".to_owned()),
        ..ReconciliationSettings::default()
    });
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["metadata", "labels", "example.com/unit"]) == "shop")
    })
    .await;
    // Drift is still seen, by a watch that has nothing else in it.
    bed.by_hand("", config_map("a", "by hand")).await;
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_an_instance_label_only_objects_that_have_it_are_watched() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        instance_label: Some("example.com/unit".to_owned()),
        ..ReconciliationSettings::default()
    });
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let seen = gate.seen();
    let lists = |line: &&String| line.contains("/configmaps?");
    let watches: Vec<_> = seen
        .iter()
        .filter(|line| line.starts_with("GET "))
        .filter(lists)
        .collect();
    assert!(!watches.is_empty(), "{seen:?}");
    for watch in watches {
        assert!(watch.contains("labelSelector=example.com%2Funit"), "{watch}");
    }
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_is_excluded_is_neither_applied_nor_pruned() {
    let (bed, _) = synced().await;
    bed.engine.set_reconciliation_settings(ReconciliationSettings {
        filter: ResourceFilter {
            excluded: vec![kind("Secret")],
        },
        ..ReconciliationSettings::default()
    });
    bed.sync("shop", "v2", [config_map("a", "2"), secret()]);
    bed.applied("shop", "v2").await;
    assert!(bed.get("", "Secret", "s").await.is_some());
    bed.finish().await;
}
