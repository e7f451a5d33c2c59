//! Objects of older versions are taken as they were written and lose nothing in the current one.

use serde_json::json;

use crate::{sample, served::Served};

/// For each older version: an object with every field is created in it and read in the current version, and the other
/// way round.
async fn check(kind: &str) {
    let served = Served::start(kind).await;
    let definitions = api::definitions();
    let definition = definitions
        .iter()
        .find(|definition| definition.names().kind == kind)
        .unwrap();
    let value = serde_json::to_value(definition.to_value()).unwrap();
    let current = definition.names().version;
    for version in value["spec"]["versions"].as_array().unwrap().iter().skip(1) {
        let name = version["name"].as_str().unwrap();
        let spec = sample::of(&version["schema"]["openAPIV3Schema"]["properties"]["spec"]);
        served.create(name, &format!("from-{name}"), &spec).await.unwrap();
        assert_eq!(
            served.read(current, &format!("from-{name}")).await["spec"],
            spec,
            "{name}"
        );
    }
    served.finish().await;
}

#[tokio::test]
async fn sources_of_older_versions_lose_nothing() {
    for kind in [
        "Bucket",
        "GitRepository",
        "HelmChart",
        "HelmRepository",
        "OCIRepository",
    ] {
        check(kind).await;
    }
}

#[tokio::test]
async fn kustomizations_of_older_versions_lose_nothing() {
    check("Kustomization").await;
}

#[tokio::test]
async fn helm_releases_of_older_versions_lose_nothing() {
    check("HelmRelease").await;
}

#[tokio::test]
async fn notifications_of_older_versions_lose_nothing() {
    for kind in ["Alert", "Provider", "Receiver"] {
        check(kind).await;
    }
}

#[tokio::test]
async fn images_of_older_versions_lose_nothing() {
    for kind in ["ImagePolicy", "ImageRepository", "ImageUpdateAutomation"] {
        check(kind).await;
    }
}

#[tokio::test]
async fn what_was_once_good_is_not_refused() {
    let served = Served::start("GitRepository").await;
    // A timeout with hours, an address of another form and no keys: each is refused in v1.
    let spec =
        json!({"url": "git@example.com:app", "interval": "1h", "timeout": "1h", "verify": {"mode": "head"}});
    served.create("v1", "a", &spec).await.unwrap_err();
    served.create("v1beta1", "a", &spec).await.unwrap();
    assert_eq!(served.read("v1", "a").await["spec"], spec);
    served.finish().await;
}

#[tokio::test]
async fn a_status_can_be_written_to_an_object_that_only_an_older_version_takes() {
    let served = Served::start("GitRepository").await;
    let spec = json!({"url": "git@example.com:app", "interval": "1h", "timeout": "1h"});
    served.create("v1beta1", "a", &spec).await.unwrap();
    let updated = served
        .set_status("v1", "a", &json!({"observedGeneration": 1}))
        .await
        .unwrap();
    assert_eq!(updated["status"], json!({"observedGeneration": 1}));
    served.finish().await;
}

#[tokio::test]
async fn what_is_no_duration_is_refused_in_older_versions_too() {
    let served = Served::start("GitRepository").await;
    let spec = json!({"url": "https://example.com/app", "interval": "1d"});
    let refused = served.create("v1beta1", "a", &spec).await.unwrap_err();
    assert!(refused.contains("spec.interval"), "{refused}");
    let spec = json!({"url": "https://example.com/app", "interval": "1h30m0.5s"});
    served.create("v1beta1", "a", &spec).await.unwrap();
    served.finish().await;
}

#[tokio::test]
async fn a_manifest_may_move_from_an_older_version_to_the_current_one() {
    let served = Served::start("Kustomization").await;
    let mut spec = json!({
        "interval": "10m",
        "prune": true,
        "sourceRef": {"kind": "GitRepository", "name": "a"},
        "patchesStrategicMerge": [{"kind": "ConfigMap", "metadata": {"name": "a"}}],
        "validation": "client",
    });
    let first = served.apply("v1beta2", "a", &spec).await.unwrap();
    assert_eq!(first["spec"]["validation"], "client");
    // What the new manifest no longer has is taken away, what it still has stays.
    spec.as_object_mut().unwrap().remove("validation");
    let second = served.apply("v1", "a", &spec).await.unwrap();
    assert_eq!(second["spec"]["validation"], serde_json::Value::Null);
    assert_eq!(
        second["spec"]["patchesStrategicMerge"],
        spec["patchesStrategicMerge"]
    );
    // Applying the same again changes nothing.
    let third = served.apply("v1", "a", &spec).await.unwrap();
    assert_eq!(
        third["metadata"]["resourceVersion"],
        second["metadata"]["resourceVersion"]
    );
    served.finish().await;
}
