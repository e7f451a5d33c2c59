//! The cluster that everything runs on: an embedded one, or one that is there, with what has to be in it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use apiserver::auth::User;
use apiserver::{Listening, Server, simulator};
use futures::future::try_join_all;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt as _};
use model::{Value, convert};
use tokio::net::TcpListener;

use super::root::NAMESPACE;

/// Who writes what `sluice up` writes.
pub(super) const MANAGER: &str = "sluice";
/// The label of what it has made.
pub(super) const MADE_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "sluice-up");
/// The annotation that says where the files of what it has made are.
pub(super) const ORIGIN: &str = "up.sluice.dev/origin";
/// How long what an earlier run has deleted may take to go.
const GONE_WITHIN: Duration = Duration::from_secs(120);
/// How long definitions may take until they are served.
const SERVED_WITHIN: Duration = Duration::from_secs(30);
/// Before a kind that is about to be served is asked for again.
const ASKED_AGAIN: Duration = Duration::from_millis(20);
/// The leases of the controllers.
const LEASES: [&str; 3] = [
    "source-controller-leader-election",
    "kustomize-controller-leader-election",
    "helm-controller-leader-election",
];

/// The cluster.
pub(super) struct Ground {
    pub(super) client: Client,
    embedded: Option<(Server, Listening)>,
    /// What was missing and is there now, by our doing.
    made: Made,
}

#[derive(Default)]
struct Made {
    definitions: Vec<String>,
    namespace: bool,
    leases: Vec<&'static str>,
}

impl Ground {
    /// Starts an embedded one, and writes a kubeconfig for it.
    pub(super) async fn embedded(start_delay: Duration, kubeconfig: &Path) -> anyhow::Result<Self> {
        let options = simulator::Options {
            start_delay,
            ..Default::default()
        };
        let token = crate::commands::apiserver::new_token();
        let server = Server::builder()
            .simulator(options)
            .token(token.as_str(), User::new("admin", &["system:masters"]))
            .start();
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listening = server.listen(listener.context("failed to listen on 127.0.0.1")?)?;
        let text = crate::commands::apiserver::kubeconfig(&listening, &token);
        crate::commands::apiserver::write_secret(kubeconfig, &text)?;
        Ok(Ground {
            client: Client::new(server.service(), "default"),
            embedded: Some((server, listening)),
            made: Made::default(),
        })
    }

    /// One that is there.
    pub(super) fn given(client: Client) -> Self {
        Ground {
            client,
            embedded: None,
            made: Made::default(),
        }
    }

    pub(super) fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    /// Where the embedded one listens.
    pub(super) fn address(&self) -> Option<std::net::SocketAddr> {
        self.embedded.as_ref().map(|(_, listening)| listening.address)
    }

    /// Brings what is needed into it. What is there already stays as it is.
    pub(super) async fn prepare(&mut self) -> anyhow::Result<()> {
        self.install_definitions().await?;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let there = namespaces.get_opt(NAMESPACE).await;
        if there.map_err(unreachable)?.is_none() {
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(NAMESPACE.to_owned());
            let made = namespaces.create(&PostParams::default(), &namespace).await;
            made.with_context(|| format!("failed to make the namespace {NAMESPACE}"))?;
            self.made.namespace = true;
        }
        if !self.is_embedded() {
            let leases: Api<Lease> = Api::namespaced(self.client.clone(), NAMESPACE);
            for name in LEASES {
                if leases.get_opt(name).await?.is_none() {
                    self.made.leases.push(name);
                }
            }
        }
        Ok(())
    }

