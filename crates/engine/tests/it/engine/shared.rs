//! Objects that several units want, and objects that move from one unit to another: nobody deletes what another wants, and nobody
//! fights over it.

use std::time::Duration;

use engine::plan::Strategy;
use engine::unit::{Operation, Policy, ReconciliationSettings, Status, SyncState, SyncUnit};
use model::Value;

use super::{Bed, config_map};

/// All strategies, and the default policy, for a unit.
fn policies(bed: &Bed, id: &str) -> Vec<(&'static str, Policy)> {
    let of = |strategy| Policy {
        strategy,
        retry: Duration::from_secs(1),
        ..Policy::default()
    };
    vec![
        ("default", of(Policy::default().strategy)),
        ("helm", of(Strategy::helm())),
        ("flux", of(Strategy::flux(id, &bed.space))),
        ("flux v1", of(Strategy::flux_v1(id))),
        ("argo", of(Strategy::argo(id))),
        ("flux with waves", of(Strategy::flux_with_waves(id, &bed.space))),
    ]
}

/// A unit for each policy, with the name of the policy in its id.
fn units(bed: &Bed, id: &str) -> Vec<SyncUnit> {
    let policies = policies(bed, id).into_iter();
    let units = policies.map(|(name, policy)| SyncUnit {
        id: format!("{id} {name}"),
        policy,
        ..bed.unit(id)
    });
    units.collect()
}

fn has(status: &Status, name: &str) -> bool {
    let mut entries = status.inventory.entries.iter();
    entries.any(|entry| entry.id.0.name == name)
}

/// Which unit's source changes first.
#[derive(Clone, Copy, Debug)]
enum First {
    Taker,
    Giver,
    Both,
}

