//! What is told of a Kustomization: its status, its history and events; and what it may not do.

use api::kustomize::Kustomization;
use controllers::kustomizations::Settings;
use k8s_openapi::api::core::v1::{Event, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

fn statuses(object: &Kustomization) -> Vec<String> {
    let history = &object.status.as_ref().unwrap().history;
    history
        .iter()
        .map(|entry| entry.last_reconciled_status.clone())
        .collect()
}

/// `history`: the newest first, one entry for each digest and ending, five at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_has_the_last_five() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "0"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let mut last = String::new();
    for value in 1..=6 {
        last = setting
            .commit(&[("one.yaml", &config_map("one", &value.to_string()))])
            .await;
        setting.applied("app", &last).await;
    }
    let object = setting.applied("app", &last).await;
    assert_eq!(statuses(&object), ["ReconciliationSucceeded"; 5]);
    let history = object.status.unwrap().history;
    assert_eq!(history[0].metadata["revision"], last);
    assert!(history[0].digest.starts_with("sha256:"), "{}", history[0].digest);
    assert!(
        history
            .windows(2)
            .all(|pair| pair[0].last_reconciled >= pair[1].last_reconciled)
    );
    // What was there before is that again.
    let back = setting.commit(&[("one.yaml", &config_map("one", "5"))]).await;
    let object = setting.applied("app", &back).await;
    let history = object.status.unwrap().history;
    assert_eq!((history.len(), history[0].total_reconciliations), (5, 2));
}

/// AP2, AP11, I5: what the server refuses is told as Flux tells it, nothing of the revision is pruned, and what was applied before stays in the inventory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revision_that_the_server_refuses_changes_nothing() {
    let setting = Setting::with(&[
        ("one.yaml", &config_map("one", "1")),
        ("two.yaml", &config_map("two", "1")),
    ])
    .await;
    setting.create("app", json!({})).await;
    let before = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting
        .server
        .repository("app")
        .change("main")
        .file("one.yaml", config_map("one", "2"))
        .file("three.yaml", config_map("Not_A_Name", "1"))
        .delete("two.yaml")
        .commit();
    setting.fetch().await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let told = condition(&object, "Ready").unwrap().message;
    let space = &setting.bed.namespace;
    assert!(
        told.starts_with(&format!(
            "ConfigMap/{space}/Not_A_Name dry-run failed (Invalid): "
        )),
        "{told}"
    );
    setting.value("one", Some("1")).await;
    setting.value("two", Some("1")).await;
    let (before, after) = (before.status.unwrap(), object.status.unwrap());
    assert_eq!(after.inventory, before.inventory);
    assert_eq!(after.last_applied_revision, before.last_applied_revision);
    assert_ne!(after.last_attempted_revision, before.last_attempted_revision);
}

/// `force`, AP7: what cannot be changed is refused, and made anew by force alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_changed_is_made_anew_by_force() {
    let sealed = |value: &str| format!("{}immutable: true\n", config_map("one", value));
    let setting = Setting::with(&[("one.yaml", &sealed("1"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let uid = setting.config_maps().get("one").await.unwrap().uid();
    setting.commit(&[("one.yaml", &sealed("2"))]).await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let told = condition(&object, "Ready").unwrap().message;
    assert!(told.contains("immutable"), "{told}");
    setting.bed.patch("app", json!({"spec": {"force": true}})).await;
    setting.value("one", Some("2")).await;
    assert_ne!(setting.config_maps().get("one").await.unwrap().uid(), uid);
}

/// `serviceAccountName`: what is done is done as that account, which may not be allowed to. `--default-service-account` is for those that name none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_done_is_done_as_the_account_of_the_object() {
    let settings = Settings {
        default_service_account: Some("powerless".to_owned()),
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "powerless"}})).unwrap();
    accounts.create(&Default::default(), &account).await.unwrap();
    setting.create("app", json!({})).await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let told = condition(&object, "Ready").unwrap().message;
    let who = format!("system:serviceaccount:{}:powerless", setting.bed.namespace);
    assert!(told.contains(&who), "{told}");
    setting.value("one", None).await;
}

