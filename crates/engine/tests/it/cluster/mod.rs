//! Requests to one API server, on the embedded and on a real one.

mod connect;
mod discovery;
mod faults;
mod objects;
mod proxy;
mod watch;

use engine::cluster::Cluster;
use model::{Value, value};

/// The engine's handle to a test's cluster.
fn of(cluster: &testkit::Cluster) -> Cluster {
    Cluster::new(cluster.client())
}

fn config_map(namespace: &str, name: &str, text: &str) -> Value {
    value!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace },
        "data": { "text": text },
    })
}

/// A definition whose names belong to one test.
fn definition(plural: &str, kind: &str, versions: &[&str]) -> serde_json::Value {
    let group = format!("{plural}.engine.sluice.dev");
    let versions: Vec<serde_json::Value> = versions
        .iter()
        .enumerate()
        .map(|(at, version)| {
            serde_json::json!({
                "name": version, "served": true, "storage": at == 0,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            })
        })
        .collect();
    serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind },
            "versions": versions,
        },
    })
}
