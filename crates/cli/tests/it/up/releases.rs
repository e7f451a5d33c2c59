//! HelmReleases in the files.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use testkit::cluster::Cluster;

use super::NAMESPACE;
use super::process::Up;

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  interval: 10m
  driftDetection: {mode: enabled}
  chart:
    spec:
      chart: ./charts/web
      sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  upgrade:
    timeout: 5s
    remediation: {retries: 1, remediateLastFailure: true}
  values: {text: hello}
";

const TEMPLATE: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  text: {{ .Values.text | quote }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
      annotations: {{ toYaml (.Values.annotations | default dict) | nindent 8 }}
    spec:
      containers:
      - name: web
        image: web:1
";

/// A cluster with a chart, and a release of it.
fn shop() -> Up {
    Up::new()
        .file("clusters/dev/namespace.yaml", NAMESPACE)
        .file("clusters/dev/web.yaml", RELEASE)
        .file(
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        )
        .file("charts/web/templates/web.yaml", TEMPLATE)
}

fn pages(client: kube::Client) -> Api<ConfigMap> {
    Api::namespaced(client, "shop")
}

#[test]
fn a_release_of_a_chart_in_the_files_becomes_ready() {
    let (code, text) = shop().once();
    assert_eq!(code, Some(0), "{text}");
    for part in [
        "created   HelmRelease/shop/web",
        "installed HelmRelease/shop/web:\n  Helm install succeeded for release shop/web.v1 with chart web@1.0.0\n",
        "ready     HelmChart/flux-system/shop-web: 1.0.0\n",
        "ready     HelmRelease/shop/web: 1.0.0, 2 objects",
        "ready     Deployment/shop/web: Deployment is available. Replicas: 1",
        // The namespace, the HelmRelease, and the two objects of the chart.
        "all 4 objects are ready",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_chart_that_is_saved_is_released_and_what_others_change_is_put_right() {
    let up = shop().start();
    up.said("ready     HelmRelease/shop/web: 1.0.0, 2 objects").await;
    up.write("clusters/dev/web.yaml", &RELEASE.replace("hello", "changed"));
    up.said("upgraded  HelmRelease/shop/web:\n  Helm upgrade succeeded for release shop/web.v2")
        .await;
    let pages = pages(up.client().await);
    let text = async || pages.get("web").await.unwrap().data.unwrap()["text"].clone();
    assert_eq!(text().await, "changed");
    up.write(
        "charts/web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.1.0\n",
    );
    up.said("upgraded  HelmRelease/shop/web:\n  Helm upgrade succeeded for release shop/web.v3 with chart web@1.1.0").await;
    let patch = Patch::Merge(serde_json::json!({"data": {"text": "somebody else's"}}));
    pages.patch("web", &PatchParams::default(), &patch).await.unwrap();
    up.said("drifted   HelmRelease/shop/web:").await;
    up.until("the text put right", async || text().await == "changed")
        .await;
}

/// The release before stays, and `--once` says why the new one is not there.
#[tokio::test]
async fn an_upgrade_that_fails_is_told_and_rolled_back() {
    let up = shop().start();
    up.said("ready     HelmRelease/shop/web").await;
    let broken = format!("{RELEASE}    \n").replace(
        "values: {text: hello}",
        "values: {text: broken, annotations: {simulator.sluice.dev/outcome: image-pull}}",
    );
    up.write("clusters/dev/web.yaml", &broken);
    let text = up.said("rolled back HelmRelease/shop/web:").await;
    assert!(
        text.contains("failed    HelmRelease/shop/web:\n  Helm upgrade failed for release shop/web"),
        "{text}"
    );
    let pages = pages(up.client().await);
    up.until("the text of before", async || {
        pages.get("web").await.unwrap().data.unwrap()["text"] == "hello"
    })
    .await;
}

#[test]
fn a_release_that_fails_decides_it_with_the_reason() {
    let (code, text) = shop()
        .file(
            "charts/web/templates/broken.yaml",
            "a: {{ required \"a name is needed\" .Values.name }}\n",
        )
        .once();
    assert_eq!(code, Some(1), "{text}");
    let (_, reasons) = text
        .split_once("not ready:\n")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(reasons.contains("HelmRelease/shop/web: "), "{text}");
    assert!(reasons.contains("web/templates/broken.yaml:1:"), "{text}");
    assert!(reasons.contains("a name is needed"), "{text}");
}

/// What a release has made goes before its namespace and the controllers do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_release_has_made_in_a_cluster_is_deleted_at_the_end() {
    let simulator = apiserver::simulator::Options::default();
    let cluster = Cluster::embedded(apiserver::Server::builder().simulator(simulator));
    let kubeconfig = cluster.kubeconfig().await;
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(cluster.client());
    let mut namespace = k8s_openapi::api::core::v1::Namespace::default();
    namespace.metadata.name = Some("shop".into());
    namespaces.create(&Default::default(), &namespace).await.unwrap();
    let up = shop().argument(&format!("--kubeconfig={}", kubeconfig.display()));
    let (code, text) = up.once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all 4 objects are ready"), "{text}");
    assert!(
        text.contains("left      Namespace/shop: it was there before"),
        "{text}"
    );
    assert!(
        pages(cluster.client()).get_opt("web").await.unwrap().is_none(),
        "{text}"
    );
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), "shop");
    assert!(
        secrets
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .is_empty(),
        "{text}"
    );
}
