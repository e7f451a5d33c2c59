//! What came from where, and by whom: `tree`, `trace` and `stats` beside the real `flux`, where it is installed.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::bed::{Bed, conditions};
use super::program::same_as_flux;

const KUSTOMIZATION: (&str, &str, &str, &str) = (
    "kustomize.toolkit.fluxcd.io",
    "v1",
    "Kustomization",
    "kustomizations",
);
const RELEASE: (&str, &str, &str, &str) = ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases");
const SOURCE: &str = "source.toolkit.fluxcd.io";
const CONFIG_MAP: (&str, &str, &str, &str) = ("", "v1", "ConfigMap", "configmaps");

fn labels(bed: &Bed, group: &str, name: &str) -> Value {
    json!({format!("{group}/name"): name, format!("{group}/namespace"): bed.namespace})
}

async fn labelled(bed: &Bed, name: &str, group: &str, by: &str) -> Value {
    let metadata = json!({"name": name, "labels": labels(bed, group, by)});
    bed.add(CONFIG_MAP, json!({"metadata": metadata}), None).await
}

/// A Kustomization that has applied another, a release and objects of all sorts.
async fn kustomizations(bed: &Bed) {
    let namespace = &bed.namespace;
    let entries = [
        format!("_{namespace}__Namespace"),
        "_system__admin_rbac.authorization.k8s.io_ClusterRole".to_owned(),
        format!("{namespace}_settings__ConfigMap"),
        format!("{namespace}_web_apps_Deployment"),
        format!("{namespace}_root_kustomize.toolkit.fluxcd.io_Kustomization"),
        format!("{namespace}_inner_kustomize.toolkit.fluxcd.io_Kustomization"),
        format!("{namespace}_release_helm.toolkit.fluxcd.io_HelmRelease"),
        format!("{namespace}_new_source.toolkit.fluxcd.io_GitRepository"),
    ];
    let inventory = |entries: &[String]| {
        let entries: Vec<Value> = entries.iter().map(|id| json!({"id": id, "v": "v1"})).collect();
        json!({"entries": entries})
    };
    let spec =
        |kind: &str| json!({"interval": "1m", "prune": true, "sourceRef": {"kind": kind, "name": "told"}});
    for (name, spec, entries) in [
        ("root", spec("OCIRepository"), &entries[..]),
        ("inner", spec("Bucket"), &[format!("{namespace}_deep__Secret")]),
        ("empty", spec("ExternalArtifact"), &[]),
    ] {
        let status = json!({
            "inventory": inventory(entries), "lastAppliedRevision": "1.0.0@sha256:0", "conditions": conditions("Applied"),
        });
        let object = json!({"metadata": {"name": name}, "spec": spec});
        bed.add(KUSTOMIZATION, object, Some(status)).await;
    }
}

/// A release whose objects are in Helm's storage, and one of each way to name a chart.
async fn releases(bed: &Bed) {
    let manifest = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n---\n# nothing\n---\napiVersion: rbac.authorization.k8s.io/v1\n\
                    kind: ClusterRole\nmetadata:\n  name: web\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: web\n  namespace: other\n";
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(
            json!({"name": "web", "manifest": manifest})
                .to_string()
                .as_bytes(),
        )
        .unwrap();
    let stored = STANDARD.encode(packed.finish().unwrap());
    let secret = json!({
        "metadata": {"name": "sh.helm.release.v1.web.v3"}, "type": "helm.sh/release.v1", "stringData": {"release": stored},
    });
    bed.add(("", "v1", "Secret", "secrets"), secret, None).await;
    let history = json!([{
        "name": "web", "namespace": "target", "version": 3, "chartName": "web", "chartVersion": "1.2.3", "configDigest": "sha256:0",
        "digest": "sha256:0", "firstDeployed": "2026-01-02T03:04:05Z", "lastDeployed": "2026-01-02T03:04:05Z", "status": "deployed",
    }]);
    let chart = |kind: &str| json!({"spec": {"chart": "web", "sourceRef": {"kind": kind, "name": "told"}}});
    for (name, chart) in [
        (
            "release",
            json!({"chart": chart("HelmRepository"), "targetNamespace": "target"}),
        ),
        ("of-git", json!({"chart": chart("GitRepository")})),
        ("of-bucket", json!({"chart": chart("Bucket")})),
        (
            "of-oci",
            json!({"chartRef": {"kind": "OCIRepository", "name": "told"}}),
        ),
        (
            "of-artifact",
            json!({"chartRef": {"kind": "ExternalArtifact", "name": "told"}}),
        ),
        (
            "of-nothing",
            json!({"chartRef": {"kind": "OCIRepository", "name": "gone"}}),
        ),
    ] {
        let mut spec = chart;
        spec["interval"] = "1m".into();
        let status = json!({
            "history": history, "storageNamespace": bed.namespace, "lastAttemptedRevision": "1.2.3",
            "helmChart": if name == "of-git" { format!("{}/told", bed.namespace) } else { String::new() },
            "conditions": conditions("Helm install succeeded"),
        });
        let status = (name != "of-bucket").then_some(status);
        bed.add(RELEASE, json!({"metadata": {"name": name}, "spec": spec}), status)
            .await;
        labelled(bed, &format!("by-{name}"), RELEASE.0, name).await;
    }
}

