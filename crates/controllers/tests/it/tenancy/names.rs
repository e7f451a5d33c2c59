//! Names of a spec are part of request paths, and must not lead to another request.

use api::source::GitRepositorySpec;
use controllers::sources::GitRepositories;
use serde_json::json;

use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::{Bed, condition};

const OTHER: &str = "../../other/secrets/x";

/// The cluster was asked for whatever the path led to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_name_objects_and_not_paths() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    for (name, more, reason) in [
        (
            "kubeconfig",
            json!({"kubeConfig": {"secretRef": {"name": OTHER}}}),
            "ReconciliationFailed",
        ),
        (
            "variables",
            json!({"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "x?watch=1"}]}}),
            "BuildFailed",
        ),
        (
            "keys",
            json!({"decryption": {"provider": "sops", "secretRef": {"name": OTHER}}}),
            "BuildFailed",
        ),
    ] {
        setting.create(name, more).await;
        let object = setting.bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains("is not valid: use letters"), "{name}: {message}");
    }
}

#[tokio::test]
async fn sources_name_secrets_and_not_paths() {
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.run(GitRepositories::new);
    let spec = json!({"url": "https://git.example/app", "interval": "1h", "secretRef": {"name": OTHER}});
    bed.create("app", spec).await;
    let object = bed.ready("app", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("is not valid: use letters"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_name_objects_and_not_paths() {
    let setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    for (name, more) in [
        ("storage", json!({"storageNamespace": "../other"})),
        ("target", json!({"targetNamespace": "a?b"})),
        (
            "values",
            json!({"valuesFrom": [{"kind": "Secret", "name": OTHER}]}),
        ),
    ] {
        setting.create(name, more).await;
        setting
            .bed
            .until(name, |object| {
                let ready = condition(object, "Ready");
                ready.is_some_and(|ready| {
                    ready.status.to_string() == "False" && ready.message.contains("is not valid: use letters")
                })
            })
            .await;
    }
    let asked = setting.asked.all();
    assert!(!asked.iter().any(|asked| asked.contains("other")), "{asked:?}");
}
