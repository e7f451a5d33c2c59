//! A cluster takes all definitions, and the typed client finds them.

use api::source::{GitRepository, GitRepositorySpec};
use kube::Api;
use kube::api::PostParams;
use testkit::Cluster;

/// X2: a cluster takes the schemas
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
        assert_eq!(
            definition.str_at(&["metadata", "labels", "app.kubernetes.io/version"]),
            concat!("v", env!("CARGO_PKG_VERSION")),
            "{name}"
        );
        let versions = definition.list_at(&["spec", "versions"]);
        let stored = versions
            .iter()
            .filter(|version| version.at(&["storage"]).and_then(|v| v.as_bool()) == Some(true));
        assert_eq!(stored.count(), 1, "{name}");
    }
}

/// Kind, versions with the current one first, short names, the last category, columns.
const KINDS: [(&str, &str, &str, &str, &str); 15] = [
    (
        "GitRepository",
        "v1 v1beta1 v1beta2",
        "gitrepo",
        "fluxcd-sources",
        "URL Age Ready Status",
    ),
    (
        "OCIRepository",
        "v1 v1beta2",
        "ocirepo",
        "fluxcd-sources",
        "URL Ready Status Age",
    ),
    (
        "HelmRepository",
        "v1 v1beta1 v1beta2",
        "helmrepo",
        "fluxcd-sources",
        "URL Age Ready Status",
    ),
    (
        "HelmChart",
        "v1 v1beta1 v1beta2",
        "hc",
        "fluxcd-sources",
        "Chart Version Source Kind Source Name Age Ready Status",
    ),
    (
        "Bucket",
        "v1 v1beta1 v1beta2",
        "",
        "fluxcd-sources",
        "Endpoint Age Ready Status",
    ),
    (
        "ExternalArtifact",
        "v1",
        "ea",
        "fluxcd-sources",
        "Age Ready Status Source",
    ),
    (
        "ArtifactGenerator",
        "v1beta1",
        "ag",
        "fluxcd-sources",
        "Age Ready Status",
    ),
    (
        "Kustomization",
        "v1 v1beta1 v1beta2",
        "ks",
        "fluxcd-appliers",
        "Age Ready Status",
    ),
    (
        "HelmRelease",
        "v2 v2beta1 v2beta2",
        "hr",
        "fluxcd-appliers",
        "Age Ready Status",
    ),
    (
        "Provider",
        "v1beta3 v1beta1 v1beta2",
        "",
        "fluxcd-notifications",
        "Age",
    ),
    (
        "Alert",
        "v1beta3 v1beta1 v1beta2",
        "",
        "fluxcd-notifications",
        "Age",
    ),
    (
        "Receiver",
        "v1 v1beta1 v1beta2",
        "",
        "fluxcd-notifications",
        "Age Ready Status",
    ),
    (
        "ImageRepository",
        "v1 v1beta1 v1beta2",
        "imgrepo imagerepo",
        "fluxcd-images",
        "Image Tags Ready Status Last scan Age",
    ),
    (
        "ImagePolicy",
        "v1 v1beta1 v1beta2",
        "imgpol imagepol",
        "fluxcd-images",
        "Image Tag Ready Status Age",
    ),
    (
        "ImageUpdateAutomation",
        "v1 v1beta1 v1beta2",
        "iua imgupd imgauto",
        "fluxcd-images",
        "Ready Status Last run Age",
    ),
];

#[test]
fn kinds_are_called_and_shown_as_upstream_does() {
    let definitions = api::definitions();
    assert_eq!(definitions.len(), KINDS.len());
    for (kind, versions, short, category, columns) in KINDS {
        let definition = definitions
            .iter()
            .find(|definition| definition.names().kind == kind)
            .unwrap();
        let value = definition.to_value();
        let words = |path: &[&str]| {
            let words = value
                .list_at(path)
                .iter()
                .map(|word| word.as_str().unwrap().to_owned());
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(&["spec", "names", "shortNames"]), short, "{kind}");
        assert_eq!(
            words(&["spec", "names", "categories"]),
            format!("all fluxcd {category}"),
            "{kind}"
        );
        let names = |list: &[model::Value]| {
            list.iter()
                .map(|value| value.str_at(&["name"]).to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let served = value.list_at(&["spec", "versions"]);
        assert_eq!(names(served), versions, "{kind}");
        for version in served {
            assert_eq!(
                names(version.list_at(&["additionalPrinterColumns"])),
                columns,
                "{kind}"
            );
        }
    }
}