/// Sources that say more than those of the bed.
async fn sources(bed: &Bed) {
    let artifact = json!({
        "path": "a", "url": "http://a/b", "revision": "1.0.0@sha256:0", "digest": "sha256:0", "size": 2_500_000,
        "lastUpdateTime": "2026-01-02T03:04:05Z", "metadata": {"org.opencontainers.image.source": "https://git.test/app"},
    });
    let failed = json!([{
        "type": "Ready", "status": "False", "reason": "Failed", "message": "no such tag", "lastTransitionTime": "2026-01-02T03:04:05Z",
    }]);
    let object = json!({
        "metadata": {"name": "annotated"},
        "spec": {"interval": "1m", "url": "oci://registry.test/app", "ref": {"tag": "1.0.0"}, "suspend": true},
    });
    let kind = (SOURCE, "v1", "OCIRepository", "ocirepositories");
    bed.add(
        kind,
        object,
        Some(json!({"artifact": artifact, "conditions": failed})),
    )
    .await;
    let object = json!({
        "metadata": {"name": "annotated"},
        "spec": {
            "interval": "1m", "prune": false, "targetNamespace": "t", "path": "./a", "sourceRef": {"kind": "OCIRepository", "name": "annotated"},
        },
    });
    bed.add(KUSTOMIZATION, object, None).await;
}

/// Objects that each Kustomization has applied, and one that belongs to such an object.
async fn applied(bed: &Bed) {
    for name in ["root", "inner", "empty", "told", "annotated", "gone"] {
        labelled(bed, &format!("by-ks-{name}"), KUSTOMIZATION.0, name).await;
    }
    let owner = labelled(bed, "owner", KUSTOMIZATION.0, "told").await;
    let reference =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}]);
    let middle = json!({"metadata": {"name": "middle", "ownerReferences": reference}});
    let middle = bed.add(CONFIG_MAP, middle, None).await;
    let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "middle", "uid": middle["metadata"]["uid"]}]);
    bed.add(
        CONFIG_MAP,
        json!({"metadata": {"name": "owned", "ownerReferences": reference}}),
        None,
    )
    .await;
    bed.add(CONFIG_MAP, json!({"metadata": {"name": "alone"}}), None)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trees_traces_and_statistics_are_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let bed = Bed::start().await;
    kustomizations(&bed).await;
    releases(&bed).await;
    sources(&bed).await;
    applied(&bed).await;
    let lines = [
        "tree kustomization root",
        "tree ks root --compact",
        "tree ks root -o json",
        "tree ks root --output=yaml",
        "tree ks empty",
        "tree ks empty -o json",
        "tree ks gone",
        "trace configmap by-ks-root",
        "trace cm by-ks-inner",
        "trace ConfigMap by-ks-empty by-ks-told",
        "trace cm/by-ks-annotated configmaps/owned",
        "trace cm by-ks-gone",
        "trace cm alone by-release",
        "trace cm/by-of-git cm/by-of-bucket cm/by-of-oci cm/by-of-artifact cm/by-of-nothing",
        "trace by-ks-root --kind=ConfigMap --api-version=v1",
        "trace by-ks-root --kind=ConfigMap",
        "trace by-ks-root --api-version=v1",
        "trace cm gone",
        "trace cm",
        "trace nonsense by-ks-root",
        "stats",
    ];
    let lines = lines.map(str::to_owned);
    same_as_flux(&bed, flux.to_str().unwrap(), &lines).await;
}
