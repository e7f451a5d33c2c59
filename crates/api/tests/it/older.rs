//! Objects of older versions are taken as they were written and lose nothing in the current one.

use serde_json::Value;

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
        let spec = readable(spec);
        served.create(name, &format!("from-{name}"), &spec).await.unwrap();
        assert_eq!(
            served.read(current, &format!("from-{name}")).await["spec"],
            spec,
            "{name}"
        );
    }
    served.finish().await;
}

/// Older versions have no patterns that tell durations; they are durations all the same.
fn readable(mut spec: Value) -> Value {
    for field in ["interval", "timeout", "retryInterval"] {
        if spec[field].is_string() {
            spec[field] = "1m0s".into();
        }
    }
    spec
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
