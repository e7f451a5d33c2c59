//! The HelmReleases of the benchmark, and their chart: the same four objects that Kustomizations have.

use serde_json::{Value, json};
use testkit::helm::Chart;

use super::manifests;
use super::workload::NAMESPACE;

/// Where charts are in the registry.
pub(crate) const CHARTS: &str = "charts";
/// The name of the chart, and of the HelmRepository that has it.
pub(crate) const PODINFO: &str = "podinfo";

/// The chart.
pub(crate) fn chart() -> Chart {
    let mut chart = Chart::new(PODINFO, "6.9.0")
        .metadata("appVersion", "6.9.0")
        .values("replicaCount: 1\nserviceAccount: {enabled: false}\ningress: {enabled: false}\nresources: {requests: {cpu: 1m}}\n");
    for (path, text) in manifests::files(1) {
        let text = text
            .replace("${INDEX}", "{{ .Release.Name }}")
            .replace("${PODS:=0}", "{{ .Values.replicaCount }}")
            .replace("${MCPU:=1m}", "{{ .Values.resources.requests.cpu }}");
        let switch = match path {
            "service-account.yaml" => Some("serviceAccount"),
            "ingress.yaml" => Some("ingress"),
            _ => None,
        };
        let text = match switch {
            Some(switch) => format!("{{{{- if .Values.{switch}.enabled }}}}\n{text}{{{{- end }}}}\n"),
            None => text,
        };
        chart = chart.template(path, &text);
    }
    chart
}

/// The HelmRepository, which is a place in the registry.
pub(crate) fn repository(host: &str) -> Value {
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
        "metadata": {"name": PODINFO, "namespace": NAMESPACE},
        "spec": {"type": "oci", "interval": "12h", "insecure": true, "url": format!("oci://{host}/{CHARTS}")},
    })
}

/// A HelmRelease.
pub(crate) fn release(name: &str) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name},
        "spec": {
            "interval": "60m",
            "chart": {"spec": {
                "chart": PODINFO, "version": "*", "interval": "600m",
                "sourceRef": {"kind": "HelmRepository", "name": PODINFO},
            }},
            "driftDetection": {"mode": "enabled"},
            "install": {"crds": "Create"},
            "upgrade": {"crds": "CreateReplace"},
            "values": {
                "replicaCount": 0,
                "serviceAccount": {"enabled": true},
                "ingress": {"enabled": true},
                "resources": {"requests": {"cpu": "1m"}},
            },
        },
    })
}

/// What an upgrade changes.
pub(crate) fn upgrade() -> Value {
    json!({"spec": {"values": {"resources": {"requests": {"cpu": "2m"}}}}})
}
