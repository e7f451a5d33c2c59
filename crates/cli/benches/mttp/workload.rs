//! The objects of the benchmark.

use anyhow::Context;
use futures::StreamExt;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use testkit::oci::{self, Artifact};

use super::shape::Shape;
use super::{manifests, releases};

/// Where all of it is.
pub(crate) const NAMESPACE: &str = "flux-benchmark";
/// Who objects are applied as.
const ACCOUNT: &str = "flux";
const REPOSITORY: &str = "manifests/podinfo";
/// How many requests are under way at once.
const AT_ONCE: usize = 16;

/// A cluster with a registry beside it.
pub(crate) struct Workload {
    pub(crate) client: kube::Client,
    shape: Shape,
    registry: oci::Server,
}

impl Workload {
    /// Makes the namespace, and who may write to it.
    pub(crate) async fn prepare(client: kube::Client, shape: Shape) -> anyhow::Result<Self> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        create(&client, None, "Namespace", "namespaces", namespace).await?;
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}});
        create(
            &client,
            Some(NAMESPACE),
            "ServiceAccount",
            "serviceaccounts",
            account,
        )
        .await?;
        let group = "rbac.authorization.k8s.io";
        let binding = json!({
            "apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": {"name": ACCOUNT},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
        });
        create(&client, Some(NAMESPACE), "RoleBinding", "rolebindings", binding).await?;
        Ok(Workload {
            client,
            shape,
            registry: oci::Server::start(),
        })
    }

    /// Pushes what the first or the second version of all is made of, and tells what all of them are at then: the revision of the artifact, or the
    /// generation of the object.
    pub(crate) fn push(&self, version: usize) -> String {
        if self.shape == Shape::Releases {
            let chart = releases::chart();
            let repository = format!("{}/{}", releases::CHARTS, releases::PODINFO);
            self.registry
                .push(&repository, chart.version(), &chart.artifact());
            return version.to_string();
        }
        let files = manifests::files(version);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let digest = self.registry.push(REPOSITORY, "latest", &Artifact::files(&files));
        format!("latest@{digest}")
    }

    /// Makes as many, with their sources.
    pub(crate) async fn install(&self, count: usize) -> anyhow::Result<()> {
        if self.shape == Shape::Releases {
            let repository = releases::repository(&self.registry.host());
            let (kind, plural) = ("HelmRepository", "helmrepositories");
            create(&self.client, Some(NAMESPACE), kind, plural, repository).await?;
        }
        let made = futures::stream::iter(0..count).map(async |number| {
            let name = name(number);
            match self.shape {
                Shape::Kustomizations => {
                    self.source(&name).await?;
                    self.kustomization(&name, &name, None).await
                }
                Shape::Releases => self.create(releases::release(&name)).await,
            }
        });
        all(made.buffer_unordered(AT_ONCE)).await
    }

    async fn source(&self, name: &str) -> anyhow::Result<()> {
        let object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository", "metadata": {"name": name},
            "spec": {
                "interval": "60m", "insecure": true, "ref": {"tag": "latest"},
                "url": format!("oci://{}/{REPOSITORY}", self.registry.host()),
            },
        });
        let (kind, plural) = ("OCIRepository", "ocirepositories");
        create(&self.client, Some(NAMESPACE), kind, plural, object).await
    }

    /// Makes a Kustomization of a source, which depends on another one if that is named.
    pub(crate) async fn kustomization(
        &self,
        name: &str,
        source: &str,
        after: Option<&str>,
    ) -> anyhow::Result<()> {
        let mut object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": name},
            "spec": {
                "interval": "60m", "retryInterval": "2m", "timeout": "1m", "path": "/", "prune": true, "wait": true,
                "serviceAccountName": ACCOUNT, "targetNamespace": NAMESPACE,
                "sourceRef": {"kind": "OCIRepository", "name": source},
                "postBuild": {"substitute": {"INDEX": name, "PODS": "0", "MCPU": "1m"}},
            },
        });
        if let Some(after) = after {
            object["spec"]["dependsOn"] = json!([{"name": after}]);
        }
        self.create(object).await
    }

    /// Makes one of what is measured.
    async fn create(&self, object: Value) -> anyhow::Result<()> {
        let (kind, plural) = (self.shape.kind(), self.shape.plural());
        create(&self.client, Some(NAMESPACE), kind, plural, object).await
    }

    /// Has each become what was pushed last: its source is asked to look, or its values change.
    pub(crate) async fn upgrade(&self, count: usize) -> anyhow::Result<()> {
        if self.shape == Shape::Releases {
            return patch(&self.all(), count, &releases::upgrade()).await;
        }
        let api = api(
            &self.client,
            Some(NAMESPACE),
            "source.toolkit.fluxcd.io/v1",
            "OCIRepository",
            "ocirepositories",
        );
        patch(&api, count, &request("upgrade")).await
    }

    /// Asks for a run of each.
    pub(crate) async fn reconcile(&self, count: usize, token: &str) -> anyhow::Result<()> {
        patch(&self.all(), count, &request(token)).await
    }

    /// All that are measured.
    fn all(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), NAMESPACE, &self.shape.resource())
    }
}

/// What asks for a run.
fn request(token: &str) -> Value {
    json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}})
}

/// The name of one of them, and of its source.
pub(crate) fn name(number: usize) -> String {
    format!("{number}app")
}

async fn patch(api: &Api<DynamicObject>, count: usize, patch: &Value) -> anyhow::Result<()> {
    let (patch, parameters) = (Patch::Merge(patch), PatchParams::default());
    let asked = futures::stream::iter(0..count).map(async |number| {
        let name = name(number);
        // Nobody reads the answer, which has the whole object.
        let asked = api.patch_metadata(&name, &parameters, &patch).await;
        asked
            .map(drop)
            .with_context(|| format!("{name} cannot be changed"))
    });
    all(asked.buffer_unordered(AT_ONCE)).await
}

async fn all(work: impl futures::Stream<Item = anyhow::Result<()>>) -> anyhow::Result<()> {
    let mut work = std::pin::pin!(work);
    while let Some(done) = work.next().await {
        done?;
    }
    Ok(())
}

fn api(
    client: &kube::Client,
    namespace: Option<&str>,
    api_version: &str,
    kind: &str,
    plural: &str,
) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, plural);
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

/// Makes an object.
pub(crate) async fn create(
    client: &kube::Client,
    namespace: Option<&str>,
    kind: &str,
    plural: &str,
    object: Value,
) -> anyhow::Result<()> {
    let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
    let api = api(client, namespace, &version, kind, plural);
    let object: DynamicObject = serde_json::from_value(object)?;
    let made = api.create(&PostParams::default(), &object).await;
    made.map(drop).with_context(|| format!("a {kind} cannot be made"))
}
