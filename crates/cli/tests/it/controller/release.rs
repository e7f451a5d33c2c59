//! HelmReleases of a chart in a Git repository.

use api::helm::HelmRelease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{Bed, LIMIT, is_ready};

/// A chart with a ConfigMap and a Secret of the name of the release, whose value is that of the values.
pub(super) const CHART: [(&str, &str); 4] = [
    ("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
    ("app/values.yaml", "a: one\n"),
    (
        "app/templates/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: {{ .Values.a | quote }}\n",
    ),
    (
        "app/templates/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: {{ .Values.a | b64enc }}\n",
    ),
];

/// Has the cluster serve HelmReleases and Kustomizations, and a Git server the chart, with the GitRepository `charts`.
pub(super) async fn chart(bed: &Bed) -> testkit::git::Server {
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value()).unwrap();
        let kind = &definition["spec"]["names"]["kind"];
        if kind == "HelmRelease" || kind == "Kustomization" {
            bed.cluster.serve(&definition).await;
        }
    }
    let server = testkit::git::Server::start();
    server.repository("charts").commit("main", "Start", CHART);
    let spec = json!({"url": server.clone_url("charts"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "charts", json!({}), spec).await;
    server
}

pub(super) fn releases(bed: &Bed) -> Api<HelmRelease> {
    Api::namespaced(bed.cluster.client(), &bed.namespace)
}

/// A HelmRelease of the chart, with more in its spec.
pub(super) async fn create(bed: &Bed, name: &str, more: Value) {
    let mut object = json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name},
        "spec": {
            "interval": "1h", "timeout": "20s",
            "chart": {"spec": {
                "chart": "app", "reconcileStrategy": "Revision",
                "sourceRef": {"kind": "GitRepository", "name": "charts"},
            }},
        },
    });
    for (field, value) in more.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    let object: HelmRelease = serde_json::from_value(object).unwrap();
    releases(bed).create(&Default::default(), &object).await.unwrap();
}

/// The object, once it is as it should be.
pub(super) async fn until(bed: &Bed, name: &str, holds: impl Fn(&HelmRelease) -> bool) -> HelmRelease {
    let settled = object_settled(releases(bed), name, LIMIT, |object| match object {
        Some(object) if holds(object) => Ok(object.clone()),
        Some(object) => Err(serde_json::to_string(&object.status).unwrap()),
        None => Err("it is not there".into()),
    });
    settled.await.unwrap()
}

/// Waits until a HelmRelease is ready.
pub(super) async fn ready(bed: &Bed, name: &str) -> HelmRelease {
    until(bed, name, |object| {
        let generation = object.metadata.generation;
        let status = object.status.as_ref();
        status.is_some_and(|status| {
            status.observed_generation == generation && is_ready(&serde_json::to_value(status).unwrap())
        })
    })
    .await
}

/// Deletes a HelmRelease, and waits until it and what it has made are gone.
pub(super) async fn delete(bed: &Bed, name: &str) {
    releases(bed).delete(name, &Default::default()).await.unwrap();
    let gone = object_settled(releases(bed), name, LIMIT, |object| match object {
        None => Ok(()),
        Some(_) => Err("it is still there".into()),
    });
    gone.await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    assert!(maps.get_opt(name).await.unwrap().is_none());
}
