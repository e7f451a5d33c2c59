//! Objects that are made anew by force, although something keeps the old ones for a while.

use std::time::Duration;

use apiserver::Server;
use apiserver::fault::{Fault, Rule};
use engine::cluster::Write;
use engine::unit::{Phase, SyncUnit};
use model::{Value, value};

use super::gate::Gate;
use super::{Bed, argo, config_map, definition, refused_service, slow, widget};

/// A config map that cannot be changed.
fn fixed(key: &str) -> Value {
    let mut object = config_map("a", key);
    object.set_at(&["immutable"], true);
    object
}

/// Makes everything anew that cannot be changed, and tries nothing twice.
fn forcing(bed: &Bed, seconds: u64) -> SyncUnit {
    let mut unit = bed.unit("shop");
    unit.policy.options.force = true;
    unit.policy.options.stage_seconds = seconds;
    unit.policy.retry = Duration::from_secs(3600);
    unit
}

/// Somebody keeps the object, or lets it go.
async fn finalizers(bed: &Bed, finalizers: Value) {
    let config_maps = bed.resource("", "ConfigMap").await;
    let (patch, by) = (
        value!({ "metadata": { "finalizers": finalizers } }),
        Write::by("hand"),
    );
    let patched = bed
        .cluster
        .merge_patch(&config_maps, &bed.space, "a", &patch, &by);
    patched.await.unwrap();
}

async fn kept(bed: &Bed) -> String {
    bed.sync("shop", "v1", [fixed("1")]);
    bed.applied("shop", "v1").await;
    finalizers(bed, value!(["example.com/kept"])).await;
    bed.uid("a").await.unwrap()
}

/// AP7
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_anew_by_force_is_applied_when_what_keeps_the_old_one_lets_it_go() {
    let bed = Bed::start().await;
    bed.units.put(forcing(&bed, 600));
    let before = kept(&bed).await;
    bed.sync("shop", "v2", [fixed("2"), config_map("b", "2")]);
    let status = bed.waits("shop").await;
    let message = &status.operation.unwrap().message;
    assert_eq!(message, "waiting for objects that are made anew to be gone");
    // Nobody is held up: there are two workers, and three units besides this one.
    for id in ["one", "two", "three"] {
        bed.sync(id, "v1", [config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    finalizers(&bed, value!([])).await;
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    assert_ne!(live.str_at(&["metadata", "uid"]), before);
    bed.finish().await;
}

/// AP7
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_anew_by_force_and_never_goes_is_a_timeout_that_names_it() {
    let bed = Bed::start().await;
    bed.units.put(forcing(&bed, 1));
    kept(&bed).await;
    bed.sync("shop", "v2", [fixed("2")]);
    let status = bed.phase("shop", Phase::Failed).await;
    let told = format!(
        "ConfigMap/{}/a timeout waiting for it to be deleted, to be made anew: something keeps it; look at its finalizers",
        bed.space
    );
    assert_eq!(status.errors, [told]);
    finalizers(&bed, value!([])).await;
    bed.engine.refresh("shop");
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

/// All objects of its kind would go with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_not_made_anew_by_force() {
    let bed = Bed::start().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    bed.units.put(SyncUnit {
        id: "def".to_owned(),
        ..forcing(&bed, 60)
    });
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    let mut other = definition(group);
    other.set_at(&["spec", "scope"], "Cluster");
    bed.sync("def", "v2", [other, config_map("def", "2")]);
    let status = bed.until("def", |status| !status.errors.is_empty()).await;
    assert!(status.errors[0].contains("immutable"), "{:?}", status.errors);
    assert!(bed.get(group, "Widget", "w").await.is_some());
    bed.finish().await;
}

/// The same object is changed when it is tried again.
#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_no_reason_to_make_an_object_anew() {
    let bed = Bed::on(testkit::Cluster::embedded(Server::builder())).await;
    bed.units.put(forcing(&bed, 60));
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("a").await;
    for dry_runs in [0, 1] {
        let conflict = Rule::new(Fault::Conflict).verb("patch").name("a");
        let conflict = conflict.client("sluice-engine").nth(dry_runs + 1);
        let conflict = bed.server().faults().add(conflict);
        let revision = format!("v2-{dry_runs}");
        bed.sync("shop", &revision, [config_map("a", &revision)]);
        let status = bed.until("shop", |status| !status.errors.is_empty()).await;
        assert!(status.errors[0].contains("ConfigMap"), "{:?}", status.errors);
        assert_eq!(bed.server().faults().fired(conflict), 1);
        assert_eq!(bed.uid("a").await, before);
        bed.engine.refresh("shop");
        bed.applied("shop", &revision).await;
        assert_eq!(bed.uid("a").await, before);
    }
    bed.finish().await;
}

/// What could not be made afterwards is not deleted.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_by_force_for_what_the_server_would_not_create() {
    let bed = Bed::start().await;
    let service = |port: i64| {
        let mut service = refused_service();
        service.set_at(&["spec"], value!({ "ports": [{ "port": port }] }));
        service
    };
    bed.units.put(forcing(&bed, 60));
    bed.sync("shop", "v1", [service(80)]);
    bed.applied("shop", "v1").await;
    let before = bed.get("", "Service", "x").await.unwrap();
    bed.sync("shop", "v2", [service(99999)]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].contains("dry-run failed (Invalid)"),
        "{:?}",
        status.errors
    );
    let after = bed.get("", "Service", "x").await.unwrap();
    assert_eq!(after, before);
    bed.finish().await;
}