/// `serviceAccountName`, `wait`: the rights of a tenant, who may do everything in one namespace and nothing elsewhere, are enough to see what
/// becomes of objects there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_with_the_rights_of_one_namespace_sees_its_objects_get_well() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let (client, space) = (setting.bed.cluster.client(), setting.bed.namespace.as_str());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), space);
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "tenant"}})).unwrap();
    accounts.create(&Default::default(), &account).await.unwrap();
    let binding = json!({
        "metadata": {"name": "tenant"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": space}],
    });
    let binding: RoleBinding = serde_json::from_value(binding).unwrap();
    let bindings: Api<RoleBinding> = Api::namespaced(client, space);
    bindings.create(&Default::default(), &binding).await.unwrap();
    setting
        .create(
            "app",
            json!({"serviceAccountName": "tenant", "wait": true, "timeout": "30s"}),
        )
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    // It is followed there, too: what somebody changes is put right.
    let change = Patch::Merge(json!({"data": {"a": "by hand"}}));
    setting
        .config_maps()
        .patch("one", &PatchParams::default(), &change)
        .await
        .unwrap();
    setting.value("one", Some("1")).await;
}

/// `sourceRef`: with `--no-cross-namespace-refs` only sources of the same namespace are looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_of_other_namespaces_may_be_forbidden() {
    let settings = Settings {
        no_cross_namespace_refs: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
    let elsewhere = json!({"sourceRef": {"kind": "GitRepository", "name": "app", "namespace": "elsewhere"}});
    setting.create("app", elsewhere).await;
    let object = setting.bed.ready("app", "False", "AccessDenied").await;
    assert_eq!(condition(&object, "Stalled").unwrap().reason, "AccessDenied");
    let told = condition(&object, "Ready").unwrap().message;
    assert!(
        told.contains("cross-namespace references have been blocked"),
        "{told}"
    );
}

/// `retryInterval`, `interval`: what has failed is tried again after the one, and what was fetched meanwhile is not waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_failed_is_tried_again_after_the_retry_interval() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let later = format!("{}-later", setting.bed.namespace);
    setting
        .create("app", json!({"targetNamespace": later, "retryInterval": "1s"}))
        .await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let told = condition(&object, "Ready").unwrap().message;
    assert!(told.contains(&later), "{told}");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}});
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(setting.bed.cluster.client());
    let by = PatchParams::apply("test");
    namespaces
        .patch(&later, &by, &Patch::Apply(&namespace))
        .await
        .unwrap();
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    namespaces.delete(&later, &Default::default()).await.unwrap();
}

/// Events: what changed, and that it is done, with the revision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_is_told_in_events() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let revision = object.status.unwrap().last_applied_revision.unwrap();
    let told = setting
        .bed
        .until_event(|event| {
            let message = event.message.as_deref().unwrap_or_default();
            message.starts_with("Reconciliation finished in ") && message.ends_with(", next run in 1h0m0s")
        })
        .await;
    assert_eq!(told.reason.as_deref(), Some("ReconciliationSucceeded"));
    let annotations = told.metadata.annotations.unwrap_or_default();
    assert_eq!(
        annotations
            .get("kustomize.toolkit.fluxcd.io/revision")
            .map(String::as_str),
        Some(revision.as_str())
    );
}

/// `requestedAt`: whoever asks for a run in which nothing is to be done finds the answer in the status, in one write: no Event is made
/// of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_somebody_asks_for_and_that_changes_nothing_makes_no_event() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({"wait": true})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    for token in ["first", "second"] {
        let request = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
        setting.bed.patch("app", request).await;
        let is_answered = |object: &Kustomization| {
            let status = object.status.as_ref();
            status.is_some_and(|status| status.last_handled_reconcile_at.as_deref() == Some(token))
        };
        setting.bed.until("app", is_answered).await;
    }
    // Events are made one after the other: with that of the next revision, all before it are there.
    let last = setting.commit(&[("one.yaml", &config_map("one", "2"))]).await;
    let is_finished = |event: &Event| {
        let message = event.message.as_deref().unwrap_or_default();
        message.starts_with("Reconciliation finished in ")
    };
    let revision = |event: &Event| {
        let annotations = event.metadata.annotations.as_ref();
        annotations.and_then(|all| all.get("kustomize.toolkit.fluxcd.io/revision").cloned())
    };
    let is_last = |event: &Event| is_finished(event) && revision(event).as_deref() == Some(&*last);
    setting.bed.until_event(is_last).await;
    let events: Api<Event> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let told = events.list(&Default::default()).await.unwrap();
    let counts: Vec<i32> = told
        .iter()
        .filter(|event| is_finished(event))
        .map(|event| event.count.unwrap_or_default())
        .collect();
    assert_eq!(counts, [1, 1], "one of each revision");
}
