//! HelmRepository.

use std::io::Read;

use api::source::HelmRepositorySpec;
use controllers::sources::HelmRepositories;
use serde_json::{Value, json};
use testkit::helm::{Chart, Server};
use testkit::http::Fault;

use super::bed::{Bed, condition};

type HelmBed = Bed<HelmRepositorySpec>;

async fn started() -> HelmBed {
    let mut bed = HelmBed::start().await;
    bed.run(HelmRepositories::new);
    bed
}

#[tokio::test]
async fn an_index_is_stored_as_json_and_followed() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.create("charts", json!({"url": charts.url(), "interval": "1s"}))
        .await;
    let object = bed.ready("charts", "True", "Succeeded").await;
    let status = object.status.clone().unwrap();
    let artifact = status.artifact.clone().unwrap();
    let revision = artifact.revision.to_string();
    let hex = revision.strip_prefix("sha256:").unwrap();
    let folder = format!("helmrepository/{}/charts", bed.namespace);
    assert_eq!(artifact.path, format!("{folder}/index-{hex}.yaml"));
    assert_eq!(status.url, Some(format!("http://store.test/{folder}/index.yaml")));
    let ready = condition(&object, "Ready").unwrap();
    assert_eq!(ready.message, format!("stored artifact: revision '{revision}'"));
    let mut text = String::new();
    bed.store
        .read(&artifact)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(index["entries"]["podinfo"][0]["version"], "6.1.0");
    charts.add(&Chart::new("podinfo", "6.2.0"));
    bed.until("charts", |object| {
        let artifact = object.status.as_ref().and_then(|status| status.artifact.as_ref());
        artifact.is_some_and(|artifact| artifact.revision.to_string() != revision)
            && condition(object, "ArtifactOutdated").is_none()
    })
    .await;
    charts.fail(Fault::status(404).forever());
    let failed = bed.ready("charts", "False", "Failed").await;
    bed.store.read(&failed.status.unwrap().artifact.unwrap()).unwrap();
}

#[tokio::test]
async fn credentials_are_shown_and_half_of_them_refused() {
    let charts = Server::builder().basic("ada", "geheim").start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.secret("full", "Opaque", json!({"username": "ada", "password": "geheim"}))
        .await;
    bed.secret("half", "Opaque", json!({"username": "ada"})).await;
    for (name, status, reason) in [
        ("full", "True", "Succeeded"),
        ("half", "False", "AuthenticationFailed"),
        ("none", "False", "AuthenticationFailed"),
    ] {
        let spec = json!({"url": charts.url(), "interval": "1h", "secretRef": {"name": name}});
        bed.create(name, spec).await;
        bed.ready(name, status, reason).await;
    }
}

#[tokio::test]
async fn what_is_no_index_is_told_as_such() {
    let charts = testkit::http::Server::serve(|_: &testkit::http::Request| {
        testkit::http::Reply::text("<html>not an index</html>")
    });
    let bed = started().await;
    bed.create("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    bed.ready("charts", "False", "IndexationFailed").await;
    bed.create(
        "oci",
        json!({"url": "oci://example.com/charts", "interval": "1h"}),
    )
    .await;
    let object = bed.ready("oci", "False", "URLInvalid").await;
    assert!(condition(&object, "Stalled").is_some());
}

/// H1, X7: a place in a registry is nothing to work on
#[tokio::test]
async fn a_place_in_a_registry_has_an_empty_status_and_no_finalizer() {
    let charts = Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let bed = started().await;
    bed.create("oci", json!({"url": "oci://example.com/charts", "type": "oci"}))
        .await;
    let empty = |object: &api::source::HelmRepository| {
        let status = serde_json::to_value(&object.status).unwrap();
        status == json!({}) || status == Value::Null
    };
    let object = bed.until("oci", |object| empty(object)).await;
    assert_eq!(object.metadata.finalizers, None);
    // One with an index that becomes a place in a registry leaves nothing behind.
    bed.create("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    let object = bed.ready("charts", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    let change = json!({"spec": {"url": "oci://example.com/charts", "type": "oci"}});
    bed.patch("charts", change).await;
    let object = bed.until("charts", |object| empty(object)).await;
    assert!(object.metadata.finalizers.unwrap_or_default().is_empty());
    assert!(bed.store.read(&artifact).is_err());
}