/// An object goes from one unit to another of the same policy, and is the same object all the time.
async fn moves(bed: &Bed, first: First) {
    let (givers, takers) = (units(bed, "giver"), units(bed, "taker"));
    for (place, (giver, taker)) in givers.iter().zip(&takers).enumerate() {
        let name = format!("x{place}");
        let object = || config_map(&name, "1");
        let own = |unit: &str| config_map(&format!("{name}-{unit}"), "1");
        bed.units.put(giver.clone());
        bed.units.put(taker.clone());
        bed.sync(&giver.id, "v1", [object(), own("giver")]);
        bed.sync(&taker.id, "v1", [own("taker")]);
        bed.applied(&giver.id, "v1").await;
        bed.applied(&taker.id, "v1").await;
        let uid = bed.uid(&name).await.unwrap();
        let give = || bed.sync(&giver.id, "v2", [own("giver")]);
        let take = || bed.sync(&taker.id, "v2", [own("taker"), object()]);
        match first {
            First::Taker => {
                take();
                bed.applied(&taker.id, "v2").await;
                give();
            }
            First::Giver => {
                // Both are committed at once, and the unit that gives it away happens to be looked at first.
                bed.sources.set(&taker.id, "v2", [own("taker"), object()]);
                give();
                bed.until(&giver.id, |status| status.attempted == "v2").await;
                take();
            }
            First::Both => {
                bed.sources.set(&taker.id, "v2", [own("taker"), object()]);
                give();
                take();
            }
        }
        bed.applied(&giver.id, "v2").await;
        bed.applied(&taker.id, "v2").await;
        bed.until(&giver.id, |status| !has(status, &name)).await;
        bed.until(&taker.id, |status| has(status, &name)).await;
        assert_eq!(bed.uid(&name).await, Some(uid), "{} {first:?}", taker.id);
        // Now it is the other unit's, and goes with it.
        bed.sync(&taker.id, "v3", [own("taker")]);
        bed.applied(&taker.id, "v3").await;
        assert_eq!(bed.uid(&name).await, None, "{} {first:?}", taker.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_another_unit_takes_over_is_never_deleted() {
    let bed = Bed::start().await;
    moves(&bed, First::Taker).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_given_away_before_the_other_unit_was_looked_at_is_never_deleted() {
    let bed = Bed::start().await;
    moves(&bed, First::Giver).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_moves_while_both_units_are_at_work_is_never_deleted() {
    let bed = Bed::start().await;
    moves(&bed, First::Both).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_with_the_instance_label_of_another_engine_is_not_pruned() {
    let settings = ReconciliationSettings {
        instance_label: Some("example.com/unit".to_owned()),
        ..ReconciliationSettings::default()
    };
    let bed = Bed::with(testkit::Cluster::start().await, settings).await;
    let mut unit = bed.unit("shop");
    unit.policy.strategy = Strategy::helm();
    bed.units.put(unit);
    bed.sync(
        "shop",
        "v1",
        [config_map("a", "1"), config_map("b", "1"), config_map("c", "1")],
    );
    bed.applied("shop", "v1").await;
    let mut theirs = config_map("a", "1");
    theirs.set_at(&["metadata", "labels", "example.com/unit"], "elsewhere");
    // The other engine takes it when this one wants it no more.
    bed.sources.set("shop", "v2", [config_map("c", "1")]);
    bed.by_hand("", theirs).await;
    bed.engine.refresh("shop");
    let status = bed.applied("shop", "v2").await;
    assert!(bed.get("", "ConfigMap", "b").await.is_none());
    assert!(bed.get("", "ConfigMap", "a").await.is_some());
    assert_eq!(status.inventory.entries.len(), 1);
    bed.finish().await;
}

fn value_of(live: Option<&Value>) -> &str {
    live.map_or("", |live| live.str_at(&["data", "key"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_units_that_want_an_object_otherwise_tell_so_and_do_not_fight() {
    let bed = Bed::start().await;
    let pairs = units(&bed, "one").into_iter().zip(units(&bed, "two"));
    for (place, (one, two)) in pairs.enumerate() {
        let name = format!("x{place}");
        let (one_id, two_id) = (one.id.clone(), two.id.clone());
        bed.units.put(one);
        bed.units.put(two);
        bed.sync(&one_id, "v1", [config_map(&name, "1")]);
        bed.applied(&one_id, "v1").await;
        bed.sync(&two_id, "v1", [config_map(&name, "2")]);
        bed.applied(&two_id, "v1").await;
        let warning = |other: &str| {
            let (other, key) = (format!("{other:?}"), format!("/{name} is part of units"));
            move |status: &Status| {
                let mut warnings = status.warnings.iter();
                warnings.any(|warning| warning.contains(&other) && warning.contains(&key))
            }
        };
        let told = warning(&two_id);
        let out = |status: &Status| status.sync == SyncState::OutOfSync && told(status);
        bed.until(&one_id, out).await;
        let told = warning(&one_id);
        let synced = |status: &Status| status.sync == SyncState::Synced && told(status);
        bed.until(&two_id, synced).await;
        // The one that applied it last looks after it, and nobody else touches it.
        bed.by_hand("", config_map(&name, "by hand")).await;
        bed.seen("ConfigMap", &name, |live| value_of(live) == "2").await;
        let before = bed.get("", "ConfigMap", &name).await.unwrap();
        for id in [&one_id, &two_id, &one_id, &two_id] {
            let looks = bed.engine.looks();
            bed.engine.refresh(id);
            let every = testkit::settled::Every(Duration::from_millis(5));
            let looked = testkit::settled(super::LIMIT, every, async || {
                (bed.engine.looks() > looks).then_some(()).ok_or("not looked at")
            });
            looked.await.unwrap();
        }
        let after = bed.get("", "ConfigMap", &name).await.unwrap();
        assert_eq!(value_of(Some(&after)), "2");
        let version = |live: &Value| live.str_at(&["metadata", "resourceVersion"]).to_owned();
        assert_eq!(version(&before), version(&after), "{one_id}");
        // When it is given up, it is the other's at once.
        bed.sync(&two_id, "v2", [config_map(&format!("{name}-two"), "2")]);
        bed.applied(&two_id, "v2").await;
        bed.seen("ConfigMap", &name, |live| value_of(live) == "1").await;
        bed.until(&one_id, |status| {
            status.sync == SyncState::Synced && status.warnings.is_empty() && has(status, &name)
        })
        .await;
        bed.until(&two_id, |status| {
            status.warnings.is_empty() && !has(status, &name)
        })
        .await;
        let now = bed.get("", "ConfigMap", &name).await.unwrap();
        assert_eq!(
            now.str_at(&["metadata", "uid"]),
            after.str_at(&["metadata", "uid"])
        );
    }
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shares_an_object_holds_it_after_a_restart_as_before() {
    let mut bed = Bed::start().await;
    for (id, value) in [("one", "1"), ("two", "2")] {
        let mut unit = bed.unit(id);
        unit.policy.strategy = Strategy::helm();
        bed.units.put(unit);
        bed.sync(id, "v1", [config_map("a", value)]);
        bed.applied(id, "v1").await;
    }
    let left = |status: &Status| status.sync == SyncState::OutOfSync && !has(status, "a");
    bed.until("one", left).await;
    let before = bed.get("", "ConfigMap", "a").await.unwrap();
    bed.restart().await;
    bed.engine.refresh("one");
    bed.by_hand("", config_map("a", "by hand")).await;
    bed.seen("ConfigMap", "a", |live| value_of(live) == "2").await;
    bed.until("one", |status| status.sync == SyncState::OutOfSync)
        .await;
    assert_eq!(
        bed.uid("a").await.as_deref(),
        Some(before.str_at(&["metadata", "uid"]))
    );
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_two_units_want_alike_is_one_for_both_and_goes_with_the_last() {
    let bed = Bed::start().await;
    let ids = ["one", "two"];
    for id in ids {
        let mut unit = bed.unit(id);
        unit.policy.strategy = Strategy::helm();
        bed.units.put(unit);
        bed.sync(id, "v1", [config_map("a", "1"), config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    for id in ids {
        let both = |status: &Status| status.sync == SyncState::Synced && status.warnings.len() == 1;
        bed.until(id, both).await;
    }
    bed.sync("one", "v2", [config_map("one", "1")]);
    bed.applied("one", "v2").await;
    assert!(bed.uid("a").await.is_some());
    bed.sync("two", "v2", [config_map("two", "1")]);
    bed.applied("two", "v2").await;
    assert!(bed.uid("a").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_is_deleted_leaves_what_another_wants() {
    let bed = Bed::start().await;
    for id in ["one", "two"] {
        let mut unit = bed.unit(id);
        unit.policy.strategy = Strategy::helm();
        bed.units.put(unit);
        bed.sync(id, "v1", [config_map("a", "1"), config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    let uid = bed.uid("a").await;
    let delete = Operation {
        delete: true,
        ..Operation::default()
    };
    bed.ask("one", delete);
    bed.until("one", |status| status.inventory.entries.is_empty())
        .await;
    assert!(bed.uid("one").await.is_none());
    assert_eq!(bed.uid("a").await, uid);
    bed.units.remove("one");
    bed.engine.refresh("one");
    bed.until("two", |status| status.warnings.is_empty() && has(status, "a"))
        .await;
    bed.finish().await;
}

/// All that is in a namespace goes with it, whoever wants it.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_stays_as_long_as_another_unit_wants_something_in_it() {
    let bed = Bed::start().await;
    let name = format!("{}-more", bed.space);
    let namespace = model::value!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name.as_str()) },
    });
    bed.sync("tenant", "v1", [namespace, config_map("tenant", "1")]);
    bed.applied("tenant", "v1").await;
    let mut inside = config_map("inside", "1");
    inside.set_at(&["metadata", "namespace"], name.as_str());
    bed.sync("app", "v1", [inside, config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.sync("tenant", "v2", [config_map("tenant", "1")]);
    let status = bed.applied("tenant", "v2").await;
    assert!(has(&status, &name), "it is not forgotten");
    let namespaces = bed.resource("", "Namespace").await;
    let is_deleted = async || {
        let live = bed.cluster.get(&namespaces, "", &name).await.unwrap();
        live.is_none_or(|live| live.at(&["metadata", "deletionTimestamp"]).is_some())
    };
    assert!(!is_deleted().await);
    // When nobody wants anything in it any more it goes.
    bed.sync("app", "v2", [config_map("app", "1")]);
    bed.applied("app", "v2").await;
    let every = testkit::settled::Every(Duration::from_millis(20));
    let gone = testkit::settled(super::LIMIT, every, async || match is_deleted().await {
        true => Ok(()),
        false => Err(format!("{:#?}", bed.units.unit("tenant").unwrap().status)),
    });
    gone.await.unwrap();
    bed.finish().await;
}
