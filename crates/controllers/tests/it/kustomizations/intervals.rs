//! When a Kustomization is worked on although nothing tells of a change.

use serde_json::json;

use super::bed::Setting;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: \"${a}\"\n";

/// VS: what `substituteFrom` names and nobody marks as watched is read again at the interval, however that is spread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_that_nobody_watches_are_read_again_at_the_interval() {
    let setting = Setting::with(&[("one.yaml", MAP)]).await;
    let set = async |value: &str| {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "variables"}, "data": {"a": value},
        });
        let by = kube::api::PatchParams::apply("tests").force();
        let map = kube::api::Patch::Apply(map);
        setting.config_maps().patch("variables", &by, &map).await.unwrap();
    };
    set("first").await;
    let from = json!([{"kind": "ConfigMap", "name": "variables"}]);
    let spec = json!({"interval": "2s", "postBuild": {"substituteFrom": from}});
    setting.create("app", spec).await;
    setting.value("one", Some("first")).await;
    for value in ["second", "third"] {
        set(value).await;
        setting.value("one", Some(value)).await;
    }
}

/// A source that is missing is looked for at the retry interval, one without an artifact after `--requeue-dependency`, as with Flux.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_source_is_looked_for_at_the_retry_interval() {
    let setting = Setting::with(&[("one.yaml", MAP)]).await;
    let source = json!({"kind": "GitRepository", "name": "later"});
    setting
        .create("app", json!({"sourceRef": source, "retryInterval": "1s"}))
        .await;
    let object = setting.bed.ready("app", "False", "ArtifactFailed").await;
    let message = crate::sources::bed::condition(&object, "Ready").unwrap().message;
    assert_eq!(
        message,
        "gitrepositories.source.toolkit.fluxcd.io \"later\" not found"
    );
    // Nothing is told of a source that comes without an artifact.
    let spec = json!({"url": "http://127.0.0.1:1/none", "interval": "1h", "suspend": true});
    setting
        .bed
        .create_other::<api::source::GitRepositorySpec>("later", spec)
        .await;
    setting
        .bed
        .until("app", |object| {
            let ready = crate::sources::bed::condition(object, "Ready");
            ready.is_some_and(|ready| ready.message == "Source artifact not found, retrying in 30s")
        })
        .await;
}
