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
use crate::kit::{Permits, WorkerPermit, chain};
use crate::sources::blocking;

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
    places: Places,
}

/// Limits how many renderings run at once: they take memory and processors, and wait for lookups. No namespace has more than half.
struct Places(Permits);

impl Places {
    fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Places(Permits::new((2 * cores).clamp(4, MOST)))
    }

    /// Runs work of a namespace beside the runtime. The release has no worker meanwhile, nor while it waits for a permit, so that a
    /// namespace with many slow charts holds no workers.
    async fn run<T: Send + 'static>(
        &self,
        namespace: &str,
        worker: &WorkerPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let run = async {
            let permit = self.0.acquire(namespace).await;
            // The work goes on when nobody waits for it any more, and has its permit until it ends.
            let permitted = move || {
                let done = work();
                drop(permit);
                done
            };
            blocking(permitted).await
        };
        worker.aside(run).await
    }
}

/// Tells a rendering to stop once its time is up.
fn deadline(within: Duration) -> Arc<render::Stop> {
    let began = Instant::now();
    let stop = move || {
        (began.elapsed() > within).then(|| {
            format!(
                "the rendering takes longer than {within:?}: have the templates do less and look up fewer objects"
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
            places: Places::new(),
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
        self.places.run(&namespace, rendering.worker, work).await
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
                "the lookups of one rendering take longer than {:?}",
                self.all
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use engine::workers::Workers;
    use tokio::sync::mpsc;

    use super::*;

    /// The renderings of a namespace held all blocking threads, and its releases all workers.
    #[tokio::test]
    async fn the_renderings_of_a_namespace_hold_no_workers_and_leave_places_to_others() {
        let (places, workers) = (Places(Permits::new(2)), Workers::new(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (tell, mut told) = mpsc::unbounded_channel();
        let ended = Arc::new(Mutex::new(ended));
        let slow = async || {
            let worker = workers.take().await.unwrap();
            let (tell, ended) = (tell.clone(), Arc::clone(&ended));
            let work = move || {
                tell.send(()).unwrap();
                ended.lock().recv().unwrap();
            };
            places.run("mallory", &worker, work).await;
        };
        let other = async {
            told.recv().await.unwrap();
            let worker = workers.take().await.unwrap();
            places.run("ada", &worker, || ()).await;
            let is_waiting = told.try_recv().is_err();
            end.send(()).unwrap();
            end.send(()).unwrap();
            is_waiting
        };
        let ((), (), is_waiting) = tokio::join!(slow(), slow(), other);
        assert!(is_waiting, "a namespace has one of two places");
    }

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
            "have the templates do less",
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
