//! What goes wrong outside of us: each failure has its condition and reason and a message that names what it is about and what
//! to do, and the last good artifact stays served.

mod bucket;
mod git;
mod helm;
mod oci;
mod proxy;
mod remedies;

use api::{Object, ReconcileStatus, Spec};
use model::Artifact;
use serde_json::{Value, json};

use super::bed::{Bed, condition};
use super::follow::shown;

/// The artifact that a status tells of.
pub(crate) fn artifact<S: Spec>(object: &Object<S>) -> Option<Artifact> {
    let status = serde_json::to_value(&object.status).unwrap();
    match &status["artifact"] {
        Value::Null => None,
        artifact => Some(serde_json::from_value(artifact.clone()).unwrap()),
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// Has a run of an object that was good fail, for this reason, with a message that has these words.
    pub(crate) async fn fails(&self, name: &str, kind: &str, reason: &str, words: &[&str]) -> Object<S> {
        let before = artifact(&self.api.get(name).await.unwrap()).expect("it has an artifact");
        let token = format!("{reason} {}", jiff::Timestamp::now());
        let object = self.requested(name, &token).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert_eq!(shown(&object, "Ready"), format!("False/{reason}"), "{message}");
        let expected = if kind == "SourceVerified" { "False" } else { "True" };
        assert_eq!(shown(&object, kind), format!("{expected}/{reason}"));
        for word in words {
            assert!(message.contains(word), "{word:?} is not in: {message}");
        }
        assert!(!message.contains("geheim"), "{message}");
        let after = artifact(&object).expect("the last good artifact stays");
        assert_eq!(after, before);
        self.store.read(&after).expect("the last good artifact is served");
        object
    }

    /// Has a run go well.
    pub(crate) async fn recovers(&self, name: &str) -> Object<S> {
        let token = format!("well {}", jiff::Timestamp::now());
        let object = self.requested(name, &token).await;
        let ready = condition(&object, "Ready").unwrap();
        assert_eq!(shown(&object, "Ready"), "True/Succeeded", "{}", ready.message);
        object
    }

    /// Changes what a Secret holds.
    pub(crate) async fn change_secret(&self, name: &str, data: Value) {
        let client = self.cluster.client();
        let api: kube::Api<k8s_openapi::api::core::v1::Secret> =
            kube::Api::namespaced(client, &self.namespace);
        let patch = kube::api::Patch::Merge(json!({"stringData": data}));
        api.patch(name, &Default::default(), &patch).await.unwrap();
    }
}

/// A spec with more in it.
pub(crate) fn with(mut spec: Value, rest: Value) -> Value {
    let rest = rest.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(rest);
    spec
}
