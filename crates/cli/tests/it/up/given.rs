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

async fn make_namespace(cluster: &Cluster, name: &str) {
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.into());
    namespaces.create(&Default::default(), &namespace).await.unwrap();
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

/// A namespace above all, with everything that others have in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_before_is_left_at_the_end() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    make_namespace(&cluster, "shop").await;
    let pages: Api<ConfigMap> = Api::namespaced(cluster.client(), "shop");
    for name in ["page", "others"] {
        let mut page = ConfigMap::default();
        page.metadata.name = Some(name.into());
        pages.create(&Default::default(), &page).await.unwrap();
    }
    let more = PAGE.replace("name: page", "name: more");
    let (code, text) = shop(&kubeconfig).file("more.yaml", &more).once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("left      Namespace/shop: it was there before"),
        "{text}"
    );
    assert!(
        text.contains("left      ConfigMap/shop/page: it was there before"),
        "{text}"
    );
    assert!(has_namespace(&cluster, "shop").await, "{text}");
    assert!(has_page(&cluster).await, "{text}");
    assert!(pages.get_opt("others").await.unwrap().is_some(), "{text}");
    assert!(pages.get_opt("more").await.unwrap().is_none(), "{text}");
    assert!(!has_namespace(&cluster, "flux-system").await, "{text}");
}

/// What comes from Kustomizations in the files, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_before_its_kustomization_is_left() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    make_namespace(&cluster, "shop").await;
    let up = super::cluster::fleet().argument(&format!("--kubeconfig={}", kubeconfig.display()));
    let (code, text) = up.once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("left      Namespace/shop: it was there before"),
        "{text}"
    );
    assert!(has_namespace(&cluster, "shop").await, "{text}");
    assert!(!has_page(&cluster).await, "{text}");
    assert_eq!(definitions(&cluster).await, 0, "{text}");
}

/// Nothing can be made in a namespace that is about to go, such as that of the last run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_that_is_being_deleted_is_waited_for() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    for name in ["shop", "flux-system"] {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name.into());
        namespace.metadata.finalizers = Some(vec!["example.com/slow".into()]);
        namespaces.create(&Default::default(), &namespace).await.unwrap();
        namespaces.delete(name, &Default::default()).await.unwrap();
    }
    let up = shop(&kubeconfig).start_without_kubeconfig();
    for name in ["flux-system", "shop"] {
        up.said(&format!("waiting   Namespace/{name}: it is still being deleted"))
            .await;
        let patch = serde_json::json!({"metadata": {"finalizers": null}});
        let patch = kube::api::Patch::Merge(&patch);
        namespaces.patch(name, &Default::default(), &patch).await.unwrap();
    }
    up.said("ready     ConfigMap/shop/page").await;
}

/// Else the second would prune what the first has applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_directory_of_the_same_name_needs_another_name() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let (code, text) = shop(&kubeconfig).argument("--keep").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    let other = || {
        let page = PAGE.replace("name: page", "name: other");
        Up::new()
            .file("other.yaml", &page)
            .argument(&format!("--kubeconfig={}", kubeconfig.display()))
    };
    let (code, text) = other().once_beside().await;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a name of its own with --name"), "{text}");
    assert!(has_page(&cluster).await, "{text}");
    let (code, text) = other().argument("--name=other").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(has_page(&cluster).await, "{text}");
}

/// Who has stopped their controllers has a reason for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_others_are_not_worked_on() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value()).unwrap();
        cluster.serve(&definition).await;
    }
    make_namespace(&cluster, "team").await;
    let kind = kube::core::GroupVersionKind::gvk("kustomize.toolkit.fluxcd.io", "v1", "Kustomization");
    let resource = kube::core::ApiResource::from_gvk_with_plural(&kind, "kustomizations");
    let others: Api<kube::api::DynamicObject> = Api::namespaced_with(cluster.client(), "team", &resource);
    let other = serde_json::json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "app"},
        "spec": {"interval": "1m", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "none"}},
    });
    let other = serde_json::from_value(other).unwrap();
    others.create(&Default::default(), &other).await.unwrap();
    let (code, text) = shop(&kubeconfig).once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("team/app"), "{text}");
    let other = others.get("app").await.unwrap();
    assert!(other.data["status"]["conditions"].is_null(), "{:?}", other.data);
    // The files of a cluster need controllers that work on more than the root.
    let fleet = || super::cluster::fleet().argument(&format!("--kubeconfig={}", kubeconfig.display()));
    let (code, text) = fleet().once_beside().await;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Kustomization/team/app. Suspend them"), "{text}");
    let (code, text) = fleet().argument("--with-others").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn nothing_is_kept_in_a_cluster_that_is_gone() {
    let (code, text) = Up::new().file("a.yaml", NAMESPACE).argument("--keep").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("--keep"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_is_gone_on_with() {
    let cluster = Cluster::embedded(apiserver::Server::builder());
    let kubeconfig = cluster.kubeconfig().await;
    let files = tempfile::tempdir().unwrap();
    let folder = files.path().join("files");
    let up = Up::at(folder.to_str().unwrap())
        .file("a.yaml", NAMESPACE)
        .file("page.yaml", PAGE)
        .argument(&format!("--kubeconfig={}", kubeconfig.display()));
    let (code, text) = up.argument("--keep").once_beside().await;
    assert_eq!(code, Some(0), "{text}");
    assert!(has_page(&cluster).await, "{text}");
    std::fs::remove_file(folder.join("page.yaml")).unwrap();
    let again = Up::at(folder.to_str().unwrap()).argument(&format!("--kubeconfig={}", kubeconfig.display()));
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
