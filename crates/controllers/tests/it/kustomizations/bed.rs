//! A Git repository, a source that follows it, and Kustomizations that are applied from it.

use std::time::Duration;

use api::kustomize::{Kustomization, KustomizationSpec};
use api::source::{BucketSpec, GitRepositorySpec, OciRepositorySpec};
use controllers::kustomizations::{Kustomizations, Settings, Shared};
use controllers::sources::GitRepositories;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};
use testkit::cluster::object_settled;
use testkit::git;

use crate::sources::bed::{self, condition};

pub(super) type Bed = bed::Bed<KustomizationSpec>;

/// All that a test needs.
pub(super) struct Setting {
    pub(super) bed: Bed,
    pub(super) server: git::Server,
}

impl Setting {
    /// A source that has these files, and controllers at work.
    pub(super) async fn with(files: &[(&str, &str)]) -> Self {
        Setting::with_settings(files, Settings::default()).await
    }

    pub(super) async fn with_settings(files: &[(&str, &str)], settings: Settings) -> Self {
        Setting::of_shard(files, settings, None).await
    }

    /// The same, where only Kustomizations with these labels are worked on.
    pub(super) async fn of_shard(files: &[(&str, &str)], settings: Settings, shard: Option<&str>) -> Self {
        let server = git::Server::start();
        let mut bed = Bed::start().await;
        bed.serve::<GitRepositorySpec>().await;
        bed.serve::<OciRepositorySpec>().await;
        bed.serve::<BucketSpec>().await;
        server
            .repository("app")
            .commit("main", "Start", files.iter().copied());
        bed.run(GitRepositories::new);
        let scratch = bed.scratch();
        bed.shard = shard.map(str::to_owned);
        bed.run(|shared| {
            Kustomizations::new(Shared {
                client: shared.client,
                store: Some(shared.store),
                scratch,
                repositories: shared.repositories,
                identities: shared.identities,
                http: source::http::Options::default(),
                settings,
            })
        });
        let url = server.clone_url("app");
        let spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
        bed.create_other::<GitRepositorySpec>("app", spec).await;
        Setting { bed, server }
    }

    /// A Kustomization of the source, with more in its spec.
    pub(super) async fn create(&self, name: &str, more: Value) {
        self.create_asking(name, json!({}), more).await;
    }

    /// The same with annotations.
    pub(super) async fn create_asking(&self, name: &str, annotations: Value, more: Value) {
        let mut spec = json!({
            "interval": "1h", "retryInterval": "1h", "prune": true, "targetNamespace": self.bed.namespace,
            "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        let all = spec.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        let object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": self.bed.namespace, "annotations": annotations},
            "spec": spec,
        });
        let object: Kustomization = serde_json::from_value(object).unwrap();
        self.bed.api.create(&Default::default(), &object).await.unwrap();
    }

    /// Sets annotations of a Kustomization, or takes them away.
    pub(super) async fn ask(&self, name: &str, annotations: Value) {
        self.bed
            .patch(name, json!({"metadata": {"annotations": annotations}}))
            .await;
    }

    /// Commits, and has the source look at it.
    pub(super) async fn commit(&self, files: &[(&str, &str)]) -> String {
        let commit = self
            .server
            .repository("app")
            .commit("main", "Change", files.iter().copied());
        self.fetch().await;
        format!("main@sha1:{commit}")
    }

    /// Has the source fetch.
    pub(super) async fn fetch(&self) {
        let api = self.bed.other::<GitRepositorySpec>();
        let token = jiff::Timestamp::now().to_string();
        let patch = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
        let patch = kube::api::Patch::Merge(patch);
        api.patch("app", &Default::default(), &patch).await.unwrap();
    }

    /// Waits until a Kustomization has applied this revision.
    pub(super) async fn applied(&self, name: &str, revision: &str) -> Kustomization {
        self.bed
            .until(name, |object| {
                let status = object.status.as_ref();
                let applied = status.and_then(|status| status.last_applied_revision.as_deref());
                let ready = condition(object, "Ready");
                applied == Some(revision) && ready.is_some_and(|ready| ready.status.to_string() == "True")
            })
            .await
    }

    pub(super) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.bed.cluster.client(), &self.bed.namespace)
    }

    /// Waits until a ConfigMap has this value; `None` waits until it is gone.
    pub(super) async fn value(&self, name: &str, value: Option<&str>) {
        let settled = object_settled(self.config_maps(), name, Duration::from_secs(30), |object| {
            let found = object.map(|object| object.data.as_ref().and_then(|data| data.get("a").cloned()));
            match (found, value) {
                (None, None) => Ok(()),
                (Some(Some(found)), Some(value)) if found == value => Ok(()),
                (found, _) => Err(format!("{found:?}")),
            }
        });
        settled.await.unwrap();
    }
}

/// A ConfigMap with one value.
pub(super) fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n")
}
