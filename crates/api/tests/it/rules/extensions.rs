//! The rules of artifact generators.

use serde_json::{Value, json};

use super::{check, with};

fn generator(name: &str, more: Value) -> Value {
    let copy = json!([{"from": "@a/**", "to": "@artifact/"}]);
    let sources = json!([{"alias": "a", "kind": "GitRepository", "name": "a"}]);
    with(
        &json!({"sources": sources, "artifacts": [{"name": name, "copy": copy}]}),
        more,
    )
}

const MESSAGE: &str = "artifact names must be valid Kubernetes object names when pathPattern is not set";

#[tokio::test]
async fn artifacts_without_a_path_pattern_have_names_of_objects() {
    let (good, bad) = (generator("a.b-c", json!({})), generator("{{ .name }}", json!({})));
    check("ArtifactGenerator", "v1beta1", good, bad.clone(), MESSAGE).await;
    check(
        "ArtifactGenerator",
        "v1beta1",
        with(&bad, json!({"pathPattern": "@a/apps/*"})),
        bad,
        MESSAGE,
    )
    .await;
}
