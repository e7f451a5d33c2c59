//! Objects of a kind in a cluster.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{Stream, StreamExt as _};
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher;
use kube::{Client, ResourceExt as _};
use serde_json::Value;

use super::kinds::Kind;
use crate::commands::cluster::Cluster;
use crate::commands::pflag;

/// Who wrote what the flux client writes.
pub(crate) const MANAGER: &str = "flux";

/// Where objects are looked for.
#[derive(clap::Args)]
pub(crate) struct Place {
    /// The namespace
    #[arg(long, short, default_value = "flux-system", env = "FLUX_SYSTEM_NAMESPACE")]
    pub(crate) namespace: String,

    /// Take the namespace of the kubeconfig's context instead
    #[arg(long, env = "FLUX_NS_FOLLOW_KUBECONTEXT", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    ns_follows_kube_context: bool,

    /// How long all of it may take
    #[arg(long, default_value = "5m", value_parser = pflag::duration)]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    cluster: Cluster,
}

impl Place {
    /// Reaches the cluster.
    pub(crate) async fn reach(&mut self) -> anyhow::Result<Client> {
        let (client, namespace) = self.cluster.client().await?;
        if self.ns_follows_kube_context {
            self.namespace = namespace;
        }
        Ok(client)
    }

    /// What comes of it in time.
    pub(crate) async fn limited<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => bail!("not done after {:?}: --timeout gives it more time", self.timeout),
        }
    }
}

/// The objects of a kind.
pub(crate) struct Objects {
    pub(crate) kind: &'static Kind,
    api: Api<DynamicObject>,
}

impl Objects {
    /// Those of a namespace, or of all.
    pub(crate) fn new(client: Client, kind: &'static Kind, namespace: Option<&str>) -> Self {
        let names = kind.names;
        let kind_of = GroupVersionKind::gvk(names.group, names.version, names.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind_of, names.plural);
        let api = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        Objects { kind, api }
    }

    /// Those of which the parameters hold, by namespace and name. `None` where the cluster does not know the kind.
    pub(crate) async fn list(&self, wanted: &ListParams) -> anyhow::Result<Option<Vec<Value>>> {
        let listed = match self.api.list(wanted).await {
            Ok(listed) => listed,
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
            Err(error) => {
                return Err(told(error))
                    .with_context(|| format!("failed to list {}", self.kind.names.plural));
            }
        };
        let mut objects = listed.items;
        objects.sort_by_key(|object| (object.namespace(), object.name_any()));
        let objects = objects.into_iter().map(|object| self.value(object));
        objects.collect::<anyhow::Result<_>>().map(Some)
    }

    /// Those of which the parameters hold, as they are and then as they change.
    pub(super) fn watch(self, wanted: &watcher::Config) -> impl Stream<Item = anyhow::Result<Value>> + use<> {
        let events = watcher::watcher(self.api.clone(), wanted.clone());
        events.filter_map(move |event| {
            let shown = match event {
                Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => {
                    Some(self.value(object))
                }
                Ok(_) => None,
                Err(error) => Some(Err(anyhow::Error::from(error))),
            };
            std::future::ready(shown)
        })
    }

    /// The object of a name.
    pub(crate) async fn get(&self, name: &str) -> anyhow::Result<Value> {
        let found = self.api.get(name).await.map_err(told);
        let object = found.with_context(|| format!("failed to get {} {name}", self.kind.names.kind))?;
        self.value(object)
    }

    /// Changes an object; what it is then.
    pub(crate) async fn patch(&self, name: &str, patch: &Value) -> anyhow::Result<Value> {
        let parameters = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let patched = self
            .api
            .patch(name, &parameters, &Patch::Merge(patch))
            .await
            .map_err(told);
        let object = patched.with_context(|| format!("failed to change {} {name}", self.kind.names.kind))?;
        self.value(object)
    }

    /// Creates an object, or puts its labels and its spec in the place of those of the object that is there. Whether it is new.
    pub(crate) async fn put(&self, name: &str, object: Value) -> anyhow::Result<bool> {
        let failed = || format!("failed to create {} {name}", self.kind.names.kind);
        let mut object: DynamicObject = serde_json::from_value(object)?;
        let there = self.api.get_opt(name).await.map_err(told).with_context(failed)?;
        let parameters = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        match there {
            None => self
                .api
                .create(&parameters, &object)
                .await
                .map_err(told)
                .with_context(failed)?,
            Some(mut there) => {
                there.metadata.labels = object.metadata.labels.take();
                there.data["spec"] = object.data["spec"].take();
                let replaced = self.api.replace(name, &parameters, &there).await.map_err(told);
                replaced.with_context(failed)?;
                return Ok(false);
            }
        };
        Ok(true)
    }

    /// Deletes an object.
    pub(crate) async fn delete(&self, name: &str) -> anyhow::Result<()> {
        let deleted = self
            .api
            .delete(name, &kube::api::DeleteParams::default())
            .await
            .map_err(told);
        deleted.with_context(|| format!("failed to delete {} {name}", self.kind.names.kind))?;
        Ok(())
    }

    /// Items of lists do not say what they are.
    fn value(&self, mut object: DynamicObject) -> anyhow::Result<Value> {
        object.metadata.managed_fields = None;
        let mut value = serde_json::to_value(object)?;
        value["apiVersion"] = self.kind.names.api_version().into();
        value["kind"] = self.kind.names.kind.into();
        Ok(value)
    }
}

/// What the cluster says, in its own words; else why it says nothing.
pub(crate) fn told(error: kube::Error) -> anyhow::Error {
    match error {
        kube::Error::Api(status) => anyhow::anyhow!(status.message),
        kube::Error::Service(cause) => {
            anyhow::anyhow!("{}", chain(&*cause)).context("the cluster cannot be reached")
        }
        other => other.into(),
    }
}

/// An error and its causes, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        next = error.source();
    }
    texts.join(": ")
}
