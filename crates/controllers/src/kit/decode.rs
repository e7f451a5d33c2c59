//! Objects as a watch brings them, each decoded by itself: one that cannot be decoded must not hide the
//! others of its kind. A schema accepts more than a type holds: `interval: 3000000h` fits its pattern, and
//! no duration is that long. A server accepts more levels of nesting than the decoder: each object is split
//! off as text, which takes no recursion, before it is decoded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use api::{ConditionType, Fields, Object, Reason, ReconcileStatus, Spec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Patch;
use kube::core::{NamespaceResourceScope, Request};
use kube::{Client, Resource, ResourceExt};
use model::Time;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::chain::chain;
use super::conclude::Failure;
use super::cut::cut;
use super::desk::Desk;
use super::named;
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
        let text = Box::<RawValue>::deserialize(deserializer)?;
        decode(text.get()).map_err(D::Error::custom)
    }
}

/// Decodes one object. It fails only for a text that is no object with metadata.
fn decode<S: Spec>(text: &str) -> serde_json::Result<Decoded<S>> {
    let problem = match serde_json::from_str::<Fields>(text).map(|fields| S::read(&fields)) {
        Ok(Ok(object)) => return Ok(Decoded::Object(Box::new(object))),
        Ok(Err(error)) => Ok(error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let parts: Parts<'_> = serde_json::from_str(text)?;
    let problem = problem.unwrap_or_else(|error| parts.problem().unwrap_or(error));
    Ok(Decoded::Undecodable(Box::new(Undecodable {
        metadata: parts.metadata()?,
        status: parts.status(),
        problem: cut(&problem, LONGEST_PROBLEM),
    })))
}

/// The most bytes of a problem. Whoever writes an object chooses the texts that a problem repeats.
const LONGEST_PROBLEM: usize = 1024;

/// The parts of an object that cannot be decoded, as text.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

/// The metadata that a report and a watch need. The rest may be what cannot be decoded: `managedFields`
/// are nested as deeply as the fields that they name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    generation: Option<i64>,
    resource_version: Option<String>,
    annotations: Option<BTreeMap<String, String>>,
}

impl From<Identity> for ObjectMeta {
    fn from(identity: Identity) -> Self {
        ObjectMeta {
            name: identity.name,
            namespace: identity.namespace,
            uid: identity.uid,
            generation: identity.generation,
            resource_version: identity.resource_version,
            annotations: identity.annotations,
            ..ObjectMeta::default()
        }
    }
}

impl Parts<'_> {
    fn metadata(&self) -> serde_json::Result<ObjectMeta> {
        serde_json::from_str::<Identity>(self.metadata.get()).map(ObjectMeta::from)
    }

    /// The status; nothing where it cannot be read.
    fn status(&self) -> Value {
        let status = self.status.map(|status| serde_json::from_str(status.get()));
        status.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns what keeps the object from being read as JSON. The spec comes first: the metadata repeat its nesting.
    fn problem(&self) -> Option<String> {
        let parts = [
            ("spec", self.spec),
            ("status", self.status),
            ("metadata", Some(self.metadata)),
        ];
        parts
            .into_iter()
            .find_map(|(name, text)| unreadable(name, text?.get()))
    }
}

/// Returns what keeps a part of an object from being read as JSON, and the field: `spec.values: ...`.
fn unreadable(name: &str, text: &str) -> Option<String> {
    // At the depth that it has in the object.
    let text = format!("{{\"{name}\":{text}}}");
    let mut reader = serde_json::Deserializer::from_str(&text);
    let error = serde_path_to_error::deserialize::<_, Value>(&mut reader).err()?;
    let field: Vec<String> = error.path().iter().take(2).map(ToString::to_string).collect();
    let why = error.inner().to_string();
    let why = match why.starts_with("recursion limit exceeded") {
        true => "nested too deeply: the limit is 127 levels".to_owned(),
        false => why,
    };
    Some(format!("{}: {why}", field.join(".")))
}

/// An object that a spec names, if it exists.
///
/// # Errors
/// Where namespace or name are none, the cluster does not answer, or the object cannot be decoded.
pub(super) async fn get_opt<S: Spec>(
    client: &Client,
    namespace: &str,
    name: &str,
) -> kube::Result<Option<Object<S>>> {
    match named::get_opt::<Decoded<S>>(client, namespace, name).await? {
        None => Ok(None),
        Some(Decoded::Object(object)) => Ok(Some(*object)),
        Some(Decoded::Undecodable(broken)) => {
            let error = serde_json::Error::custom(broken.message());
            Err(kube::Error::SerdeError(error))
        }
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
        match self.send(desk, &patch).await {
            Ok(()) => Done::Forget,
            Err(kube::Error::Api(status)) if status.code == 404 => Done::Forget,
            Err(error) => {
                tracing::warn!("failed to write a status: {}", chain(&error));
                Done::Retry
            }
        }
    }

    /// Sends a patch of the status. The answer is the object, which cannot be decoded.
    async fn send<S>(&self, desk: &Desk<S>, patch: &Value) -> kube::Result<()>
    where
        S: Spec<Status: ReconcileStatus + PartialEq>,
    {
        let (namespace, name) = self.key();
        let request = Request::new(Object::<S>::url_path(&(), Some(&namespace)));
        let by = desk.writer.parameters();
        let request = request.patch_subresource("status", &name, &by, &Patch::Merge(patch));
        let request = request.map_err(kube::Error::BuildRequest)?;
        desk.writer.client.request_text(request).await.map(drop)
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
    use api::helm::HelmReleaseSpec;
    use api::kustomize::KustomizationSpec;
    use kube::api::{ObjectList, WatchEvent};

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

    /// `{"a": {"a": ...}}`
    fn nested(depth: usize) -> String {
        format!("{}{}", "{\"a\":".repeat(depth - 1) + "{", "}".repeat(depth))
    }

    fn release(name: &str, values: &str, managed: &str) -> String {
        format!(
            r#"{{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{{"annotations":{{"a":"b"}},
            "generation":3,"managedFields":[{{"manager":"m","fieldsV1":{managed}}}],"name":"{name}","namespace":"team",
            "resourceVersion":"7","uid":"u"}},"spec":{{"interval":"1h","values":{values}}},"status":{{"observedGeneration":2}}}}"#
        )
    }

    fn list(items: &[String]) -> Vec<Decoded<HelmReleaseSpec>> {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"List","metadata":{{"resourceVersion":"9"}},"items":[{}]}}"#,
            items.join(",")
        );
        let list: ObjectList<Decoded<HelmReleaseSpec>> = serde_json::from_str(&text).unwrap();
        assert_eq!(list.metadata.resource_version.as_deref(), Some("9"));
        list.items
    }

    fn broken(decoded: &Decoded<HelmReleaseSpec>) -> &Undecodable {
        match decoded {
            Decoded::Undecodable(broken) => broken,
            Decoded::Object(_) => panic!("it was decoded"),
        }
    }

    #[test]
    fn objects_beside_one_that_is_nested_too_deeply_are_decoded() {
        for depth in [150, 10_000] {
            let bad = release("bad", &nested(depth), &nested(depth));
            let items = list(&[release("a", "{}", "{}"), bad, release("b", "{}", "{}")]);
            assert!(matches!(items[0], Decoded::Object(_)) && matches!(items[2], Decoded::Object(_)));
            let broken = broken(&items[1]);
            assert_eq!(broken.key(), ("team".to_owned(), "bad".to_owned()));
            let metadata = &broken.metadata;
            assert_eq!(
                (metadata.uid.as_deref(), metadata.generation),
                (Some("u"), Some(3))
            );
            assert_eq!(metadata.resource_version.as_deref(), Some("7"));
            assert_eq!(broken.status, json!({"observedGeneration": 2}));
            let told = "spec.values: nested too deeply: the limit is 127 levels";
            assert_eq!(broken.problem, told);
        }
    }

    #[test]
    fn the_limit_is_that_of_the_object_wherever_it_comes_from() {
        // The object and its spec are two more levels.
        let items = list(&[release("a", &nested(125), "{}"), release("b", &nested(126), "{}")]);
        assert!(matches!(items[0], Decoded::Object(_)));
        assert!(broken(&items[1]).problem.starts_with("spec.values: nested"));
    }

    #[test]
    fn metadata_that_are_nested_too_deeply_are_named() {
        let items = list(&[release("a", "{}", &nested(150))]);
        let problem = &broken(&items[0]).problem;
        assert!(problem.starts_with("metadata.managedFields: nested"), "{problem}");
    }

    #[test]
    fn an_event_of_an_object_that_is_nested_too_deeply_is_one_of_that_object() {
        let text = format!(
            r#"{{"type":"MODIFIED","object":{}}}"#,
            release("bad", &nested(10_000), "{}")
        );
        let event: WatchEvent<Decoded<HelmReleaseSpec>> = serde_json::from_str(&text).unwrap();
        let WatchEvent::Modified(decoded) = event else {
            panic!("it is another event: {event:?}");
        };
        assert_eq!(broken(&decoded).metadata.name.as_deref(), Some("bad"));
    }

    /// Such numbers are JSON, and no value holds them.
    #[test]
    fn a_number_that_cannot_be_held_is_named() {
        let items = list(&[release("a", r#"{"a": 1e999}"#, "{}")]);
        let problem = &broken(&items[0]).problem;
        assert!(
            problem.starts_with("spec.values: number out of range"),
            "{problem}"
        );
    }

    #[test]
    fn a_problem_is_cut() {
        let long = "1".repeat(100_000);
        let broken = problem(json!({"interval": long}));
        assert_eq!(broken.len(), LONGEST_PROBLEM);
        assert!(broken.starts_with("spec.interval: "), "{broken}");
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
