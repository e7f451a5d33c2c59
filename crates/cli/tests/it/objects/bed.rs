//! A cluster with an object of each kind, some of which say how they are.

use std::path::PathBuf;
use std::process::Output;

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use testkit::Cluster;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub(super) struct Bed {
    pub(super) cluster: Cluster,
    pub(super) namespace: String,
    pub(super) kubeconfig: PathBuf,
}

impl Bed {
    pub(super) async fn start() -> Self {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("objects").await;
        for definition in api::definitions() {
            cluster
                .serve(&serde_json::to_value(definition.to_value()).unwrap())
                .await;
        }
        let kubeconfig = cluster.kubeconfig().await;
        let bed = Bed {
            cluster,
            namespace,
            kubeconfig,
        };
        let secrets: Api<Secret> = Api::namespaced(bed.cluster.client(), &bed.namespace);
        let login = json!({
            "metadata": {"name": "login", "labels": {"a": "b"}},
            "stringData": {"username": "ada", "password": "geheim"},
        });
        let login = serde_json::from_value(login).unwrap();
        secrets.create(&PostParams::default(), &login).await.unwrap();
        for (group, version, kind, plural, spec, status) in kinds() {
            bed.create((group, version, kind, plural), "told", spec.clone(), Some(status))
                .await;
            bed.create((group, version, kind, plural), "new", spec, None)
                .await;
        }
        bed
    }

    fn api(&self, (group, version, kind, plural): (&str, &str, &str, &str)) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(self.cluster.client(), &self.namespace, &resource)
    }

    async fn create(&self, kind: (&str, &str, &str, &str), name: &str, spec: Value, status: Option<Value>) {
        let object = json!({
            "metadata": {"name": name, "labels": {"team": name}, "annotations": {"note": "a b"}},
            "spec": spec,
        });
        self.add(kind, object, status).await;
    }

    /// Creates an object in the namespace of the others. Its kind is `(group, version, kind, plural)`.
    pub(super) async fn add(
        &self,
        kind: (&str, &str, &str, &str),
        mut object: Value,
        status: Option<Value>,
    ) -> Value {
        object["apiVersion"] = match kind.0 {
            "" => kind.1.into(),
            group => format!("{group}/{}", kind.1).into(),
        };
        object["kind"] = kind.2.into();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let api = self.api(kind);
        let object = serde_json::from_value(object).unwrap();
        let created = api.create(&PostParams::default(), &object).await.unwrap();
        // Some kinds have no status.
        if let Some(status) = status.filter(|status| !status.is_null()) {
            let patch = json!({"status": status});
            let patch = Patch::Merge(&patch);
            api.patch_status(&name, &PatchParams::default(), &patch)
                .await
                .unwrap();
        }
        serde_json::to_value(created).unwrap()
    }

    pub(super) async fn source(&self, name: &str) -> Value {
        let kind = (
            "source.toolkit.fluxcd.io",
            "v1",
            "GitRepository",
            "gitrepositories",
        );
        serde_json::to_value(self.api(kind).get_opt(name).await.unwrap()).unwrap()
    }

    /// Runs a program against the cluster; the embedded one answers meanwhile.
    pub(super) async fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = tokio::process::Command::new(program);
        command
            .args(arguments)
            .arg(format!("--kubeconfig={}", self.kubeconfig.display()))
            .arg(format!("--namespace={}", self.namespace))
            .arg("--timeout=30s")
            .kill_on_drop(true);
        command.output().await.unwrap()
    }

    /// Runs ours.
    pub(super) async fn sluice(&self, arguments: &[&str]) -> Output {
        self.run(env!("CARGO_BIN_EXE_sluice"), arguments).await
    }
}

pub(super) fn conditions(message: &str) -> Value {
    json!([{
        "type": "Ready", "status": "True", "reason": "Succeeded", "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1,
    }])
}

type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Value,
    Value,
);

