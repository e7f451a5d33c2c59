//! Releases that cannot be uninstalled, and what is told of them.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Api;
use serde_json::json;

use super::bed::{CONFIG, Setting};
use super::hands::message;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// Waits until events tell of failed uninstalls of an object, which are written after its status. Returns their messages.
async fn told(setting: &Setting, name: &str) -> Vec<String> {
    let events: Api<Event> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let every = testkit::settled::Every(Duration::from_millis(20));
    let found = testkit::settled(testkit::DEADLINE, every, async || {
        let all = events.list(&Default::default()).await.unwrap().items.into_iter();
        let of_it = all.filter(|event| {
            event.involved_object.name.as_deref() == Some(name)
                && event.reason.as_deref() == Some("UninstallFailed")
        });
        let messages: Vec<String> = of_it.filter_map(|event| event.message).collect();
        if messages.is_empty() {
            Err("no event tells of a failed uninstall")
        } else {
            Ok(messages)
        }
    });
    found.await.unwrap()
}

/// Waits until an account may not read Secrets: API servers learn of changed rights by a watch.
async fn denied(setting: &Setting, account: &str) {
    let namespace = &setting.bed.namespace;
    let reviews: Api<SubjectAccessReview> = Api::all(setting.bed.cluster.client());
    let review: SubjectAccessReview = serde_json::from_value(json!({
        "spec": {
            "user": format!("system:serviceaccount:{namespace}:{account}"),
            "resourceAttributes": {"namespace": namespace, "verb": "list", "resource": "secrets"},
        },
    }))
    .unwrap();
    let every = testkit::settled::Every(Duration::from_millis(20));
    let denied = testkit::settled(testkit::DEADLINE, every, async || {
        let answer = reviews.create(&Default::default(), &review).await.unwrap();
        if answer.status.is_some_and(|status| status.allowed) {
            Err("it is still allowed")
        } else {
            Ok(())
        }
    });
    denied.await.unwrap();
}

/// HR8, HS3: a release whose records cannot be read is not ready, in the words of a failed uninstall, and told of in them alone; with the rights it goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_cannot_be_uninstalled_says_so_until_it_can_be() {
    let setting = Setting::with(&FILES).await;
    setting.bed.account("maps", &["configmaps", "secrets"]).await;
    setting.create("web", json!({"serviceAccountName": "maps"})).await;
    setting
        .create("moved", json!({"serviceAccountName": "maps"}))
        .await;
    for name in ["web", "moved"] {
        setting.deployed(name, 1).await;
    }
    let bindings: Api<RoleBinding> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let mut binding = bindings.get("maps").await.unwrap();
    bindings.delete("maps", &Default::default()).await.unwrap();
    denied(&setting, "maps").await;
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting.change("moved", json!({"releaseName": "other"})).await;
    let space = setting.bed.namespace.clone();
    for name in ["web", "moved"] {
        let object = setting.ready(name, "False", "UninstallFailed").await;
        let begin = format!("Helm uninstall failed for release {space}/{name}.v1 with chart app@");
        let text = message(&object, "Ready");
        assert!(text.starts_with(&begin) && text.contains("forbidden"), "{text}");
        let told = told(&setting, name).await;
        assert!(told.iter().all(|text| text.starts_with(&begin)), "{told:?}");
    }
    binding.metadata.resource_version = None;
    bindings.create(&Default::default(), &binding).await.unwrap();
    setting.bed.gone("web").await;
    setting.value("web", None).await;
    setting.value("moved", None).await;
}

/// HR8: so is one whose cluster cannot be reached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_whose_cluster_is_out_of_reach_says_so_when_it_is_deleted() {
    let setting = Setting::with(&FILES).await;
    let config = setting.bed.kubeconfig(None).await;
    setting
        .bed
        .secret("far", "Opaque", json!({"value": config}))
        .await;
    setting
        .create("web", json!({"kubeConfig": {"secretRef": {"name": "far"}}}))
        .await;
    setting.deployed("web", 1).await;
    let broken = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "far"}, "stringData": {"value": "a: ["},
    });
    setting.put(broken).await;
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    let object = setting.ready("web", "False", "UninstallFailed").await;
    let text = message(&object, "Ready");
    let begin = "failed to build REST client getter to uninstall release: ";
    assert!(text.starts_with(begin), "{text}");
}
