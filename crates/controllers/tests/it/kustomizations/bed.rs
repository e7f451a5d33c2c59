//! A Git repository, a source that follows it, and Kustomizations that are applied from it.

use api::kustomize::{Kustomization, KustomizationSpec};
use api::source::{BucketSpec, GitRepositorySpec, OciRepositorySpec};
use controllers::kustomizations::{Kustomizations, Settings, Shared};
use controllers::sources::GitRepositories;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};
use source::identity::Identities;
use testkit::cluster::object_settled;
use testkit::git;

use crate::sources::bed::{self, condition};

pub(crate) type Bed = bed::Bed<KustomizationSpec>;

/// All that a test needs.
pub(crate) struct Setting {
    pub(crate) bed: Bed,
    pub(crate) server: git::Server,
}

impl Setting {
    /// A source that has these files, and controllers at work.
    pub(crate) async fn with(files: &[(&str, &str)]) -> Self {
        Setting::with_settings(files, Settings::default()).await
    }

    pub(crate) async fn with_settings(files: &[(&str, &str)], settings: Settings) -> Self {
        Setting::of_shard(files, settings, None).await
    }

    /// The same, where only Kustomizations with these labels are worked on.
    pub(crate) async fn of_shard(files: &[(&str, &str)], settings: Settings, shard: Option<&str>) -> Self {
        Setting::in_bed(Bed::start().await, files, settings, shard).await
    }

    /// The same, with controllers that have these identities at clouds.
    pub(crate) async fn with_identities(
        files: &[(&str, &str)],
        settings: Settings,
        identities: Identities,
    ) -> Self {
        let mut bed = Bed::start().await;
        bed.shared.identities = identities;
        Setting::in_bed(bed, files, settings, None).await
    }

    async fn in_bed(mut bed: Bed, files: &[(&str, &str)], settings: Settings, shard: Option<&str>) -> Self {
        let server = git::Server::start();
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
    pub(crate) async fn create(&self, name: &str, more: Value) {
        self.create_asking(name, json!({}), more).await;
    }

    /// The same with annotations.
    pub(crate) async fn create_asking(&self, name: &str, annotations: Value, more: Value) {
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
    pub(crate) async fn ask(&self, name: &str, annotations: Value) {
        self.bed
            .patch(name, json!({"metadata": {"annotations": annotations}}))
            .await;
    }

    /// Commits, and has the source look at it.
    pub(crate) async fn commit(&self, files: &[(&str, &str)]) -> String {
        let commit = self
            .server
            .repository("app")
            .commit("main", "Change", files.iter().copied());
        self.fetch().await;
        format!("main@sha1:{commit}")
    }

    /// Has the source fetch.
    pub(crate) async fn fetch(&self) {
        let api = self.bed.other::<GitRepositorySpec>();
        let token = jiff::Timestamp::now().to_string();
        let patch = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
        let patch = kube::api::Patch::Merge(patch);
        api.patch("app", &Default::default(), &patch).await.unwrap();
    }

    /// Waits until a Kustomization has applied this revision.
    pub(crate) async fn applied(&self, name: &str, revision: &str) -> Kustomization {
        self.bed
            .until(name, |object| {
                let status = object.status.as_ref();
                let applied = status.and_then(|status| status.last_applied_revision.as_deref());
                let ready = condition(object, "Ready");
                applied == Some(revision) && ready.is_some_and(|ready| ready.status.to_string() == "True")
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
}

/// A ConfigMap with one value.
pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n")
}
