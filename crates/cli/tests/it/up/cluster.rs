//! Directories that hold the files of clusters.

use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};

use super::process::Up;
use super::{NAMESPACE, PAGE};

/// What `flux bootstrap` puts into a repository, in short.
const BOOTSTRAP: &str = "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1m
  url: ssh://git@git.example.com/fleet
  ref: {branch: main}
  secretRef: {name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 10m
  path: ./clusters/dev
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
";

const COMPONENTS: &str = "apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
  labels: {app.kubernetes.io/part-of: flux}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: source-controller
  namespace: flux-system
  labels: {app.kubernetes.io/part-of: flux}
spec:
  selector:
    matchLabels: {app: source-controller}
  template:
    metadata:
      labels: {app: source-controller}
    spec:
      containers: [{name: manager, image: source-controller}]
";

const SYNC: &str = "apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [gotk-components.yaml, gotk-sync.yaml]
";

fn app(path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: app, namespace: flux-system}}
spec:
  interval: 10m
  path: {path}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
"
    )
}

pub(super) fn fleet() -> Up {
    Up::new()
        .file("clusters/dev/app.yaml", &app("./app"))
        .file("clusters/dev/flux-system/gotk-sync.yaml", BOOTSTRAP)
        .file("clusters/dev/flux-system/gotk-components.yaml", COMPONENTS)
        .file("clusters/dev/flux-system/kustomization.yaml", SYNC)
        .file("app/a.yaml", NAMESPACE)
        .file("app/page.yaml", PAGE)
}

/// The repository that its own objects point to is the directory, and the controllers of Flux are those of this process.
#[tokio::test]
async fn a_bootstrapped_repository_is_followed_where_it_is() {
    let up = fleet().start();
    up.said("ready     Kustomization/flux-system/app").await;
    let client = up.client().await;
    let kind = GroupVersionKind::gvk("source.toolkit.fluxcd.io", "v1", "GitRepository");
    let resource = ApiResource::from_gvk_with_plural(&kind, "gitrepositories");
    let sources: Api<DynamicObject> = Api::namespaced_with(client.clone(), "flux-system", &resource);
    let source = sources.get("flux-system").await.unwrap();
    let url = source.data["spec"]["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let deployments: Api<Deployment> = Api::namespaced(client, "flux-system");
    assert!(deployments.get_opt("source-controller").await.unwrap().is_none());
    // What is saved goes all the way.
    up.write("app/page.yaml", &PAGE.replace("hello", "changed"));
    up.said("changed   ConfigMap/shop/page").await;
    up.remove("clusters/dev/app.yaml");
    up.said("pruned    Kustomization/flux-system/app").await;
}

#[test]
fn of_several_clusters_one_is_to_be_chosen() {
    let (code, text) = fleet().file("clusters/prod/app.yaml", &app("./app")).once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("--path: clusters/dev, clusters/prod"), "{text}");
    let (code, text) = fleet()
        .file("clusters/prod/app.yaml", &app("./app"))
        .argument("--path=clusters/prod")
        .once();
    assert_eq!(code, Some(0), "{text}");
}

/// One that fails is told with its file, and so is one that waits for it in vain.
#[test]
fn a_unit_that_fails_is_told_and_the_others_go_on() {
    let (code, text) = fleet()
        .file(
            "clusters/dev/other.yaml",
            &app("./missing").replace("name: app", "name: other"),
        )
        .once();
    assert_eq!(code, Some(1), "{text}");
    let (_, reasons) = text
        .split_once("not ready:\n")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(reasons.contains("Kustomization/flux-system/other: "), "{text}");
    assert!(reasons.contains("missing"), "{text}");
    assert!(text.contains("ready     Kustomization/flux-system/app"), "{text}");
}
