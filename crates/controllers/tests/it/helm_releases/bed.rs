//! A chart in a Git repository, and HelmReleases of it.

use std::sync::Arc;
use std::time::Duration;

use api::helm::{HelmRelease, HelmReleaseSpec};
use api::source::{
    BucketSpec, ExternalArtifactSpec, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec,
};
use controllers::helm_releases::{HelmReleases, Settings, Shared};
use controllers::sources::{GitRepositories, HelmCharts};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::ListParams;
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::cluster::object_settled;
use testkit::git;

use crate::sources::bed::{self, condition};

pub(crate) type Bed = bed::Bed<HelmReleaseSpec>;

/// `Chart.yaml` of the chart `app`.
pub(crate) const CHART: &str = "apiVersion: v2\nname: app\nversion: 1.0.0\nappVersion: \"7\"\n";

/// A ConfigMap with one value.
pub(crate) const CONFIG: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: {{ .Values.a | quote }}
";

/// All that a test needs.
pub(crate) struct Setting {
    pub(crate) bed: Bed,
    pub(crate) server: git::Server,
    /// What flags say.
    pub(crate) settings: Settings,
    /// The labels of releases that are worked on.
    pub(crate) shard: Option<String>,
    /// What the controller of HelmReleases asks the cluster for.
    pub(crate) asked: Asked,
    /// Counts what the controller of HelmReleases keeps in memory.
    pub(crate) remembered: Box<dyn Fn() -> usize + Send + Sync>,
}

/// The requests of a client.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// Waits until no request has come for a second and a half.
    pub(crate) async fn until_quiet(&self) {
        let mut before = usize::MAX;
        let every = testkit::settled::Every(Duration::from_millis(1500));
        let quiet = testkit::settled(testkit::DEADLINE, every, async || {
            let now = self.all().len();
            if std::mem::replace(&mut before, now) == now {
                Ok(())
            } else {
                Err(format!("still asking: {:?}", self.all().last()))
            }
        });
        quiet.await.unwrap();
    }

    /// Forgets all requests so far.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }

    /// All requests since they were last forgotten.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().clone()
    }

    /// A client whose requests are noted here.
    fn of(&self, client: kube::Client) -> kube::Client {
        let (asked, namespace) = (self.clone(), client.default_namespace().to_owned());
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let told = format!("{} {}", request.method(), request.uri());
            asked.0.lock().push(told);
            let client = client.clone();
            async move { client.send(request).await }
        });
        kube::Client::new(service, namespace)
    }
}

impl Setting {
    /// The chart `app` with these files besides its `Chart.yaml`, and controllers at work.
    pub(crate) async fn with(files: &[(&str, &str)]) -> Self {
        Setting::with_settings(files, Settings::default()).await
    }

    /// The same, with flags.
    pub(crate) async fn with_settings(files: &[(&str, &str)], settings: Settings) -> Self {
        let server = git::Server::start();
        let bed = Bed::start().await;
        bed.serve::<GitRepositorySpec>().await;
        bed.serve::<HelmChartSpec>().await;
        bed.serve::<HelmRepositorySpec>().await;
        bed.serve::<OciRepositorySpec>().await;
        bed.serve::<BucketSpec>().await;
        bed.serve::<ExternalArtifactSpec>().await;
        let mut all = vec![("app/Chart.yaml", CHART)];
        all.extend(files.iter().copied());
        server.repository("charts").commit("main", "Start", all);
        let mut setting = Setting {
            bed,
            server,
            settings,
            shard: None,
            asked: Asked::default(),
            remembered: Box::new(|| 0),
        };
        setting.start();
        let Setting { bed, server, .. } = &setting;
        let url = server.clone_url("charts");
        let spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
        bed.create_other::<GitRepositorySpec>("charts", spec).await;
        setting
    }

    /// Starts the controllers, or starts them again.
    pub(crate) fn start(&mut self) {
        self.bed.shard = None;
        self.bed.run(GitRepositories::new);
        self.bed.run(HelmCharts::new);
        let (client, settings) = (self.asked.of(self.bed.cluster.client()), self.settings.clone());
        self.bed.shard = self.shard.clone();
        let remembered = &mut self.remembered;
        self.bed.run_through(client.clone(), |shared| {
            let controller = HelmReleases::new(Shared {
                client,
                store: Some(shared.store),
                settings,
            });
            *remembered = Box::new(controller.remembered());
            controller
        });
    }

