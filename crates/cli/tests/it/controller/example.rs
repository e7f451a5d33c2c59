//! The infrastructure part of the repository that Flux's documentation is about, `fluxcd/flux2-kustomize-helm-example`: charts by
//! HelmReleases, and after them what needs their definitions. It converges, also when the program is killed at random on the way.
//!
//! It runs where `SLUICE_FLUX_EXAMPLE` names a checkout of that repository, alone: the program works on all namespaces. `SLUICE_KILLS` and
//! `SLUICE_KILL_SEED` are as for sources. The files are as they are in the repository. Two things stand for what is not part of Sluice yet
//! or not to be had here: the test makes the ExternalArtifact that an ArtifactGenerator would make of the directory, and the charts are
//! small ones of a registry beside it, to which `spec.patches` of the Kustomization leads the OCIRepositories.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::archive::{File, tgz};
use testkit::helm::Chart;
use testkit::http::{Builder, Reply, Request};
use testkit::oci;

use super::bed::{Bed, is_ready};
use super::kill::choices;
use super::program::Program;

const KILLS: usize = 100;
const LIMIT: Duration = Duration::from_secs(180);
const LONGEST_RUN: u64 = 800;
/// Where the objects of the repository are.
const NAMESPACE: &str = "flux-system";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_infrastructure_of_fluxs_example_converges_however_often_it_is_killed() {
    let Some(example) = testkit::program::named_by("SLUICE_FLUX_EXAMPLE") else {
        return;
    };
    let (mut random, kills) = choices(KILLS);
    let site = Site::start(&example).await;
    for kill in 0..kills {
        if kill == kills / 2 {
            site.publish(&example, "2").await;
        }
        let program = site.program();
        tokio::time::sleep(Duration::from_millis(random.u64(..LONGEST_RUN))).await;
        program.kill();
    }
    site.publish(&example, "3").await;
    let program = site.program();
    for name in ["infra-controllers", "infra-configs"] {
        site.ready(&program, name, "latest@3").await;
    }
    let issuer = site
        .get(
            "cert-manager.io",
            "v1",
            "ClusterIssuer",
            "clusterissuers",
            "letsencrypt",
        )
        .await;
    let server = issuer.data["spec"]["acme"]["server"].as_str().unwrap();
    assert_eq!(server, "https://acme-staging-v02.api.letsencrypt.org/directory");
    site.get(
        "gateway.networking.k8s.io",
        "v1",
        "GatewayClass",
        "gatewayclasses",
        "envoy",
    )
    .await;
    program.stop().await;
}

struct Site {
    bed: Bed,
    charts: oci::Server,
    /// Where artifacts are, for as long as this server is.
    url: String,
    _server: Box<dyn Any + Send + Sync>,
    served: Arc<Mutex<Vec<u8>>>,
}

impl Site {
    async fn start(example: &Path) -> Self {
        let bed = Bed::simulated().await;
        for definition in api::definitions() {
            bed.cluster
                .serve(&serde_json::to_value(definition.to_value()).unwrap())
                .await;
        }
        let charts = oci::Server::start();
        for chart in [cert_manager(), gateway()] {
            let repository = format!("charts/{}", chart.name());
            charts.push(&repository, chart.version(), &chart.artifact());
        }
        let served = Arc::new(Mutex::new(Vec::new()));
        let content = Arc::clone(&served);
        let answer = move |_: &Request| Reply::ok("application/gzip", content.lock().clone());
        let server = Builder::new(answer).start();
        let site = Site {
            url: server.url(),
            _server: Box::new(server),
            bed,
            charts,
            served,
        };
        site.apply(
            "",
            "v1",
            "Namespace",
            "namespaces",
            None,
            &json!({"metadata": {"name": NAMESPACE}}),
        )
        .await;
        site.publish(example, "1").await;
        for object in kustomizations(example) {
            let object = site.led_to_our_charts(object);
            let group = "kustomize.toolkit.fluxcd.io";
            site.apply(
                group,
                "v1",
                "Kustomization",
                "kustomizations",
                Some(NAMESPACE),
                &object,
            )
            .await;
        }
        site
    }

    /// The patches that lead to the registry of this test.
    fn led_to_our_charts(&self, mut object: Value) -> Value {
        if object["metadata"]["name"] != "infra-controllers" {
            return object;
        }
        let patch = |name: &str| {
            let url = format!("oci://{}/charts/{name}", self.charts.host());
            json!({
                "target": {"kind": "OCIRepository", "name": name},
                "patch": json!([
                    {"op": "replace", "path": "/spec/url", "value": url},
                    {"op": "add", "path": "/spec/insecure", "value": true},
                ]).to_string(),
            })
        };
        object["spec"]["patches"] = json!([patch("cert-manager"), patch("gateway-helm")]);
        object
    }

