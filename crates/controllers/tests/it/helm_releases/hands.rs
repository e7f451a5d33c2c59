//! What tests do to releases, and what they look at.

use api::helm::HelmRelease;
use helm::record::{Change, Driver, Record};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::Setting;
use crate::sources::bed::condition;

/// A ConfigMap that is not in every release.
pub(super) const EXTRA: &str = "{{ if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-extra
data: {a: {{ .Values.extra | quote }}}
{{ end }}
";

/// How a test tells whether ConfigMaps do well: those whose value begins with `bad` have failed, and those with `slow` are on their way.
pub(super) fn by_value() -> Value {
    json!([{
        "apiVersion": "v1", "kind": "ConfigMap",
        "current": "!data.a.startsWith('bad') && !data.a.startsWith('slow')",
        "failed": "data.a.startsWith('bad')",
    }])
}

/// A spec by which a value decides whether a release fails.
pub(super) fn judged(mut spec: Value) -> Value {
    spec["healthCheckExprs"] = by_value();
    spec
}

/// Conditions in one line each: `Ready=True InstallSucceeded`.
pub(super) fn said(object: &HelmRelease, kinds: &[&str]) -> Vec<String> {
    let found = kinds.iter().map(|kind| match condition(object, kind) {
        Some(found) => format!("{kind}={} {}", found.status, found.reason),
        None => format!("no {kind}"),
    });
    found.collect()
}

/// The message of a condition.
pub(super) fn message(object: &HelmRelease, kind: &str) -> String {
    condition(object, kind)
        .map(|found| found.message)
        .unwrap_or_default()
}

impl Setting {
    /// Changes the spec of a HelmRelease.
    pub(super) async fn change(&self, name: &str, spec: Value) {
        self.bed.patch(name, json!({"spec": spec})).await;
    }

    /// Waits until conditions are these, each as [`said`] tells it, of the newest generation.
    pub(super) async fn until_said(&self, name: &str, wanted: &[&str]) -> HelmRelease {
        let kinds: Vec<&str> = wanted
            .iter()
            .map(|line| {
                let line = line.strip_prefix("no ").unwrap_or(line);
                line.split('=').next().unwrap()
            })
            .collect();
        self.bed
            .until(name, |object| {
                let status = object.status.as_ref();
                let tried = status.and_then(|status| status.last_attempted_generation);
                tried == object.metadata.generation && said(object, &kinds) == wanted
            })
            .await
    }

    /// Waits until nothing is done any more for this reason.
    pub(super) async fn stalled(&self, name: &str, reason: &str) -> HelmRelease {
        self.until_said(name, &[&format!("Stalled=True {reason}"), "no Reconciling"])
            .await
    }

    pub(super) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.bed.cluster.client(), &self.bed.namespace)
    }

    /// What is stored of a version of a release.
    pub(super) async fn record(&self, release: &str, version: i64) -> Record {
        let secret = self.secrets().get(&helm::record::name(release, version)).await;
        let object = model::convert::from_serde(&secret.unwrap()).unwrap();
        helm::record::from_object(&object).unwrap()
    }

    /// Has something else stored of a version of a release, as somebody else does.
    pub(super) async fn store(&self, record: &Record) {
        let change = Change::Create(jiff::Timestamp::now().as_second());
        let object = helm::record::to_object(record, &self.bed.namespace, Driver::Secret, change).unwrap();
        let secret: Secret = model::convert::to_serde(&object).unwrap();
        let name = helm::record::name(&record.name, record.version);
        let _ = self.secrets().delete(&name, &Default::default()).await;
        self.secrets().create(&Default::default(), &secret).await.unwrap();
    }

    /// What the records of a release say of themselves, the oldest first.
    pub(super) async fn stories(&self, release: &str) -> Vec<String> {
        let mut stories = Vec::new();
        for (version, status) in self.records(release).await {
            let record = self.record(release, version.parse().unwrap()).await;
            stories.push(format!("{version} {status}: {}", record.info.description));
        }
        stories
    }

    /// Makes or changes any object of the namespace, as somebody else does.
    pub(super) async fn put(&self, object: Value) {
        let object: kube::api::DynamicObject = serde_json::from_value(object).unwrap();
        let types = object.types.clone().unwrap();
        let (group, version) = types
            .api_version
            .split_once('/')
            .unwrap_or(("", &types.api_version));
        let kind = kube::api::GroupVersionKind::gvk(group, version, &types.kind);
        let resource = kube::api::ApiResource::from_gvk(&kind);
        let api: Api<kube::api::DynamicObject> =
            Api::namespaced_with(self.bed.cluster.client(), &self.bed.namespace, &resource);
        let name = object.metadata.name.clone().unwrap();
        let by = PatchParams::apply("somebody").force();
        api.patch(&name, &by, &Patch::Apply(&object)).await.unwrap();
    }

    /// Makes or changes a ConfigMap with one value.
    pub(super) async fn put_value(&self, name: &str, value: &str) {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value},
        });
        self.put(map).await;
    }

    /// Plays the kubelet for a Pod: waits for it, and says how it has ended.
    pub(super) async fn end_pod(&self, name: &str, phase: &str) {
        let pods: Api<k8s_openapi::api::core::v1::Pod> =
            Api::namespaced(self.bed.cluster.client(), &self.bed.namespace);
        let there = object_settled(pods.clone(), name, testkit::DEADLINE, |pod| match pod {
            Some(_) => Ok(()),
            None => Err("there is no such pod".to_owned()),
        });
        there.await.unwrap();
        let status = Patch::Merge(json!({"status": {"phase": phase}}));
        pods.patch_status(name, &Default::default(), &status)
            .await
            .unwrap();
    }

    /// Asks for a run and for more by an annotation of Flux.
    pub(super) async fn ask_for(&self, name: &str, what: &str) {
        let token = jiff::Timestamp::now().to_string();
        let mut annotations = json!({"reconcile.fluxcd.io/requestedAt": token});
        annotations[format!("reconcile.fluxcd.io/{what}")] = json!(token);
        self.bed
            .patch(name, json!({"metadata": {"annotations": annotations}}))
            .await;
    }
}
