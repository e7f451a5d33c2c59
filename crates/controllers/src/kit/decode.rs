//! Objects as a watch brings them, each decoded by itself: one that cannot be decoded must not hide the
//! others of its kind. A schema accepts more than a type holds: `interval: 3000000h` fits its pattern, and
//! no duration is that long.

use std::borrow::Cow;

use api::{ConditionType, Object, Reason, ReconcileStatus, Spec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch};
use kube::core::{ApiResource, DynamicObject, NamespaceResourceScope};
use kube::{Resource, ResourceExt};
use model::Time;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::chain::chain;
use super::conclude::Failure;
use super::desk::Desk;
use super::queue::Done;
use super::writer::Key;

/// An object as a watch brings it.
#[derive(Clone, Debug)]
pub(super) enum Decoded<S: Spec> {
    Object(Box<Object<S>>),
    Undecodable(Box<Undecodable>),
}

/// An object that is not what its kind says.
#[derive(Clone, Debug)]
pub(super) struct Undecodable {
    pub(super) metadata: ObjectMeta,
    /// The status as it is.
    status: Value,
    /// The field, and what is wrong with it.
    pub(super) problem: String,
}

impl<'de, S: Spec> Deserialize<'de> for Decoded<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        // Only what fails is decoded again, to find the field.
        if let Ok(object) = Object::<S>::deserialize(&value) {
            return Ok(Decoded::Object(Box::new(object)));
        }
        let metadata = value.get("metadata").unwrap_or(&Value::Null);
        let metadata = ObjectMeta::deserialize(metadata).map_err(D::Error::custom)?;
        let problem = problem::<S>(&value);
        Ok(Decoded::Undecodable(Box::new(Undecodable {
            metadata,
            status: value.get_mut("status").map(Value::take).unwrap_or_default(),
            problem,
        })))
    }
}

impl<S: Spec> Resource for Decoded<S> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        Object::<S>::kind(&())
    }

    fn group(_: &()) -> Cow<'_, str> {
        Object::<S>::group(&())
    }

    fn version(_: &()) -> Cow<'_, str> {
        Object::<S>::version(&())
    }

    fn plural(_: &()) -> Cow<'_, str> {
        Object::<S>::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Decoded::Object(object) => &object.metadata,
            Decoded::Undecodable(broken) => &broken.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Decoded::Object(object) => &mut object.metadata,
            Decoded::Undecodable(broken) => &mut broken.metadata,
        }
    }
}

impl<S: Spec> Decoded<S> {
    pub(super) fn key(&self) -> Key {
        (self.namespace().unwrap_or_default(), self.name_any())
    }
}

/// Returns what is wrong with an object, and the path of the field: `spec.interval: ...`.
///
/// This takes as long as decoding the object once more, whatever is wrong with it.
fn problem<S: Spec>(value: &Value) -> String {
    match serde_path_to_error::deserialize::<_, Object<S>>(value) {
        Ok(_) => "it cannot be decoded".to_owned(),
        Err(error) if error.path().iter().next().is_none() => error.inner().to_string(),
        Err(error) => format!("{}: {}", error.path(), error.inner()),
    }
}

impl Undecodable {
    pub(super) fn key(&self) -> Key {
        let ObjectMeta { namespace, name, .. } = &self.metadata;
        (
            namespace.clone().unwrap_or_default(),
            name.clone().unwrap_or_default(),
        )
    }

    /// The message of its conditions.
    pub(super) fn message(&self) -> String {
        format!("the object cannot be read: {}: correct the field", self.problem)
    }