    /// Says that the directory has another revision.
    async fn publish(&self, example: &Path, revision: &str) {
        let mut files = Vec::new();
        collect(&example.join("infrastructure"), "", &mut files);
        // Another revision has other content, as a commit elsewhere would make.
        files.push(File::new("REVISION", revision));
        let content = tgz(&files);
        let (digest, size) = (testkit::digest::sha256(&content), content.len());
        *self.served.lock() = content;
        let group = "source.toolkit.fluxcd.io";
        let object = json!({"metadata": {"name": "infrastructure"}, "spec": {}});
        self.apply(
            group,
            "v1",
            "ExternalArtifact",
            "externalartifacts",
            Some(NAMESPACE),
            &object,
        )
        .await;
        let status = json!({"status": {
            "artifact": {
                "path": format!("externalartifact/{revision}.tar.gz"), "url": format!("{}/{revision}.tar.gz", self.url),
                "revision": format!("latest@{revision}"), "digest": digest, "size": size, "lastUpdateTime": "2026-01-02T03:04:05Z",
            },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact",
                "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1,
            }],
        }});
        let api = self.api(
            group,
            "v1",
            "ExternalArtifact",
            "externalartifacts",
            Some(NAMESPACE),
        );
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(&status));
        api.patch_status("infrastructure", &parameters, &patch)
            .await
            .unwrap();
    }

    fn program(&self) -> Program {
        let flags = [
            "--watch-all-namespaces=true",
            "--feature-gates=ExternalArtifact=true",
            "--requeue-dependency=1s",
        ];
        self.bed.program().with_all().with(&flags).start()
    }

    fn api(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        match namespace {
            Some(namespace) => Api::namespaced_with(self.bed.cluster.client(), namespace, &resource),
            None => Api::all_with(self.bed.cluster.client(), &resource),
        }
    }

    async fn apply(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        namespace: Option<&str>,
        object: &Value,
    ) {
        let api = self.api(group, version, kind, plural, namespace);
        let mut object = object.clone();
        let prefix = if group.is_empty() {
            String::new()
        } else {
            format!("{group}/")
        };
        object["apiVersion"] = json!(format!("{prefix}{version}"));
        object["kind"] = json!(kind);
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let applied = api
            .patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(&object))
            .await;
        applied.unwrap_or_else(|error| panic!("{kind}/{name}: {error}"));
    }

    async fn get(&self, group: &str, version: &str, kind: &str, plural: &str, name: &str) -> DynamicObject {
        self.api(group, version, kind, plural, None)
            .get(name)
            .await
            .unwrap()
    }

    async fn ready(&self, program: &Program, name: &str, revision: &str) {
        let api = self.api(
            "kustomize.toolkit.fluxcd.io",
            "v1",
            "Kustomization",
            "kustomizations",
            Some(NAMESPACE),
        );
        let start = Instant::now();
        loop {
            let status = api.get(name).await.unwrap().data["status"].clone();
            if is_ready(&status) && status["lastAppliedRevision"] == revision {
                return;
            }
            assert!(
                start.elapsed() < LIMIT,
                "{name}: {status}\nit said:\n{}",
                program.said()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

/// The Kustomizations of the infrastructure, as the repository has them.
fn kustomizations(example: &Path) -> Vec<Value> {
    let path = example.join("clusters/staging/infrastructure.yaml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let objects =
        yaml::documents(&text).map(|document| serde_json::to_value(document.unwrap().value).unwrap());
    objects.filter(|one| one.is_object()).collect()
}

pub(super) fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => collect(&entry.path(), &format!("{path}/"), files),
            false => files.push(File::new(&path, std::fs::read(entry.path()).unwrap())),
        }
    }
}

/// A chart with the one kind of cert-manager that the repository uses, and with something that comes up.
fn cert_manager() -> Chart {
    let definition = definition("cert-manager.io", "ClusterIssuer", "clusterissuers");
    Chart::new("cert-manager", "1.20.0")
        .template("definition.yaml", &definition)
        .template("deployment.yaml", &deployment("cert-manager"))
}

fn gateway() -> Chart {
    Chart::new("gateway-helm", "1.8.0")
        .file(
            "crds/class.yaml",
            definition("gateway.networking.k8s.io", "GatewayClass", "gatewayclasses"),
        )
        .file(
            "crds/gateway.yaml",
            definition("gateway.networking.k8s.io", "Gateway", "gateways"),
        )
        .template("deployment.yaml", &deployment("envoy-gateway"))
}

fn definition(group: &str, kind: &str, plural: &str) -> String {
    let scope = if kind == "Gateway" {
        "Namespaced"
    } else {
        "Cluster"
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            // The group is kept for definitions that were agreed on.
            "annotations": {"api-approved.kubernetes.io": "https://example.com/test"},
        },
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
    .to_string()
}

fn deployment(name: &str) -> String {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "one", "image": "registry.example.com/one:1"}]},
            },
        },
    })
    .to_string()
}