/// A quota, a policy or a right that is missing would keep it away: an update is refused before any of them is asked.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_by_force_where_the_server_calls_it_immutable_and_would_not_create_it() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    bed.units.put(forcing(&bed, 60));
    bed.sync("shop", "v1", [fixed("1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("a").await;
    gate.refuse(|line| line.starts_with("POST ") && line.contains("/configmaps"));
    bed.sync("shop", "v2", [fixed("2")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(status.errors[0].contains("immutable"), "{:?}", status.errors);
    assert_eq!(bed.uid("a").await, before);
    assert!(!gate.seen().iter().any(|line| line.starts_with("DELETE ")));
    gate.open();
    bed.engine.refresh("shop");
    bed.applied("shop", "v2").await;
    assert_ne!(bed.uid("a").await, before);
    bed.finish().await;
}

/// Whether it could be made is of interest to nobody then.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_not_asked_to_make_anew_what_is_refused_without_force() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    bed.sync("shop", "v1", [fixed("1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [fixed("2")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(status.errors[0].contains("immutable"), "{:?}", status.errors);
    let asked = |line: &String| line.starts_with("POST ") && line.contains("/configmaps");
    assert!(!gate.seen().iter().any(asked));
    bed.finish().await;
}

/// `Replace=true,Force=true`
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_replaced_by_force_with_what_the_server_would_not_create() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let forced = |key: &str| argo(config_map("a", key), "sync-options", "Replace=true,Force=true");
    bed.sync("shop", "v1", [forced("1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("a").await;
    gate.refuse(|line| line.starts_with("POST ") && line.contains("/configmaps"));
    bed.sync("shop", "v2", [forced("2"), config_map("b", "2")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].contains("the gate is closed"),
        "{:?}",
        status.errors
    );
    assert_eq!(bed.uid("a").await, before);
    // Nothing else of the stage was written either.
    assert!(bed.uid("b").await.is_none());
    bed.finish().await;
}

/// What was looked at may be deleted, not what has taken its place since.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_taken_the_place_of_an_object_since_the_plan_is_not_deleted_by_force() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.options.force = true;
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let last = |key: &str| argo(config_map("a", key), "sync-wave", "1");
    bed.sync("shop", "v1", [last("1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [slow("first"), last("2")]);
    bed.waits("shop").await;
    bed.delete("a").await;
    bed.by_hand("", fixed("theirs")).await;
    let theirs = bed.uid("a").await;
    bed.outcome("first", "done").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(status.errors[0].contains("immutable"), "{:?}", status.errors);
    assert_eq!(bed.uid("a").await, theirs);
    bed.finish().await;
}

/// AP7: not all servers call immutable what cannot be changed.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_made_anew_by_force_whatever_the_server_calls_it() {
    let bed = Bed::start().await;
    let binding = |role: &str| {
        value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": "reads" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": [{ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ann" }],
        })
    };
    const GROUP: &str = "rbac.authorization.k8s.io";
    bed.units.put(forcing(&bed, 60));
    bed.sync("shop", "v1", [binding("view")]);
    bed.applied("shop", "v1").await;
    let before = bed.get(GROUP, "RoleBinding", "reads").await.unwrap();
    bed.sync("shop", "v2", [binding("edit")]);
    bed.applied("shop", "v2").await;
    let after = bed.get(GROUP, "RoleBinding", "reads").await.unwrap();
    assert_eq!(after.str_at(&["roleRef", "name"]), "edit");
    assert_ne!(
        after.str_at(&["metadata", "uid"]),
        before.str_at(&["metadata", "uid"])
    );
    bed.finish().await;
}
