//! What goes well.

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// AP10, I1: source, build, apply, status; then the same with another commit, whose leavings are pruned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_are_applied_and_what_is_gone_from_them_is_pruned() {
    let (one, two) = (config_map("one", "1"), config_map("two", "1"));
    let setting = Setting::with(&[("one.yaml", &one), ("two.yaml", &two)]).await;
    setting.create("app", json!({})).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let status = object.status.clone().unwrap();
    let revision = status.last_applied_revision.clone().unwrap();
    assert_eq!(
        condition(&object, "Ready").unwrap().message,
        format!("Applied revision: {revision}")
    );
    assert_eq!(status.last_attempted_revision.as_deref(), Some(revision.as_str()));
    assert_eq!(status.observed_generation, Some(1));
    assert!(
        condition(&object, "Reconciling").is_none(),
        "{:?}",
        status.conditions
    );
    let namespace = &setting.bed.namespace;
    let ids: Vec<String> = status
        .inventory
        .unwrap()
        .entries
        .iter()
        .map(|entry| {
            serde_json::to_value(entry).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        ids,
        [
            format!("{namespace}_one__ConfigMap"),
            format!("{namespace}_two__ConfigMap")
        ]
    );
    assert_eq!(status.history.len(), 1);
    assert_eq!(
        status.history[0].last_reconciled_status,
        "ReconciliationSucceeded"
    );
    assert_eq!(status.history[0].metadata["revision"], revision);
    let live = setting.config_maps().get("one").await.unwrap();
    assert_eq!(live.labels()["kustomize.toolkit.fluxcd.io/name"], "app");
    setting
        .bed
        .until_event(|event| {
            let message = event.message.clone().unwrap_or_default();
            message.contains(&format!("ConfigMap/{namespace}/one created"))
        })
        .await;
    setting
        .server
        .repository("app")
        .change("main")
        .file("one.yaml", config_map("one", "2"))
        .delete("two.yaml")
        .commit();
    setting.fetch().await;
    setting.value("one", Some("2")).await;
    setting.value("two", None).await;
    setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&format!("ConfigMap/{namespace}/two deleted")))
        .await;
}

/// AP5, AP12: somebody's change is put right without an interval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_is_put_right_at_once() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let patch = json!({"data": {"a": "somebody's"}});
    let maps = setting.config_maps();
    maps.patch("one", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    setting.value("one", Some("1")).await;
    setting
        .config_maps()
        .delete("one", &DeleteParams::default())
        .await
        .unwrap();
    setting.value("one", Some("1")).await;
}

/// `requestedAt`: whoever asks sees that it was done, though nothing was to be done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_answered_though_nothing_changes() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let token = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    setting.bed.patch("app", token).await;
    let object = setting
        .bed
        .until("app", |object| {
            let status = object.status.as_ref();
            status.and_then(|status| status.last_handled_reconcile_at.as_deref()) == Some("now")
        })
        .await;
    assert_eq!(condition(&object, "Ready").unwrap().status.to_string(), "True");
    assert_eq!(object.status.unwrap().history[0].total_reconciliations, 2);
}

/// `suspend`: nothing is applied, and what is deleted then stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_object_is_left_alone_and_orphans_what_it_made() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    setting.create("gone", json!({"path": "."})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.bed.patch("app", json!({"spec": {"suspend": true}})).await;
    let revision = setting.commit(&[("one.yaml", &config_map("one", "2"))]).await;
    setting.applied("gone", &revision).await;
    setting
        .bed
        .patch("app", json!({"spec": {"suspend": false}}))
        .await;
    setting.applied("app", &revision).await;
    setting.bed.patch("app", json!({"spec": {"suspend": true}})).await;
    setting.bed.delete("app").await;
    setting.value("one", Some("2")).await;
}

/// `deletionPolicy`, I6: what was made goes with the object, or stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_made_goes_with_the_object_unless_it_says_otherwise() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "1")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    setting
        .create(
            "a",
            json!({"path": "./a", "deletionPolicy": "WaitForTermination"}),
        )
        .await;
    setting
        .create("b", json!({"path": "./b", "deletionPolicy": "Orphan"}))
        .await;
    for name in ["a", "b"] {
        setting.bed.ready(name, "True", "ReconciliationSucceeded").await;
    }
    setting.bed.delete("a").await;
    setting.value("one", None).await;
    let told = format!("ConfigMap/{}/one deleted", setting.bed.namespace);
    setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&told))
        .await;
    setting.bed.delete("b").await;
    setting.value("two", Some("1")).await;
}

/// `postBuild`: variables of the spec and of ConfigMaps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_are_put_in_place() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "${a} ${b:=c}"))]).await;
    let more = json!({"postBuild": {"substitute": {"a": "x"}}});
    setting.create("app", more).await;
    setting.value("one", Some("x c")).await;
}

/// §2.8: a ConfigMap or Secret that is labelled so wakes those that read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_labelled_config_map_wakes_those_that_read_it() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "${a} ${b}"))]).await;
    let labels = json!({"reconcile.fluxcd.io/watch": "Enabled"});
    let metadata = json!({"name": "vars", "labels": labels});
    let vars = json!({"metadata": metadata, "data": {"a": "x"}});
    let vars = serde_json::from_value(vars).unwrap();
    setting
        .config_maps()
        .create(&Default::default(), &vars)
        .await
        .unwrap();
    setting
        .bed
        .secret("secret-vars", "Opaque", json!({"b": "y"}))
        .await;
    let labelled = json!({"metadata": {"labels": labels}});
    let secrets: kube::Api<Secret> =
        kube::Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let patch = |value| kube::api::Patch::Merge(value);
    secrets
        .patch("secret-vars", &Default::default(), &patch(labelled))
        .await
        .unwrap();
    let from = json!([{"kind": "ConfigMap", "name": "vars"}, {"kind": "Secret", "name": "secret-vars"}]);
    setting
        .create("app", json!({"postBuild": {"substituteFrom": from}}))
        .await;
    setting.value("one", Some("x y")).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let change = patch(json!({"data": {"a": "z"}}));
    setting
        .config_maps()
        .patch("vars", &Default::default(), &change)
        .await
        .unwrap();
    setting.value("one", Some("z y")).await;
    setting.bed.change_secret("secret-vars", json!({"b": "w"})).await;
    setting.value("one", Some("z w")).await;
}

/// I6: what the objects of a ServiceAccount that is gone have made stays, and is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_made_as_an_account_that_is_gone_stays() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let namespace = setting.bed.namespace.clone();
    let client = setting.bed.cluster.client();
    let accounts: kube::Api<ServiceAccount> = kube::Api::namespaced(client.clone(), &namespace);
    let account = serde_json::from_value(json!({"metadata": {"name": "sync"}})).unwrap();
    accounts.create(&Default::default(), &account).await.unwrap();
    let bindings: kube::Api<RoleBinding> = kube::Api::namespaced(client, &namespace);
    let binding = json!({
        "metadata": {"name": "sync"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "sync", "namespace": namespace}],
    });
    let binding = serde_json::from_value(binding).unwrap();
    bindings.create(&Default::default(), &binding).await.unwrap();
    setting.create("app", json!({"serviceAccountName": "sync"})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    accounts.delete("sync", &Default::default()).await.unwrap();
    setting.bed.delete("app").await;
    let told = format!("unable to prune objects: \nConfigMap/{namespace}/one");
    setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&told))
        .await;
    setting.value("one", Some("1")).await;
}
