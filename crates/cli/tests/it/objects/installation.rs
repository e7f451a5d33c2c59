//! What is installed: `version`, `check` and `debug`, beside the real `flux` where it is installed.

use serde_json::json;

use super::bed::Bed;
use super::program::same_as_flux;

const DEPLOYMENT: (&str, &str, &str, &str) = ("apps", "v1", "Deployment", "deployments");

async fn deploy(bed: &Bed, name: &str, image: &str) {
    let labels = json!({"app": name, "app.kubernetes.io/part-of": "flux"});
    let deployment = json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "manager", "image": image}]}},
        },
    });
    let status = json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"}, {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}],
    });
    bed.add(DEPLOYMENT, deployment, Some(status)).await;
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_and_checks_are_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let flux = flux.to_str().unwrap();
    let bed = Bed::start().await;
    let nothing = ["version".to_owned(), "check".to_owned(), "check --pre".to_owned()];
    same_as_flux(&bed, flux, &nothing).await;
    deploy(
        &bed,
        "source-controller",
        "ghcr.io/fluxcd/source-controller:v1.8.5",
    )
    .await;
    deploy(
        &bed,
        "kustomize-controller",
        "localhost:5000/kustomize-controller:1.8",
    )
    .await;
    for line in [
        &["version"][..],
        &["version", "-o", "json"],
        &["version", "--client"],
    ] {
        let (theirs, ours) = tokio::join!(bed.run(flux, line), bed.sluice(line));
        let theirs = text(&theirs.stdout).replace("v2.9.4", concat!("v", env!("CARGO_PKG_VERSION")));
        // The programs have other names, which JSON sorts.
        let lines = |text: &str| {
            let text = text
                .replace("flux: ", "sluice: ")
                .replace("\"flux\"", "\"sluice\"")
                .replace(',', "");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            if text.starts_with('{') {
                lines.sort();
            }
            lines
        };
        assert_eq!(lines(&text(&ours.stdout)), lines(&theirs), "{line:?}");
        assert!(
            !ours.stdout.is_empty() && ours.status.success(),
            "{}",
            text(&ours.stderr)
        );
    }
    // A real cluster says itself that no node has run these.
    let checks: &[&[&str]] = match bed.cluster.is_real() {
        true => &[&["check", "--pre"]],
        false => &[&["check", "--pre"], &["check"]],
    };
    for line in checks {
        let (theirs, ours) = tokio::join!(bed.run(flux, line), bed.sluice(line));
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("new CLI version"));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(
            lines(&text(&ours.stderr)),
            lines(&text(&theirs.stderr)),
            "{line:?}"
        );
        assert!(
            ours.status.success() && theirs.status.success(),
            "{}",
            text(&ours.stderr)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_are_shown_from_inside_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let bed = Bed::start().await;
    let values = json!({"metadata": {"name": "values"}, "data": {"region": "eu\n", "zone": "a"}});
    bed.add(("", "v1", "ConfigMap", "configmaps"), values, None).await;
    let object = json!({
        "metadata": {"name": "varied"},
        "spec": {
            "interval": "1m", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "told"},
            "postBuild": {
                "substitute": {"zone": "b", "text": "x\ny"},
                "substituteFrom": [
                    {"kind": "ConfigMap", "name": "values"}, {"kind": "Secret", "name": "login"}, {"kind": "Secret", "name": "gone", "optional": true},
                ],
            },
        },
    });
    let history = json!([{
        "digest": "sha256:0", "firstReconciled": "2026-01-02T03:04:05Z", "lastReconciled": "2026-01-02T03:04:05Z",
        "lastReconciledDuration": "1.5s", "lastReconciledStatus": "ReconciliationSucceeded", "totalReconciliations": 3, "metadata": {"revision": "main@sha1:0"},
    }]);
    let kind = (
        "kustomize.toolkit.fluxcd.io",
        "v1",
        "Kustomization",
        "kustomizations",
    );
    bed.add(
        kind,
        object,
        Some(json!({"history": history, "observedGeneration": 1})),
    )
    .await;
    let lines = [
        "debug kustomization varied --show-vars",
        "debug ks varied --show-status",
        "debug ks varied --show-history",
        "debug ks told --show-status",
        "debug ks new --show-status",
        "debug ks new --show-history",
        "debug ks new --show-vars",
        "debug ks gone --show-vars",
        "debug ks varied",
        "debug ks varied --show-vars --show-status",
    ];
    same_as_flux(&bed, flux.to_str().unwrap(), &lines.map(str::to_owned)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_are_shown_from_inside_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let bed = Bed::start().await;
    let values = json!({"metadata": {"name": "more"}, "data": {
        "values.yaml": "z: 1\nlist: [a, b]\ndeep: {x: 1, y: text}\n", "other.yaml": "deep: {x: 2.50}\n", "single": "one,two",
    }});
    bed.add(("", "v1", "ConfigMap", "configmaps"), values, None).await;
    let object = |name: &str, from: serde_json::Value| {
        json!({
            "metadata": {"name": name},
            "spec": {
                "interval": "1m", "chartRef": {"kind": "OCIRepository", "name": "told"},
                "values": {"own": {"text": "a: b", "none": null, "yes": true}, "deep": {"y": "own"}},
                "valuesFrom": from,
            },
        })
    };
    let from = json!([
        {"kind": "ConfigMap", "name": "more"},
        {"kind": "ConfigMap", "name": "more", "valuesKey": "other.yaml"},
        {"kind": "ConfigMap", "name": "more", "valuesKey": "single", "targetPath": "deep.names"},
        {"kind": "Secret", "name": "login", "valuesKey": "password", "targetPath": "deep.password"},
        {"kind": "Secret", "name": "gone", "optional": true},
    ]);
    let history = json!([{
        "digest": "sha256:0", "name": "varied", "namespace": "objects", "version": 3, "status": "deployed", "chartName": "podinfo",
        "chartVersion": "6.0.0", "appVersion": "6.0.0", "configDigest": "sha256:1", "action": "upgrade",
        "firstDeployed": "2026-01-02T03:04:05Z", "lastDeployed": "2026-01-02T03:04:05Z",
    }]);
    let kind = ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases");
    let status = json!({"history": history, "observedGeneration": 1, "storageNamespace": "objects"});
    bed.add(kind, object("varied", from), Some(status)).await;
    bed.add(
        kind,
        object("lost", json!([{"kind": "Secret", "name": "gone"}])),
        None,
    )
    .await;
    let lines = [
        "debug helmrelease varied --show-values",
        "debug hr varied --show-status",
        "debug hr varied --show-history",
        "debug hr new --show-status",
        "debug hr new --show-history",
        "debug hr new --show-values",
        "debug hr lost --show-values",
        "debug hr gone --show-values",
        "debug hr varied",
        "debug hr varied --show-values --show-status",
    ];
    same_as_flux(&bed, flux.to_str().unwrap(), &lines.map(str::to_owned)).await;
}
