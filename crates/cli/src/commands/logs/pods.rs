//! The pods whose logs count: one of each controller.

use std::cmp::Reverse;

use anyhow::{Context as _, bail};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};

use crate::commands::installation::PART_OF_FLUX;
use crate::commands::objects::told;

/// The container of a controller, where there are several.
const CONTAINER: &str = "manager";

/// A pod, and the container to ask where there are several.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) container: Option<String>,
}

/// A pod for each controller in a namespace.
pub(super) async fn of_controllers(client: &Client, namespace: &str) -> anyhow::Result<Vec<Chosen>> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let deployments = deployments
        .list(&ListParams::default().labels(PART_OF_FLUX))
        .await;
    let deployments = deployments.map_err(told).context("failed to list deployments")?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let mut chosen = Vec::new();
    for deployment in deployments {
        let template = deployment.spec.and_then(|spec| spec.template.metadata);
        let labels = template.and_then(|metadata| metadata.labels).unwrap_or_default();
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let found = pods
            .list(&ListParams::default().labels(&labels.join(",")))
            .await
            .map_err(told);
        let found = found.context("failed to list pods")?.items;
        chosen.extend(found.into_iter().min_by_key(rank).map(|pod| {
            let containers = pod.spec.as_ref().map_or(0, |spec| spec.containers.len());
            Chosen {
                name: pod.name_any(),
                container: (containers > 1).then(|| CONTAINER.to_owned()),
            }
        }));
    }
    if chosen.is_empty() {
        bail!("no Flux pods found in namespace {namespace:?}: --flux-namespace names another");
    }
    Ok(chosen)
}

/// Running pods come first, of these those that are ready, and of these the newest.
fn rank(pod: &Pod) -> (bool, bool, Reverse<Option<jiff::Timestamp>>) {
    let status = pod.status.as_ref();
    let is_running = status.and_then(|status| status.phase.as_deref()) == Some("Running");
    let mut conditions = status
        .into_iter()
        .filter_map(|status| status.conditions.as_ref())
        .flatten();
    let is_ready = conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
    (!is_running, !is_ready, Reverse(created))
}
