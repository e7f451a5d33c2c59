//! A cluster takes all definitions, and the typed client finds them.

use api::source::{GitRepository, GitRepositorySpec};
use kube::Api;
use kube::api::PostParams;
use testkit::Cluster;

#[tokio::test]
async fn a_cluster_serves_all_kinds_and_the_typed_client_reads_them() {
    let cluster = Cluster::start().await;
    for definition in api::crds() {
        cluster
            .establish(&serde_json::to_value(definition).unwrap())
            .await;
    }
    let namespace = cluster.namespace("api").await;
    let repositories: Api<GitRepository> = Api::namespaced(cluster.client(), &namespace);
    let spec = GitRepositorySpec {
        url: "https://example.com/app".into(),
        interval: "90s".parse().unwrap(),
        ..GitRepositorySpec::default()
    };
    let created = repositories
        .create(&PostParams::default(), &GitRepository::new("app", spec))
        .await
        .unwrap();
    assert_eq!(created.spec.timeout, Some(api::Duration::from_secs(60)));
    assert_eq!(created.status.unwrap().observed_generation, Some(-1));
    let listed = repositories.list(&Default::default()).await.unwrap();
    assert_eq!(listed.items[0].spec.interval.to_string(), "1m30s");
    cluster.finish().await;
}

#[test]
fn each_definition_has_what_the_flux_program_looks_for() {
    for definition in api::crds() {
        let name = definition.str_at(&["metadata", "name"]).to_owned();
        let substitute = [
            "metadata",
            "annotations",
            "kustomize.toolkit.fluxcd.io/substitute",
        ];
        assert_eq!(definition.str_at(&substitute), "disabled", "{name}");
        assert_eq!(
            definition.str_at(&["metadata", "labels", "app.kubernetes.io/part-of"]),
            "flux",
            "{name}"
        );
        let versions = definition.list_at(&["spec", "versions"]);
        let stored = versions
            .iter()
            .filter(|version| version.at(&["storage"]).and_then(|v| v.as_bool()) == Some(true));
        assert_eq!(stored.count(), 1, "{name}");
    }
}