    /// A HelmRelease of the chart, with more in its spec.
    pub(crate) async fn create(&self, name: &str, more: Value) {
        let mut spec = json!({
            "interval": "1h", "timeout": "20s",
            "chart": {"spec": {
                "chart": "app", "reconcileStrategy": "Revision",
                "sourceRef": {"kind": "GitRepository", "name": "charts"},
            }},
        });
        let all = spec.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        let object = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": name, "namespace": self.bed.namespace},
            "spec": spec,
        });
        let object: HelmRelease = serde_json::from_value(object).unwrap();
        self.bed.api.create(&Default::default(), &object).await.unwrap();
    }

    /// Commits to the chart, and has the source look at it.
    pub(crate) async fn commit(&self, files: &[(&str, &str)]) {
        self.server
            .repository("charts")
            .commit("main", "Change", files.iter().copied());
        let api = self.bed.other::<GitRepositorySpec>();
        let token = jiff::Timestamp::now().to_string();
        let patch = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
        let patch = kube::api::Patch::Merge(patch);
        api.patch("charts", &Default::default(), &patch).await.unwrap();
    }

    /// Asks for a run, and waits until it is over.
    pub(crate) async fn ask(&self, name: &str) -> HelmRelease {
        let token = jiff::Timestamp::now().to_string();
        let annotations = json!({"reconcile.fluxcd.io/requestedAt": token});
        self.bed
            .patch(name, json!({"metadata": {"annotations": annotations}}))
            .await;
        self.bed
            .until(name, |object| {
                let status = object.status.as_ref();
                status.and_then(|status| status.last_handled_reconcile_at.as_deref()) == Some(token.as_str())
            })
            .await
    }

    /// A ConfigMap with the text of values that nothing marks.
    pub(crate) async fn set_values(&self, name: &str, values: &str) {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"values.yaml": values}});
        let parameters = kube::api::PatchParams::apply("tests").force();
        let map = kube::api::Patch::Apply(map);
        self.config_maps().patch(name, &parameters, &map).await.unwrap();
    }

    /// Waits until `Ready` of a HelmRelease is this, for this reason, with the newest generation dealt with.
    pub(crate) async fn ready(&self, name: &str, status: &str, reason: &str) -> HelmRelease {
        self.bed
            .until(name, |object| {
                let ready = condition(object, "Ready");
                ready.is_some_and(|ready| ready.status.to_string() == status && ready.reason == reason)
            })
            .await
    }

    /// Waits until a release has this number, and is deployed.
    pub(crate) async fn deployed(&self, name: &str, version: i64) -> HelmRelease {
        self.bed
            .until(name, |object| {
                let latest = object.status.as_ref().and_then(|status| status.history.first());
                let is_it =
                    latest.is_some_and(|latest| latest.version == version && latest.status == "deployed");
                let ready = condition(object, "Ready");
                is_it && ready.is_some_and(|ready| ready.status.to_string() == "True")
            })
            .await
    }

    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.bed.cluster.client(), &self.bed.namespace)
    }

    /// Waits until a ConfigMap has this value; `None` waits until it is gone.
    pub(crate) async fn value(&self, name: &str, value: Option<&str>) {
        let settled = object_settled(self.config_maps(), name, testkit::DEADLINE, |object| {
            let found = object.map(|object| object.data.as_ref().and_then(|data| data.get("a").cloned()));
            match (found, value) {
                (None, None) => Ok(()),
                (Some(Some(found)), Some(value)) if found == value => Ok(()),
                (found, _) => Err(format!("{found:?}")),
            }
        });
        settled.await.unwrap();
    }

    /// The records of a release: version and status, the oldest first.
    pub(crate) async fn records(&self, release: &str) -> Vec<(String, String)> {
        let secrets: Api<Secret> = Api::namespaced(self.bed.cluster.client(), &self.bed.namespace);
        let selected = ListParams::default().labels(&format!("owner=helm,name={release}"));
        let mut found: Vec<_> = secrets.list(&selected).await.unwrap().items;
        found.sort_by_key(|secret| secret.metadata.name.clone());
        let label = |secret: &Secret, key: &str| secret.metadata.labels.as_ref().unwrap()[key].clone();
        found
            .iter()
            .map(|secret| (label(secret, "version"), label(secret, "status")))
            .collect()
    }
}
