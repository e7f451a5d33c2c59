//! A chart with values to everything that a release consists of, as the cluster of the release has it rendered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::helm::HelmRelease;
use engine::cluster::Cluster;
use helm::HelmVersion;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::chart::Chart;
use helm::release::{self, PostRenderer, Rendered, Request};
use helm::render::{self, Engine, Lookup, Release};
use kube::Client;
use model::{Map, Value, value};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::post_render::Chain;
use super::site::Site;
use super::world::WithNames;
use super::{Settings, target};
use crate::kit::chain;
use crate::sources::blocking;

/// How many bytes of templates are kept that were read.
const KEPT: usize = 16 << 20;

/// Renders charts.
pub(super) struct Renderer {
    engine: Engine,
}

/// What is to be rendered.
pub(super) struct Rendering<'r> {
    pub(super) object: &'r HelmRelease,
    pub(super) chart: &'r Arc<Chart>,
    pub(super) values: Map,
    /// The how manieth version of the release it is.
    pub(super) revision: i64,
    pub(super) is_upgrade: bool,
    pub(super) skip_schema: bool,
    pub(super) site: &'r Site,
    pub(super) settings: &'r Settings,
}

impl Renderer {
    pub(super) fn new() -> Self {
        Renderer {
            engine: Engine::remembering(KEPT),
        }
    }

    /// Renders a chart.
    ///
    /// # Errors
    /// What is wrong with it, or with its values, in the words of Helm.
    pub(super) async fn render(&self, rendering: Rendering<'_>) -> Result<Rendered, String> {
        let site = rendering.site;
        let capabilities = capabilities(&site.client, site.cluster()).await?;
        let object = rendering.object.clone();
        let (chart, values) = (Chart::clone(rendering.chart), rendering.values);
        let lookup = InCluster::new(site.cluster().clone(), Handle::current());
        let (revision, is_upgrade) = (rendering.revision, rendering.is_upgrade);
        let (skip_schema, engine) = (rendering.skip_schema, self.engine.clone());
        let strategy = target::post_render_strategy(&object, rendering.settings.helm3_defaults);
        let mut world = WithNames(rendering.settings.dns_lookups);
        let work = move || {
            let mut changes = Chain::of(&object);
            let request = Request {
                chart,
                given: values,
                release: Release {
                    name: target::release_name(&object),
                    namespace: target::namespace(&object),
                    is_upgrade,
                    revision,
                },
                capabilities,
                options: render::Options {
                    lookup: Some(Arc::new(lookup)),
                    ..render::Options::default()
                },
                skip_schema,
                sub_notes: false,
                post_renderer: Some(&mut changes as &mut dyn PostRenderer),
                strategy,
            };
            let mut warnings = Vec::new();
            let rendered = release::render(&engine, request, &mut world, &mut warnings);
            for warning in warnings {
                tracing::debug!("{warning}");
            }
            rendered.map_err(|error| chain(&error))
        };
        blocking(work).await
    }
}

/// What templates may know of the cluster.
///
/// # Errors
/// Why the cluster does not tell, in the words of Helm.
pub async fn capabilities(client: &Client, cluster: &Cluster) -> Result<Capabilities, String> {
    let failed = |why: String| format!("could not get server version from Kubernetes: {why}");
    let version = version(client).await.map_err(failed)?;
    let mut capabilities = Capabilities::default_of(HelmVersion::V4);
    capabilities.kube_version = KubeVersion::parse(&version).map_err(|error| failed(error.to_string()))?;
    capabilities.api_versions = cluster.served().await.map_err(|error| error.to_string())?;
    Ok(capabilities)
}

async fn version(client: &Client) -> Result<String, String> {
    let version = client.apiserver_version().await.map_err(|error| chain(&error))?;
    Ok(version.git_version)
}

/// The longest time that the lookups of one rendering take together.
const LOOKUPS: Duration = Duration::from_secs(120);

/// Looks objects up for the templates of one rendering.
pub struct InCluster {
    cluster: Cluster,
    runtime: Handle,
    left: Mutex<Duration>,
}

impl InCluster {
    /// Looks them up in this cluster, and waits for them on this runtime.
    pub fn new(cluster: Cluster, runtime: Handle) -> Self {
        let left = Mutex::new(LOOKUPS);
        InCluster {
            cluster,
            runtime,
            left,
        }
    }
}

impl Lookup for InCluster {
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, String> {
        let (group, version) = model::object_key::split_api_version(api_version);
        let found = async {
            let resource = match self.cluster.resource(group, version, kind).await {
                Ok(resource) => resource,
                Err(engine::cluster::Error::NoSuchKind { .. }) => return Ok(Value::object()),
                Err(error) => return Err(error.to_string()),
            };
            if name.is_empty() {
                let listed = self.cluster.list_all(&resource, namespace).await;
                let items = listed.map_err(|error| error.to_string())?;
                return Ok(value!({
                    "apiVersion": (api_version), "kind": (format!("{kind}List")), "items": (Value::Array(items)),
                }));
            }
            let found = self.cluster.get(&resource, namespace, name).await;
            found
                .map(|found| found.unwrap_or_else(Value::object))
                .map_err(|error| error.to_string())
        };
        let mut left = self.left.lock();
        let began = Instant::now();
        let found = self.runtime.block_on(async { timeout(*left, found).await });
        *left = left.saturating_sub(began.elapsed());
        found.unwrap_or_else(|_| {
            Err(format!(
                "the lookups of one rendering take longer than {LOOKUPS:?}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each lookup had a deadline of its own, and a template may have many.
    #[tokio::test]
    async fn the_lookups_of_a_rendering_have_one_deadline() {
        let silent = tower::service_fn(|_: http::Request<kube::client::Body>| {
            std::future::pending::<Result<http::Response<kube::client::Body>, std::convert::Infallible>>()
        });
        let lookup = InCluster {
            cluster: Cluster::new(Client::new(silent, "default")),
            runtime: Handle::current(),
            left: Mutex::new(Duration::from_millis(50)),
        };
        let looked_up = blocking(move || {
            let failures = (0..3).map(|_| lookup.lookup("v1", "ConfigMap", "team", "a").unwrap_err());
            (failures.collect::<Vec<_>>(), lookup)
        });
        let (failures, lookup) = looked_up.await;
        for failure in failures {
            assert!(failure.contains("take longer than"), "{failure}");
        }
        assert!(lookup.left.lock().is_zero());
    }
}
