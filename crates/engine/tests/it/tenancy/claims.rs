//! Units that list objects which they may not touch: that keeps nobody from pruning them.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use model::inventory::{Entry, Id};
use model::{Inventory, ObjectKey, Value, value};

use super::Tenants;
use crate::engine::LIMIT;
use crate::engine::fixtures::config_map;

/// An object of the platform, as the tenant lists it.
fn listed(tenants: &Tenants, name: &str) -> Value {
    let mut object = config_map(name, "1");
    object.set_at(&["metadata", "namespace"], tenants.bed.space.as_str());
    object
}

/// The platform has applied `x`, and the tenant lists it.
async fn contested(tenants: &Tenants, theirs: Value) {
    tenants.sync(
        "platform",
        "platform",
        "v1",
        [config_map("x", "1"), config_map("y", "1")],
    );
    tenants.applied("platform", "v1").await;
    tenants.sync("tenant", "tenant", "v1", [theirs, config_map("own", "1")]);
}

async fn is_pruned(tenants: &Tenants) {
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    let status = tenants.applied("platform", "v2").await;
    let entries: Vec<_> = status
        .inventory
        .entries
        .iter()
        .map(|entry| &*entry.id.0.name)
        .collect();
    assert_eq!(entries, ["y"]);
    assert_eq!(tenants.bed.uid("x").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_pruned_although_a_unit_lists_it_that_may_not_apply_it() {
    let mut tenants = Tenants::start().await;
    contested(&tenants, listed(&tenants, "x")).await;
    tenants.refused("tenant").await;
    let status = tenants.units.unit("platform").unwrap().status;
    assert!(status.warnings.is_empty(), "{:?}", status.warnings);
    tenants.restart().await;
    is_pruned(&tenants).await;
    tenants.finish().await;
}

/// What is left alone as it is there already is not dry-run at all.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_pruned_although_a_unit_lists_it_to_be_left_alone() {
    let tenants = Tenants::start().await;
    let mut theirs = listed(&tenants, "x");
    theirs.set_at(
        &["metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa"],
        "IfNotPresent",
    );
    let mut unit = tenants.bed.unit("tenant");
    unit.destination.cluster = "tenant".to_owned();
    unit.destination.namespace.clone_from(&tenants.theirs);
    tenants.units.put(unit);
    contested(&tenants, theirs).await;
    tenants
        .until("tenant", |status| {
            status.revision == "v1" || !status.errors.is_empty()
        })
        .await;
    is_pruned(&tenants).await;
    tenants.finish().await;
}

/// An object of the platform that the tenant lists and asks to leave alone.
fn skipped(tenants: &Tenants, marker: (&str, &str)) -> Value {
    let mut object = listed(tenants, "x");
    let annotation = format!("kustomize.toolkit.fluxcd.io/{}", marker.0);
    object.set_at(&["metadata", "annotations", &annotation], marker.1);
    object
}

/// What is skipped is in the inventory, as with Flux, although the server was never asked about it.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_pruned_although_a_unit_that_may_not_apply_it_skips_it() {
    let ignored = (("ssa", "Ignore"), true);
    for (marker, has_place) in [(("reconcile", "disabled"), false), ignored] {
        let mut tenants = Tenants::start().await;
        tenants.units.put(tenants.flux_unit("tenant", "tenant"));
        contested(&tenants, skipped(&tenants, marker)).await;
        let status = tenants.applied("tenant", "v1").await;
        assert_eq!(status.inventory.entries.len(), 2);
        // Looked at once more, with that inventory, by a process that looks at the tenant first.
        match has_place {
            true => tenants.restart().await,
            false => tenants.restart_without_place("tenant").await,
        }
        tenants.engine.refresh("tenant");
        tenants.engine.refresh("platform");
        tenants.bed.by_hand("", config_map("x", "by hand")).await;
        tenants
            .bed
            .seen("ConfigMap", "x", |live| {
                live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
            })
            .await;
        is_pruned(&tenants).await;
        tenants.finish().await;
    }
}

