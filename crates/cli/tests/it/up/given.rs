//! A cluster that is there.

use std::path::Path;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ListParams, ObjectMeta};
use testkit::cluster::Cluster;

use super::process::Up;
use super::{NAMESPACE, PAGE};

fn shop(kubeconfig: &Path) -> Up {
    Up::new()
        .file("a.yaml", NAMESPACE)
        .file("page.yaml", PAGE)
        .argument(&format!("--kubeconfig={}", kubeconfig.display()))
}

async fn has_page(cluster: &Cluster) -> bool {
    let pages: Api<ConfigMap> = Api::namespaced(cluster.client(), "shop");
    pages.get_opt("page").await.unwrap().is_some()
}

async fn definitions(cluster: &Cluster) -> usize {
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    definitions
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .len()
}

async fn has_namespace(cluster: &Cluster, name: &str) -> bool {
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let found = namespaces.get_opt(name).await.unwrap();
    // One that is being deleted is as good as gone.
    found.is_some_and(|found| found.metadata.deletion_timestamp.is_none())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_made_in_a_cluster_is_deleted_at_the_end() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let (code, text) = shop(&kubeconfig).once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all 2 objects are ready"), "{text}");
    assert!(!has_page(&cluster).await, "{text}");
    assert!(!has_namespace(&cluster, "flux-system").await, "{text}");
    assert!(!has_namespace(&cluster, "shop").await, "{text}");
    assert_eq!(definitions(&cluster).await, 0, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_is_gone_on_with() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let (code, text) = shop(&kubeconfig).argument("--keep").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(has_page(&cluster).await, "{text}");
    // Of the same name, so that it is the same unit.
    let again = Up::new()
        .file("a.yaml", NAMESPACE)
        .argument(&format!("--kubeconfig={}", kubeconfig.display()));
    let (code, text) = again.once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pruned    ConfigMap/shop/page"), "{text}");
    assert!(!has_namespace(&cluster, "shop").await, "{text}");
}

/// What others have made is never taken over, and never deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_have_made_is_left_alone() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let (code, text) = shop(&kubeconfig).argument("--keep").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    let kind = kube::core::GroupVersionKind::gvk("source.toolkit.fluxcd.io", "v1", "GitRepository");
    let resource = kube::core::ApiResource::from_gvk_with_plural(&kind, "gitrepositories");
    let sources: Api<kube::api::DynamicObject> =
        Api::namespaced_with(cluster.client(), "flux-system", &resource);
    let mut source = sources.get("files").await.unwrap();
    source.metadata = ObjectMeta {
        labels: None,
        ..source.metadata
    };
    sources
        .replace("files", &Default::default(), &source)
        .await
        .unwrap();
    let (code, text) = shop(&kubeconfig).once_beside().await;
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("GitRepository flux-system/files is in the cluster already"),
        "{text}"
    );
    assert!(has_page(&cluster).await, "{text}");
}
