//! `--dry-run=server`: what the cluster says of a release that is not installed: what templates may know of it, the objects that they look
//! up, whether it has the kinds, and whether objects of others are in the way. So it is in Helm, which writes nothing either.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use controllers::helm_releases::{InCluster, capabilities};
use engine::cluster::{Error, Resource};
use helm::capabilities::Capabilities;
use helm::print;
use helm::release::Rendered;
use helm::render::{Lookup, Release};
use kube::Client;
use model::object_key::split_api_version;
use model::quote::quote;
use tokio::runtime::{Builder, Runtime};

use super::{Object, definitions, manifests};
use crate::commands::cluster::Cluster as Flags;

/// A cluster that is asked.
pub(in crate::commands::helm) struct Server {
    /// With a thread of its own, so that templates can wait for it.
    runtime: Runtime,
    client: Client,
    cluster: engine::cluster::Cluster,
}

impl Server {
    pub(in crate::commands::helm) fn connect(flags: &Flags) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let unreachable = "cluster reachability check failed: kubernetes cluster unreachable";
        let (client, _) = runtime.block_on(flags.client()).context(unreachable)?;
        runtime
            .block_on(client.apiserver_version())
            .context(unreachable)?;
        let cluster = engine::cluster::Cluster::new(client.clone());
        Ok(Server {
            runtime,
            client,
            cluster,
        })
    }

    /// What templates may know of it.
    pub(in crate::commands::helm) fn capabilities(&self) -> anyhow::Result<Capabilities> {
        let asked = capabilities(&self.client, &self.cluster);
        self.runtime.block_on(asked).map_err(anyhow::Error::msg)
    }

    /// Looks objects up for templates.
    pub(in crate::commands::helm) fn lookup(&self) -> Arc<dyn Lookup> {
        Arc::new(InCluster::new(
            self.cluster.clone(),
            self.runtime.handle().clone(),
        ))
    }

    /// Fails where Helm would not begin to install: a kind is missing, or an object is there that belongs to somebody else.
    pub(in crate::commands::helm) fn check(
        &self,
        rendered: &Rendered,
        options: &print::Options,
        release: &Release,
    ) -> anyhow::Result<()> {
        let mut objects = match options.include_crds {
            true => definitions(rendered)?,
            false => Vec::new(),
        };
        objects.extend(manifests(rendered)?);
        self.runtime.block_on(async {
            let known = self.known(objects).await?;
            if !release.is_upgrade {
                self.check_owners(&known, release).await?;
            }
            Ok(())
        })
    }

    /// What objects are served as.
    async fn known(&self, objects: Vec<Object>) -> anyhow::Result<Vec<(Resource, Object)>> {
        let (mut known, mut problems) = (Vec::new(), Vec::new());
        for object in objects {
            let (group, version) = split_api_version(object.api_version());
            match self.cluster.resource(group, version, object.kind()).await {
                Ok(resource) => known.push((resource, object)),
                Err(error @ Error::NoSuchKind { .. }) => problems.push(format!(
                    "resource mapping not found for name: {} namespace: {} from \"\": {error}\nensure CRDs are installed first",
                    quote(object.name()),
                    quote(object.namespace()),
                )),
                Err(error) => return Err(error.into()),
            }
        }
        let prefix = "unable to build kubernetes objects from release manifest";
        match problems.as_slice() {
            [] => Ok(known),
            [problem] => bail!("{prefix}: {problem}"),
            problems => bail!("{prefix}: [{}]", problems.join(", ")),
        }
    }

    async fn check_owners(&self, objects: &[(Resource, Object)], release: &Release) -> anyhow::Result<()> {
        for (resource, object) in objects {
            let namespace = match (resource.namespaced, object.namespace()) {
                (true, "") => release.namespace.as_str(),
                (true, namespace) => namespace,
                (false, _) => "",
            };
            if object.name().is_empty() {
                continue;
            }
            let live = self.cluster.get(resource, namespace, object.name()).await?;
            if let Some(live) = live {
                helm::ownership::check_import(&live, &release.name, &release.namespace)
                    .map_err(|problem| anyhow::anyhow!("unable to continue with install: {problem}"))?;
            }
        }
        Ok(())
    }
}