    /// Whether a namespace is there and about to go.
    pub(super) async fn is_terminating(&self, namespace: &str) -> anyhow::Result<bool> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let there = namespaces.get_opt(namespace).await.map_err(unreachable)?;
        Ok(there.is_some_and(|there| there.metadata.deletion_timestamp.is_some()))
    }

    /// Waits until a namespace that is about to go is gone.
    pub(super) async fn until_gone(&self, namespace: &str) -> anyhow::Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let is_gone =
            |there: Option<&Namespace>| there.is_none_or(|there| there.metadata.deletion_timestamp.is_none());
        let gone = await_condition(namespaces, namespace, is_gone);
        let gone = tokio::time::timeout(GONE_WITHIN, gone).await.with_context(|| {
            format!(
                "the namespace {namespace} is being deleted and not gone after {} s: `kubectl get namespace {namespace} -o yaml` \
                 shows what it waits for",
                GONE_WITHIN.as_secs()
            )
        })?;
        gone.context("the cluster cannot be reached")?;
        Ok(())
    }

    async fn install_definitions(&mut self) -> anyhow::Result<()> {
        let api: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let there = api
            .list_metadata(&ListParams::default())
            .await
            .map_err(unreachable)?;
        let there: Vec<String> = there.items.iter().map(|item| item.name_any()).collect();
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        let untyped: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let mut missing = Vec::new();
        for definition in api::definitions() {
            let object = definition.to_value();
            let name = object.str_at(&["metadata", "name"]).to_owned();
            if !there.contains(&name) {
                let object: DynamicObject = convert::to_serde(&object)?;
                missing.push((name, object));
            }
        }
        let ground = &*self;
        let install = missing.iter().map(|(name, object)| {
            let (api, untyped) = (api.clone(), untyped.clone());
            async move {
                let made = untyped.create(&PostParams::default(), object).await;
                made.with_context(|| format!("failed to install the definition {name}"))?;
                let served = await_condition(api, name, conditions::is_crd_established());
                let served = tokio::time::timeout(SERVED_WITHIN, served).await;
                served.with_context(|| format!("the definition {name} is not served"))??;
                let answered = tokio::time::timeout(SERVED_WITHIN, ground.until_answered(object)).await;
                answered.with_context(|| format!("the objects of the definition {name} are not served"))?
            }
        });
        try_join_all(install).await?;
        self.made.definitions = missing.into_iter().map(|(name, _)| name).collect();
        Ok(())
    }

    /// Waits until objects of a definition can be asked for: that is some moments after it is established.
    async fn until_answered(&self, definition: &DynamicObject) -> anyhow::Result<()> {
        let text = |path: &str| definition.data.pointer(path).and_then(serde_json::Value::as_str);
        let resource = resource_of(
            text("/spec/group").unwrap_or_default(),
            text("/spec/names/kind").unwrap_or_default(),
        );
        let objects: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        loop {
            match objects.list_metadata(&ListParams::default().limit(1)).await {
                Err(error) if is_not_found(&error) => tokio::time::sleep(ASKED_AGAIN).await,
                listed => return listed.map(drop).map_err(unreachable),
            }
        }
    }

    /// Refuses to work where objects of the same names are somebody else's, or those of other files: what is not in these files would
    /// be pruned.
    pub(super) async fn refuse_others(&self, objects: &[Value]) -> anyhow::Result<()> {
        for object in objects {
            let name = object.str_at(&["metadata", "name"]);
            let there = self.ours(object).get_opt(name).await.map_err(unreachable)?;
            let Some(there) = there else { continue };
            let what = format!("{} {NAMESPACE}/{name}", object.str_at(&["kind"]));
            if !is_ours(&there) {
                bail!(
                    "{what} is in the cluster already, and `sluice up` has not made it; it is left alone. Name another cluster, or \
                     another directory"
                );
            }
            let own = object.str_at(&["metadata", "annotations", ORIGIN]);
            match there.annotations().get(ORIGIN) {
                Some(other) if other != own => bail!(
                    "{what} is that of `sluice up` for {other}, and would lose all that {own} does not hold. Give this one a name of \
                     its own with --name, or end the other: `sluice up` for it without --keep deletes what it has made"
                ),
                _ => {}
            }
        }
        Ok(())
    }

    /// Who works in the cluster already, if anybody: these controllers wait until they have stopped.
    pub(super) async fn others(&self) -> Option<String> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), NAMESPACE);
        for name in LEASES {
            let spec = leases.get_opt(name).await.ok()??.spec?;
            let holder = spec.holder_identity.unwrap_or_default();
            let renewed = spec.renew_time.map(|time| time.0)?;
            let lasts =
                jiff::SignedDuration::from_secs(spec.lease_duration_seconds.unwrap_or_default().into());
            if !holder.is_empty() && renewed + lasts > jiff::Timestamp::now() {
                return Some(format!("{holder} holds the lease {NAMESPACE}/{name}"));
            }
        }
        None
    }

    /// Makes or changes one of our objects.
    pub(super) async fn apply(&self, object: &Value) -> anyhow::Result<Value> {
        let name = object.str_at(&["metadata", "name"]);
        let what = format!("{} {NAMESPACE}/{name}", object.str_at(&["kind"]));
        self.refuse_others(std::slice::from_ref(object)).await?;
        let api = self.ours(object);
        let mut object = object.clone();
        object.set_at(&["metadata", "labels", MADE_BY.0], MADE_BY.1);
        let object: serde_json::Value = convert::to_serde(&object)?;
        let params = PatchParams::apply(MANAGER).force();
        let applied = api.patch(name, &params, &Patch::Apply(&object)).await;
        let applied = applied.with_context(|| format!("failed to apply {what}"))?;
        convert::from_serde(&applied).with_context(|| format!("{what} cannot be read"))
    }

    /// Has a controller look at one of its objects now.
    pub(super) async fn ask(&self, key: &model::ObjectKey, token: &str) -> kube::Result<()> {
        let annotations = serde_json::json!({"reconcile.fluxcd.io/requestedAt": token});
        let patch = serde_json::json!({"metadata": {"annotations": annotations}});
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let api = self.api_of(key);
        api.patch(&key.name, &params, &Patch::Merge(&patch)).await?;
        Ok(())
    }

    /// An object of one of our kinds, if it is there.
    pub(super) async fn find(&self, key: &model::ObjectKey) -> anyhow::Result<Option<DynamicObject>> {
        self.api_of(key).get_opt(&key.name).await.map_err(unreachable)
    }

    /// The objects that one of our kinds is among.
    pub(super) fn api_of(&self, key: &model::ObjectKey) -> Api<DynamicObject> {
        let resource = resource_of(&key.group, &key.kind);
        Api::namespaced_with(self.client.clone(), &key.namespace, &resource)
    }

    fn ours(&self, object: &Value) -> Api<DynamicObject> {
        let group = model::object_key::split_api_version(object.str_at(&["apiVersion"])).0;
        let resource = resource_of(group, object.str_at(&["kind"]));
        Api::namespaced_with(self.client.clone(), NAMESPACE, &resource)
    }

    /// Deletes an object of ours, which controllers clear up after, and waits until it is gone.
    pub(super) async fn remove(&self, object: &Value) -> anyhow::Result<()> {
        let name = object.str_at(&["metadata", "name"]);
        let api = self.ours(object);
        let there = api.get_opt(name).await.map_err(unreachable)?;
        if !there.is_some_and(|there| is_ours(&there)) {
            return Ok(());
        }
        let gone = await_condition(api.clone(), name, |object: Option<&DynamicObject>| {
            object.is_none()
        });
        match api.delete(name, &DeleteParams::default()).await {
            Err(error) if is_not_found(&error) => return Ok(()),
            deleted => drop(deleted.with_context(|| format!("failed to delete {name}"))?),
        }
        gone.await.context("the cluster cannot be reached")?;
        Ok(())
    }

    /// Takes away what was brought in, once the controllers have ended.
    pub(super) async fn clear(&self) -> anyhow::Result<()> {
        let params = DeleteParams::default();
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), NAMESPACE);
        for name in &self.made.leases {
            allow_missing(leases.delete(name, &params).await.map(drop))?;
        }
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        for name in &self.made.definitions {
            allow_missing(definitions.delete(name, &params).await.map(drop))?;
        }
        let gone = self.made.definitions.iter().map(|name| {
            let is_gone = |object: Option<&CustomResourceDefinition>| object.is_none();
            await_condition(definitions.clone(), name, is_gone)
        });
        let gone = tokio::time::timeout(SERVED_WITHIN, try_join_all(gone)).await;
        gone.context("the definitions are not gone yet")?
            .context("the cluster cannot be reached")?;
        if self.made.namespace {
            let namespaces: Api<Namespace> = Api::all(self.client.clone());
            allow_missing(namespaces.delete(NAMESPACE, &params).await.map(drop))?;
            // The next run could make nothing in it; it waits by itself where this takes too long.
            let _ = self.until_gone(NAMESPACE).await;
        }
        Ok(())
    }

    /// Ends the embedded one.
    pub(super) fn stop(&self) {
        if let Some((server, _)) = &self.embedded {
            server.stop();
        }
    }
}

/// Whether `sluice up` has made an object.
fn is_ours(object: &DynamicObject) -> bool {
    object.labels().get(MADE_BY.0).map(String::as_str) == Some(MADE_BY.1)
}

/// How objects of one of our kinds are served.
pub(super) fn resource_of(group: &str, kind: &str) -> ApiResource {
    let definitions = api::definitions();
    let names = definitions.iter().map(api::Definition::names);
    let names = names
        .into_iter()
        .find(|names| names.group == group && names.kind == kind);
    let (version, plural) = names.map_or(("v1", ""), |names| (names.version, names.plural));
    let kind = kube::core::GroupVersionKind::gvk(group, version, kind);
    ApiResource::from_gvk_with_plural(&kind, plural)
}

fn unreachable(error: kube::Error) -> anyhow::Error {
    anyhow::Error::from(error).context("the cluster does not answer as it should")
}

pub(super) fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

fn allow_missing(deleted: kube::Result<()>) -> anyhow::Result<()> {
    match deleted {
        Err(error) if !is_not_found(&error) => Err(error).context("failed to clear up"),
        _ => Ok(()),
    }
}