fn kinds() -> Vec<Row> {
    let source = "source.toolkit.fluxcd.io";
    let image = "image.toolkit.fluxcd.io";
    let notification = "notification.toolkit.fluxcd.io";
    let artifact = |revision: &str| {
        json!({
            "observedGeneration": 1,
            "conditions": conditions(&format!("stored artifact for revision '{revision}'")),
            "artifact": {
                "path": "a", "url": "http://a/b", "revision": revision, "digest": "sha256:0",
                "lastUpdateTime": "2026-01-02T03:04:05Z", "size": 7,
            },
        })
    };
    let commit = format!("main@sha1:{COMMIT}");
    let told = |message: &str| json!({"observedGeneration": 1, "conditions": conditions(message)});
    vec![
        (
            source,
            "v1",
            "GitRepository",
            "gitrepositories",
            json!({
                "url": "https://git.test/app", "interval": "1m", "timeout": "90s", "ref": {"branch": "main"},
                "secretRef": {"name": "login"},
            }),
            artifact(&commit),
        ),
        (
            source,
            "v1",
            "OCIRepository",
            "ocirepositories",
            json!({"url": "oci://registry.test/app", "interval": "1h", "ref": {"semver": ">=1.0.0 <2.0.0"}}),
            artifact(&format!("1.0.0@sha256:{COMMIT}{}", &COMMIT[..24])),
        ),
        (
            source,
            "v1",
            "HelmRepository",
            "helmrepositories",
            json!({"url": "https://charts.test", "interval": "1h30m"}),
            artifact(&format!("sha256:{COMMIT}{}", &COMMIT[..24])),
        ),
        (
            source,
            "v1",
            "HelmChart",
            "helmcharts",
            json!({"chart": "app", "interval": "5m", "sourceRef": {"kind": "HelmRepository", "name": "told"}}),
            artifact(&format!("1.2.3+{COMMIT}")),
        ),
        (
            source,
            "v1",
            "Bucket",
            "buckets",
            json!({"bucketName": "app", "endpoint": "s3.test", "interval": "1m"}),
            artifact(&format!("sha256:{COMMIT}{}", &COMMIT[..24])),
        ),
        (
            source,
            "v1",
            "ExternalArtifact",
            "externalartifacts",
            json!({"sourceRef": {
                "apiVersion": "source.extensions.fluxcd.io/v1beta1", "kind": "ArtifactGenerator", "name": "told", "namespace": "n",
            }}),
            artifact(&commit),
        ),
        (
            "kustomize.toolkit.fluxcd.io",
            "v1",
            "Kustomization",
            "kustomizations",
            json!({"interval": "10m", "prune": true, "path": "./app", "sourceRef": {"kind": "GitRepository", "name": "told"}}),
            json!({
                "observedGeneration": 1, "lastAppliedRevision": commit,
                "conditions": conditions(&format!("Applied revision: {commit}")),
            }),
        ),
        (
            "helm.toolkit.fluxcd.io",
            "v2",
            "HelmRelease",
            "helmreleases",
            json!({"interval": "10m", "chartRef": {"kind": "OCIRepository", "name": "told"}, "values": {"a": {"b": [1, "x"]}}}),
            json!({
                "observedGeneration": 1, "lastAttemptedRevision": "1.2.3",
                "conditions": conditions("Helm install succeeded for release n/told.v1 with chart app@1.2.3"),
            }),
        ),
        (
            image,
            "v1",
            "ImageRepository",
            "imagerepositories",
            json!({"image": "registry.test/app", "interval": "5m"}),
            json!({
                "observedGeneration": 1, "conditions": conditions("successful scan: found 3 tags"),
                "lastScanResult": {"tagCount": 3, "scanTime": "2026-01-02T03:04:05Z", "latestTags": ["3"], "revision": "1"},
            }),
        ),
        (
            image,
            "v1",
            "ImagePolicy",
            "imagepolicies",
            json!({"imageRepositoryRef": {"name": "told"}, "policy": {"semver": {"range": "1.x"}}}),
            json!({
                "observedGeneration": 1, "conditions": conditions("Latest image tag resolved to 1.2.3"),
                "latestRef": {"name": "registry.test/app", "tag": "1.2.3"},
            }),
        ),
        (
            image,
            "v1",
            "ImageUpdateAutomation",
            "imageupdateautomations",
            json!({
                "interval": "30m", "sourceRef": {"kind": "GitRepository", "name": "told"},
                "git": {"commit": {"author": {"email": "a@b.test"}}},
            }),
            json!({
                "observedGeneration": 1, "conditions": conditions("repository up-to-date"),
                "lastAutomationRunTime": "2026-01-02T03:04:05Z",
            }),
        ),
        (
            notification,
            "v1",
            "Receiver",
            "receivers",
            json!({
                "type": "generic", "secretRef": {"name": "token"}, "interval": "10m",
                "resources": [{"kind": "GitRepository", "name": "told"}],
            }),
            told("Receiver initialized for path: /hook/0"),
        ),
        (
            notification,
            "v1beta3",
            "Provider",
            "providers",
            json!({"type": "slack", "channel": "general", "address": "https://slack.test"}),
            Value::Null,
        ),
        (
            notification,
            "v1beta3",
            "Alert",
            "alerts",
            json!({"providerRef": {"name": "told"}, "eventSources": [{"kind": "Kustomization", "name": "*"}]}),
            Value::Null,
        ),
    ]
}
