//! Which kinds the cluster serves.

use std::time::Duration;

use kube::discovery::{ApiResource, Scope};
use kube::{Client, Discovery};
use model::ObjectKey;

use super::files::Wanted;

/// What the cluster serves, as of a moment ago.
pub(super) struct Served(Option<Discovery>);

impl Served {
    pub(super) async fn read(client: &Client) -> Self {
        Served(Discovery::new(client.clone()).run_aggregated().await.ok())
    }

    /// Reads until the kind of `one` is there, for up to three seconds: a definition is served a moment after it was applied.
    pub(super) async fn wait_for(client: &Client, one: &Wanted) -> Self {
        const TRIES: u32 = 30;
        let mut served = Served::read(client).await;
        for _ in 0..TRIES {
            if served.find(one).is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            served = Served::read(client).await;
        }
        served
    }

    pub(super) fn find(&self, one: &Wanted) -> Option<(ApiResource, Scope)> {
        let (group, version) = one.api_version.split_once('/').unwrap_or(("", &one.api_version));
        let gvk = kube::api::GroupVersionKind::gvk(group, version, &one.key.kind);
        let (resource, capabilities) = self.0.as_ref()?.resolve_gvk(&gvk)?;
        Some((resource, capabilities.scope))
    }

    /// The key with the namespace the object will be in.
    pub(super) fn settle(&self, one: &Wanted) -> ObjectKey {
        let mut key = one.key.clone();
        match self.find(one).map(|(_, scope)| scope) {
            Some(Scope::Namespaced) if key.namespace.is_empty() => key.namespace = "default".into(),
            Some(Scope::Cluster) => key.namespace = model::Str::default(),
            _ => {}
        }
        key
    }
}