    /// Reports it in its status and by an event. It stays as it is until somebody corrects it.
    pub(super) async fn report<S>(&self, desk: &Desk<S>) -> Done
    where
        S: Spec<Status: ReconcileStatus + PartialEq>,
    {
        let (namespace, name) = self.key();
        let now = Time::new(jiff::Timestamp::now()).to_string();
        let Some(patch) = self.status_patch(&now) else {
            return Done::Forget;
        };
        let object = Object::<S> {
            metadata: self.metadata.clone(),
            ..Object::default()
        };
        let failure = Failure::stalled(Reason::INVALID_SPEC, self.message());
        desk.tell_news(&object, Vec::new(), Some(failure.notice()));
        let resource = ApiResource::erase::<Object<S>>(&());
        let client = desk.writer.client.clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &resource);
        let by = desk.writer.parameters();
        match api.patch_status(&name, &by, &Patch::Merge(&patch)).await {
            Ok(_) => Done::Forget,
            Err(kube::Error::Api(status)) if status.code == 404 => Done::Forget,
            Err(error) => {
                tracing::warn!("failed to write a status: {}", chain(&error));
                Done::Retry
            }
        }
    }

    /// A patch of the status that says so; `None` where the status says it already.
    pub(super) fn status_patch(&self, now: &str) -> Option<Value> {
        let generation = self.metadata.generation.unwrap_or_default();
        let old = self.status["conditions"].as_array().cloned().unwrap_or_default();
        let kinds = [
            ConditionType::READY,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ];
        let is_ours = |one: &Value| kinds.iter().any(|kind| one["type"] == kind.as_str());
        let mut conditions: Vec<Value> = old.iter().filter(|one| !is_ours(one)).cloned().collect();
        for (kind, status) in [(ConditionType::STALLED, "True"), (ConditionType::READY, "False")] {
            let before = old
                .iter()
                .find(|one| one["type"] == kind.as_str() && one["status"] == status);
            let since = before
                .and_then(|one| one["lastTransitionTime"].as_str())
                .unwrap_or(now);
            conditions.push(json!({
                "type": kind.as_str(), "status": status, "reason": Reason::INVALID_SPEC.as_str(), "message": self.message(),
                "observedGeneration": generation, "lastTransitionTime": since,
            }));
        }
        // Others may have set any number of conditions: only ours are compared.
        let before: Vec<&Value> = old.iter().filter(|one| is_ours(one)).collect();
        let ours: Vec<&Value> = conditions.iter().filter(|one| is_ours(one)).collect();
        let is_same = before.len() == ours.len() && ours.iter().all(|one| before.contains(one));
        (!is_same).then(|| {
            json!({
                "metadata": {"resourceVersion": self.metadata.resource_version},
                "status": {"conditions": conditions, "observedGeneration": generation},
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use api::kustomize::KustomizationSpec;

    use super::*;

    fn decoded(spec: Value) -> Decoded<KustomizationSpec> {
        let mut all = json!({
            "interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        all.as_object_mut()
            .unwrap()
            .extend(spec.as_object().unwrap().clone());
        let object = json!({"metadata": {"name": "app", "namespace": "team", "generation": 2}, "spec": all});
        serde_json::from_value(object).unwrap()
    }

    fn problem(spec: Value) -> String {
        match decoded(spec) {
            Decoded::Undecodable(broken) => broken.problem,
            Decoded::Object(_) => String::new(),
        }
    }

    #[test]
    fn the_field_is_named_that_cannot_be_decoded() {
        assert_eq!(problem(json!({})), "");
        for (spec, told) in [
            (json!({"interval": "3000000h"}), "spec.interval: "),
            (json!({"timeout": "3000000h"}), "spec.timeout: "),
            (
                json!({"sourceRef": {"kind": "GitRepository", "name": 1}}),
                "spec.sourceRef.name: ",
            ),
            (
                json!({"dependsOn": [{"name": "a"}, {"name": []}]}),
                "spec.dependsOn[1].name: ",
            ),
        ] {
            let problem = problem(spec);
            assert!(problem.starts_with(told), "{problem}");
        }
    }

    #[test]
    fn what_is_said_already_is_not_written_again() {
        let Decoded::Undecodable(mut broken) = decoded(json!({"interval": "3000000h"})) else {
            panic!("it was decoded");
        };
        let other = json!({"type": "Healthy", "status": "True"});
        broken.status = json!({"conditions": [other, {"type": "Ready", "status": "True"}]});
        let patch = broken.status_patch("2026-01-01T00:00:00Z").unwrap();
        let conditions = patch["status"]["conditions"].as_array().unwrap();
        assert_eq!(conditions[0], other);
        assert_eq!(conditions.len(), 3);
        assert!(
            conditions[2]["message"]
                .as_str()
                .unwrap()
                .contains("spec.interval")
        );
        broken.status = patch["status"].clone();
        assert_eq!(broken.status_patch("2026-01-02T00:00:00Z"), None);
    }

    /// Finding the field took as many attempts as there are entries, each as long as decoding all of them.
    #[test]
    fn the_field_is_found_in_time_that_grows_with_the_object() {
        let entry = |duration: &str| {
            json!({
                "digest": "sha256:0", "firstReconciled": "2026-01-02T03:04:05Z", "lastReconciled": "2026-01-02T03:04:05Z",
                "lastReconciledDuration": duration, "lastReconciledStatus": "ReconciliationSucceeded", "totalReconciliations": 1,
            })
        };
        let mut history = vec![entry("1s"); 10_000];
        history.push(entry("3000000h"));
        let spec = json!({
            "interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        let object = json!({"metadata": {"name": "app"}, "spec": spec, "status": {"history": history}});
        let start = std::time::Instant::now();
        let Decoded::Undecodable(broken) =
            serde_json::from_value::<Decoded<KustomizationSpec>>(object).unwrap()
        else {
            panic!("it was decoded");
        };
        let took = start.elapsed();
        let field = "status.history[10000].lastReconciledDuration: ";
        assert!(broken.problem.starts_with(field), "{}", broken.problem);
        assert!(took < std::time::Duration::from_secs(10), "{took:?}");
    }
}
