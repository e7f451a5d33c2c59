//! A chart with values to everything that a release consists of, as the cluster of the release has it rendered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::helm::HelmRelease;
use engine::cluster::{Charge, Cluster, Listing};
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
use crate::kit::{Permits, WorkerPermit, chain};

/// How many bytes of templates are kept that were read.
const KEPT: usize = 16 << 20;

/// The longest time that a rendering takes, lookups included.
const DEADLINE: Duration = Duration::from_secs(60);

/// The most renderings at once, however many processors there are: each may take what
/// [`gotemplate::Limits`] allow by default.
const MOST: usize = 16;

/// Renders charts.
pub(super) struct Renderer {
    engine: Engine,
    permits: Permits,
}

/// Creates the permits of renderings: they take memory and processors, and wait for lookups.
fn permits() -> Permits {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Permits::new((2 * cores).clamp(4, MOST))
}

/// Tells a rendering to stop once its time is up.
fn deadline(within: Duration) -> Arc<render::Stop> {
    let began = Instant::now();
    let stop = move || {
        (began.elapsed() > within).then(|| {
            format!(
                "the rendering takes longer than {within:?}: have templates, schemas and post-renderers do less, and look up fewer objects"
            )
        })
    };
    Arc::new(stop)
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
    /// The worker of the release.
    pub(super) worker: &'r WorkerPermit,
    pub(super) site: &'r Site,
    pub(super) settings: &'r Settings,
}

impl Renderer {
    pub(super) fn new() -> Self {
        Renderer {
            engine: Engine::remembering(KEPT),
            permits: permits(),
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
        let (cluster, runtime) = (site.cluster().clone(), Handle::current());
        let namespace = target::own_namespace(&object);
        let (revision, is_upgrade) = (rendering.revision, rendering.is_upgrade);
        let (skip_schema, engine) = (rendering.skip_schema, self.engine.clone());
        let strategy = target::post_render_strategy(&object, rendering.settings.helm3_defaults);
        let mut world = WithNames(rendering.settings.dns_lookups);
        let work = move || {
            let stop = deadline(DEADLINE);
            let lookup = InCluster::within(cluster, runtime, DEADLINE);
            let mut changes = Chain::of(&object, Arc::clone(&stop));
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
                    stop: Some(stop),
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
        self.permits.run(&namespace, rendering.worker, work).await
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

/// The longest time that the lookups of one rendering take together, where the rendering has no deadline.
const LOOKUPS: Duration = Duration::from_secs(120);

/// Looks objects up for the templates of one rendering.
pub struct InCluster {
    cluster: Cluster,
    runtime: Handle,
    /// The time for all lookups together, and what is left of it.
    all: Duration,
    left: Mutex<Duration>,
    /// The parts of the cluster's budget that the objects looked up last take. They are there until the next ones are looked up.
    charges: Mutex<Vec<Charge>>,
}

impl InCluster {
    /// Looks them up in this cluster, and waits for them on this runtime.
    pub fn new(cluster: Cluster, runtime: Handle) -> Self {
        InCluster::within(cluster, runtime, LOOKUPS)
    }

    /// Does the same within this time for all lookups together.
    fn within(cluster: Cluster, runtime: Handle, all: Duration) -> Self {
        InCluster {
            cluster,
            runtime,
            all,
            left: Mutex::new(all),
            charges: Mutex::default(),
        }
    }
}

impl Lookup for InCluster {
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, String> {
        let (group, version) = model::object_key::split_api_version(api_version);
        self.charges.lock().clear();
        let found = async {
            let resource = match self.cluster.resource(group, version, kind).await {
                Ok(resource) => resource,
                Err(engine::cluster::Error::NoSuchKind { .. }) => return Ok(Value::object()),
                Err(error) => return Err(error.to_string()),
            };
            if name.is_empty() {
                let listed = self.cluster.list_all(&resource, namespace).await;
                let Listing { items, charges } = listed.map_err(|error| error.to_string())?;
                *self.charges.lock() = charges;
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
                "the lookups of one rendering take longer than {:?}",
                self.all
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::blocking;

    #[tokio::test]
    async fn a_rendering_stops_at_its_deadline_and_says_where_and_what_to_do() {
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("templates/endless.yaml", "{{ range 1000000000 }}{{ end }}"),
        ];
        let tree = helm::chart::MemoryTree::new(files);
        let chart = Chart::from_tree(&tree, "", &helm::chart::Limits::default()).unwrap();
        let stop = deadline(Duration::from_millis(1));
        let request = Request {
            chart,
            given: Map::new(),
            release: Release {
                name: "app".to_owned(),
                namespace: "team".to_owned(),
                is_upgrade: false,
                revision: 1,
            },
            capabilities: Capabilities::default_of(HelmVersion::V4),
            options: render::Options {
                stop: Some(stop),
                ..render::Options::default()
            },
            skip_schema: false,
            sub_notes: false,
            post_renderer: None,
            strategy: release::Strategy::default(),
        };
        let rendered = release::render(&Engine::new(), request, &mut WithNames(false), &mut Vec::new());
        let failure = rendered.unwrap_err().to_string();
        for part in [
            "app/templates/endless.yaml",
            "takes longer than 1ms",
            "have templates, schemas and post-renderers do less",
        ] {
            assert!(failure.contains(part), "{failure}");
        }
    }

    /// Each lookup had a deadline of its own, and a template may have many.
    #[tokio::test]
    async fn the_lookups_of_a_rendering_have_one_deadline() {
        let silent = tower::service_fn(|_: http::Request<kube::client::Body>| {
            std::future::pending::<Result<http::Response<kube::client::Body>, std::convert::Infallible>>()
        });
        let cluster = Cluster::new(Client::new(silent, "default"));
        let lookup = InCluster::within(cluster, Handle::current(), Duration::from_millis(50));
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
