//! A look at a cluster: what there is of each case, once nothing goes on with it.

use kube::api::ListParams;
use kube::core::DynamicObject;
use serde_json::Value;

use super::cases::Case;
use super::shown::Found;
use super::side::{Side, token};

/// What HelmReleases make here.
const MADE: [(&str, &str); 7] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("v1", "Namespace"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
];

impl Side {
    /// What there is of each case after so many steps.
    pub(super) async fn found(&self, cases: &[Case], steps: usize) -> Vec<Found> {
        let objects = self.list("helm.toolkit.fluxcd.io/v2", "HelmRelease").await;
        let events = self.list("v1", "Event").await;
        let secrets = self.list("v1", "Secret").await;
        let mut made = Vec::new();
        for (api_version, kind) in MADE {
            made.extend(self.list(api_version, kind).await);
        }
        let found = cases.iter().map(|case| {
            let namespaces = case.namespaces();
            let is_of = |object: &&DynamicObject| namespaces.iter().any(|space| is_in(object, space));
            let is_about = |event: &&DynamicObject| event.data["involvedObject"]["kind"] == "HelmRelease";
            let is_record = |secret: &&DynamicObject| secret.data["type"] == "helm.sh/release.v1";
            let object = objects.iter().find(|object| is_in(object, &case.name)).cloned();
            Found {
                is_settled: match &object {
                    None => case.is_deleted(steps),
                    Some(object) => !case.is_deleted(steps) && is_settled(object, steps),
                },
                object,
                events: events.iter().filter(is_of).filter(is_about).cloned().collect(),
                records: secrets.iter().filter(is_of).filter(is_record).cloned().collect(),
                made: made
                    .iter()
                    .filter(|object| is_made(object, case))
                    .cloned()
                    .collect(),
            }
        });
        found.collect()
    }

    async fn list(&self, api_version: &str, kind: &str) -> Vec<DynamicObject> {
        let found = self
            .api(api_version, kind, None)
            .list(&ListParams::default())
            .await;
        let mut found = found.unwrap().items;
        for object in &mut found {
            object.types = Some(kube::core::TypeMeta {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
            });
        }
        found
    }
}

fn is_in(object: &DynamicObject, namespace: &str) -> bool {
    object.metadata.namespace.as_deref() == Some(namespace)
}

/// Whether a case has made it: in its namespaces, or one of these, or a definition of its group.
fn is_made(object: &DynamicObject, case: &Case) -> bool {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let namespaces = case.namespaces();
    match object.metadata.namespace.as_deref() {
        // What workloads make has other names each time.
        Some(namespace) => {
            namespaces.contains(&namespace)
                && name != "kube-root-ca.crt"
                && object.metadata.owner_references.is_none()
        }
        None => namespaces.contains(&name) || name.ends_with(&format!(".{}.test", case.name)),
    }
}

/// Whether a run has come to its end, the one that was asked for if one was.
fn is_settled(object: &DynamicObject, steps: usize) -> bool {
    let status = &object.data["status"];
    if object.data["spec"]["suspend"] == true {
        return object.metadata.finalizers.is_some();
    }
    let handled = status["lastHandledReconcileAt"].as_str();
    if steps > 0 && handled != Some(&*token(steps - 1)) {
        return false;
    }
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let find = |name: &str| conditions.iter().find(|one| one["type"] == name);
    let of_now = |written: &Value| written["observedGeneration"].as_i64() == object.metadata.generation;
    let Some(ready) = find("Ready").filter(|ready| of_now(ready) && ready["status"] != "Unknown") else {
        return false;
    };
    let is_remedied = |doing: &str| {
        ["rollback", "uninstall", "test"]
            .iter()
            .any(|what| doing.contains(what))
    };
    match find("Reconciling") {
        None => true,
        Some(doing) if doing["reason"] == "ProgressingWithRetry" => true,
        // What cannot be done is tried again and again, and said to be going on.
        Some(doing) => {
            ready["status"] == "False" && !is_remedied(doing["message"].as_str().unwrap_or_default())
        }
    }
}
