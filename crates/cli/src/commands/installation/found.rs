//! What is installed: who has labelled it, and in which version.

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};

use crate::commands::objects::told;

/// The label of everything that is installed.
pub(crate) const PART_OF_FLUX: &str = "app.kubernetes.io/part-of=flux";

/// The definition whose labels tell of the installation.
const DEFINITION: &str = "gitrepositories.source.toolkit.fluxcd.io";

/// What the labels of the installation say.
pub(crate) struct Installation {
    /// Such as `flux-v2.9.4`; empty where nobody has said it.
    pub(crate) distribution: String,
    /// Whether a Kustomization has applied it.
    pub(crate) is_bootstrapped: bool,
}

/// The installation, if there is one.
pub(crate) async fn installation(client: &Client) -> anyhow::Result<Option<Installation>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = definitions.get_opt(DEFINITION).await.map_err(told);
    let definition = definition.with_context(|| format!("failed to get {DEFINITION}"))?;
    Ok(definition.map(|definition| {
        let labels = definition.labels();
        let label = |name: &str| labels.get(name).map(String::as_str).unwrap_or_default();
        let version = label("app.kubernetes.io/version");
        Installation {
            distribution: match label("app.kubernetes.io/part-of") {
                "" => version.to_owned(),
                whole => format!("{whole}-{version}"),
            },
            is_bootstrapped: labels.contains_key("kustomize.toolkit.fluxcd.io/namespace"),
        }
    }))
}

/// The Deployments of the controllers, by name.
pub(super) async fn deployments(client: &Client, namespace: &str) -> anyhow::Result<Vec<Deployment>> {
    let all: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let found = all
        .list(&ListParams::default().labels(PART_OF_FLUX))
        .await
        .map_err(told);
    Ok(found.context("failed to list deployments")?.items)
}

/// The images of a Deployment.
pub(super) fn images(deployment: &Deployment) -> impl Iterator<Item = &str> {
    let pod = deployment
        .spec
        .iter()
        .filter_map(|spec| spec.template.spec.as_ref());
    let containers = pod.flat_map(|pod| &pod.containers);
    containers.filter_map(|container| container.image.as_deref())
}