fn record(tenants: &Tenants, name: &str) -> Inventory {
    let key = ObjectKey {
        group: "".into(),
        kind: "ConfigMap".into(),
        namespace: tenants.bed.space.as_str().into(),
        name: name.into(),
    };
    Inventory {
        entries: vec![Entry {
            id: Id(key),
            version: "v1".to_owned(),
        }],
    }
}

/// Whoever may write the status of a Kustomization, or apply to a cluster of their own and then come here, has any inventory they like.
#[tokio::test(start_paused = true)]
async fn an_object_is_pruned_although_it_is_in_the_stored_inventory_of_a_unit_that_may_not_apply_it() {
    let tenants = Tenants::paused().await;
    tenants.sync(
        "platform",
        "platform",
        "v1",
        [config_map("x", "1"), config_map("y", "1")],
    );
    tenants.applied("platform", "v1").await;
    // Its source is missing, so that nobody ever knows what it wants.
    let mut unit = tenants.flux_unit("tenant", "tenant");
    unit.status.inventory = record(&tenants, "x");
    tenants.units.put(unit);
    tenants.engine.refresh("tenant");
    tenants.until("tenant", |status| !status.errors.is_empty()).await;
    is_pruned(&tenants).await;
    tenants.finish().await;
}

/// A prune that fails is tried again and again. The tenant lists what is pruned, and may not write it.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_remembered_and_a_right_that_is_granted_later_is_noticed() {
    let tenants = Tenants::paused().await;
    tenants.sync(
        "platform",
        "platform",
        "v1",
        [config_map("x", "1"), config_map("y", "1")],
    );
    tenants.applied("platform", "v1").await;
    let mut unit = tenants.flux_unit("tenant", "tenant");
    unit.status.inventory = record(&tenants, "x");
    tenants.units.put(unit);
    tenants.engine.refresh("tenant");
    tenants.until("tenant", |status| !status.errors.is_empty()).await;
    let fails = Rule::new(Fault::Internal).verb("delete").name("x");
    let faults = tenants.bed.server().faults();
    let fails = faults.add(fails);
    let asked = Rule::new(Fault::Delay(Duration::ZERO)).verb("patch").name("x");
    let asked = faults.add(asked);
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    let every = testkit::settled::Every(Duration::from_millis(100));
    let tried = testkit::settled(LIMIT, every, async || match faults.fired(fails) {
        often if often >= 15 => Ok(()),
        often => Err(often),
    });
    tried.await.unwrap();
    let (asked, failed) = (faults.fired(asked), faults.fired(fails));
    assert!(asked <= 2, "{failed} prunes had the server asked {asked} times");
    let binding = value!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "granted", "namespace": (tenants.bed.space.as_str()) },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin" },
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": (tenants.bed.test.name("tenant")),
        }],
    });
    let bindings = tenants
        .bed
        .resource("rbac.authorization.k8s.io", "RoleBinding")
        .await;
    let by = engine::cluster::Apply::by("tests");
    tenants.bed.cluster.apply(&bindings, &binding, &by).await.unwrap();
    tokio::time::sleep(Duration::from_secs(61)).await;
    faults.remove(fails);
    let status = tenants.applied("platform", "v2").await;
    assert_eq!(status.inventory.entries.len(), 2, "the tenant wants it");
    assert!(tenants.bed.uid("x").await.is_some());
    tenants.finish().await;
}

/// The opposite: what a unit has applied and may write is its own, though its source is broken and nothing but its inventory tells of it.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_in_the_stored_inventory_of_a_unit_that_may_apply_it_stays() {
    for skips in [false, true] {
        let mut tenants = Tenants::paused().await;
        let other = match skips {
            true => skipped(&tenants, ("reconcile", "disabled")),
            false => listed(&tenants, "x"),
        };
        tenants.units.put(tenants.flux_unit("other", "platform"));
        tenants.sync("other", "platform", "v1", [listed(&tenants, "x")]);
        tenants.applied("other", "v1").await;
        let uid = tenants.bed.uid("x").await;
        tenants.sync(
            "platform",
            "platform",
            "v1",
            [config_map("x", "2"), config_map("y", "1")],
        );
        tenants.applied("platform", "v1").await;
        tenants.running.end().await;
        let mut unit = tenants.units.unit("other").unwrap();
        unit.status.inventory = record(&tenants, "x");
        tenants.units.put(unit);
        match skips {
            true => tenants.sources.set("other", "v1", [other]),
            false => _ = tenants.sources.0.lock().remove("other"),
        }
        tenants.restart_without_place("other").await;
        tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
        let status = tenants.applied("platform", "v2").await;
        assert_eq!(tenants.bed.uid("x").await, uid, "{skips}");
        assert_eq!(status.inventory.entries.len(), 2, "it is not forgotten: {skips}");
        tenants.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_pruned_although_a_unit_lists_objects_in_it_that_it_may_not_apply() {
    let tenants = Tenants::start().await;
    let name = format!("{}-more", tenants.bed.space);
    let namespace = value!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name.as_str()) },
    });
    tenants.sync("platform", "platform", "v1", [namespace, config_map("y", "1")]);
    tenants.applied("platform", "v1").await;
    let mut inside = config_map("inside", "1");
    inside.set_at(&["metadata", "namespace"], name.as_str());
    tenants.sync("tenant", "tenant", "v1", [inside]);
    tenants.refused("tenant").await;
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    tenants.applied("platform", "v2").await;
    let namespaces = tenants.bed.resource("", "Namespace").await;
    let live = tenants.bed.cluster.get(&namespaces, "", &name).await.unwrap();
    let is_going = |live: &Value| live.at(&["metadata", "deletionTimestamp"]).is_some();
    assert!(live.as_ref().is_none_or(is_going), "{live:?}");
    tenants.finish().await;
}

/// Whoever has lost their rights has what they have applied before, and no more than that.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_a_unit_has_applied_stays_its_own() {
    let tenants = Tenants::start().await;
    let name = "shared";
    let mut object = config_map(name, "1");
    object.set_at(&["metadata", "namespace"], tenants.theirs.as_str());
    tenants.sync("tenant", "tenant", "v1", [object.clone()]);
    tenants.applied("tenant", "v1").await;
    tenants.sync("platform", "platform", "v1", [object, config_map("y", "1")]);
    tenants.applied("platform", "v1").await;
    let bindings = tenants
        .bed
        .resource("rbac.authorization.k8s.io", "RoleBinding")
        .await;
    let cluster = &tenants.bed.cluster;
    let options = engine::cluster::Delete::default();
    cluster
        .delete(&bindings, &tenants.theirs, "tenant", &options)
        .await
        .unwrap();
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    tenants.applied("platform", "v2").await;
    let maps = tenants.bed.resource("", "ConfigMap").await;
    let live = cluster.get(&maps, &tenants.theirs, name).await.unwrap();
    assert!(live.is_some());
    tenants.finish().await;
}

/// A kubeconfig can name the address of one cluster and lead to another by a proxy. There the tenant may do everything.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_pruned_although_a_unit_has_applied_one_of_its_name_in_a_cluster_that_only_claims_to_be_the_same()
 {
    let tenants = Tenants::start().await;
    let elsewhere = testkit::Cluster::embedded(apiserver::Server::builder());
    let other = engine::cluster::Cluster::with_agent(elsewhere.client(), "tests");
    let namespaces = other.resource("", "v1", "Namespace").await.unwrap();
    for name in [&tenants.bed.space, &tenants.theirs] {
        let namespace = value!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name.as_str()) },
        });
        let by = engine::cluster::Apply::by("tests");
        other.apply(&namespaces, &namespace, &by).await.unwrap();
    }
    tenants.names.vouched(
        "tenant",
        "https://one.example",
        ("tenant", "tenant"),
        elsewhere.client(),
    );
    contested(&tenants, listed(&tenants, "x")).await;
    tenants.applied("tenant", "v1").await;
    is_pruned(&tenants).await;
    tenants.finish().await;
}
