//! Bringing a desired object into the form in which it is applied.
//!
//! Objects of Kubernetes' own kinds get the form that Go's types give them: unknown fields are gone, amounts, times and
//! bytes are written in one way, and what is empty is left out. Fields that server-side apply needs to tell list elements
//! apart are filled in, and the text values of a Secret become its data. This is what Flux does before it applies, so that the
//! same source leads to the same requests.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::object_key::split_api_version;
use model::{Map, Value};
use smd::TypeId;
use smd::go::GoTypes;
use smd::schema::{Schema, Shape};

/// Normalises objects. Making one reads the table of types: make it once and share it.
#[derive(Clone, Debug)]
pub struct Normaliser {
    schema: Arc<Schema>,
    types: Arc<GoTypes>,
}

/// Groups whose kinds are in the table but not among those that Flux knows.
const UNKNOWN_GROUPS: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

const POD_SPEC: &[&str] = &["spec", "template", "spec"];

impl Normaliser {
    /// A normaliser by the types of this schema, which must be [`Schema::builtin`] or begin with it.
    pub fn new(schema: Arc<Schema>) -> Self {
        let types = GoTypes::new(&schema);
        Normaliser { schema, types }
    }

    /// Brings `object` into the form in which it is applied. An object that does not fit its type keeps its form, but for
    /// what no desired object should have: a time of creation and a status.
    ///
    /// [`super::drop_unreadable_authority`] is apart, as Flux does it later, when it looks at the cluster.
    pub fn normalise(&self, object: &mut Value) {
        let (api_version, kind) = (object.str_at(&["apiVersion"]), object.str_at(&["kind"]));
        // Flux leaves roles alone since Go's types would empty their rules.
        if api_version == "rbac.authorization.k8s.io/v1" && (kind == "Role" || kind == "ClusterRole") {
            return;
        }
        if let Some(ty) = self.known(api_version, kind) {
            let mut typed = object.clone();
            if self.types.decode(ty, &mut typed).is_ok() {
                restore_empty(object, &mut typed);
                complete(&mut typed);
                *object = typed;
            }
        }
        if object
            .at(&["metadata"])
            .is_none_or(|metadata| metadata.as_object().is_some())
        {
            object.set_at(&["metadata", "creationTimestamp"], Value::Null);
        }
        if !is_definition(object) {
            object.remove_at(&["status"]);
        }
    }

    fn known(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        let (group, version) = split_api_version(api_version);
        if UNKNOWN_GROUPS.contains(&group) {
            return None;
        }
        let ty = self.schema.kind(group, version, kind)?;
        // Lists and options are kinds too, but no objects.
        let Shape::Struct(fields) = &self.schema.get(ty).shape else {
            return None;
        };
        let metadata = &self.schema.get(fields.field("metadata")?.ty).name;
        (metadata == "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").then_some(ty)
    }
}

pub(super) fn is_definition(object: &Value) -> bool {
    object.str_at(&["kind"]) == "CustomResourceDefinition"
        && split_api_version(object.str_at(&["apiVersion"])).0 == "apiextensions.k8s.io"
}

/// Puts lists and maps back that were given as empty ones: to the API server's store they are the same as none, but not
/// in a request.
fn restore_empty(given: &Value, typed: &mut Value) {
    match (given, typed) {
        (Value::Array(items), typed @ Value::Null) if items.is_empty() => *typed = given.clone(),
        (Value::Object(map), typed @ Value::Null) if map.is_empty() => *typed = given.clone(),
        (Value::Array(given), Value::Array(typed)) => {
            given
                .iter()
                .zip(typed)
                .for_each(|(given, typed)| restore_empty(given, typed));
        }
        (Value::Object(given), Value::Object(typed)) => {
            for (name, typed) in typed.iter_mut() {
                if let Some(given) = given.get(name) {
                    restore_empty(given, typed);
                }
            }
        }
        _ => {}
    }
}

/// Fills in what server-side apply cannot do without.
fn complete(object: &mut Value) {
    match (object.str_at(&["apiVersion"]), object.str_at(&["kind"])) {
        ("v1", "Pod") => name_protocols(object, &["spec"]),
        ("apps/v1", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") | ("batch/v1", "Job") => {
            name_protocols(object, POD_SPEC);
        }
        ("batch/v1", "CronJob") => {
            name_protocols(object, &["spec", "jobTemplate", "spec", "template", "spec"]);
        }
        ("v1", "Service") => name_protocol(object.at_mut(&["spec", "ports"])),
        ("v1", "Secret") => move_text(object),
        _ => {}
    }
}

fn name_protocols(object: &mut Value, pod: &[&str]) {
    let containers = object
        .at_mut(pod)
        .and_then(|pod| pod.get_mut("containers"))
        .and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        name_protocol(container.get_mut("ports"));
    }
}

/// Ports are told apart by number and protocol, and the protocol has a default that an apply does not know of
/// (kubernetes-sigs/structured-merge-diff#130).
fn name_protocol(ports: Option<&mut Value>) {
    for port in ports.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(port) = port.as_object_mut().filter(|port| !port.contains_key("protocol")) {
            port.insert("protocol", "TCP");
        }
    }
}

/// Moves `stringData` to `data`: an apply would not remove from the data what is gone from the texts
/// (kubernetes/kubernetes#108008).
fn move_text(secret: &mut Value) {
    let Some(secret) = secret.as_object_mut() else {
        return;
    };
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    let data = secret.entry("data").make_object();
    let encoded = |text: &Value| STANDARD.encode(text.as_str().unwrap_or_default());
    let texts: Map = texts.iter().map(|(name, text)| (name, encoded(text))).collect();
    for (name, text) in texts {
        data.insert(name, text);
    }
}
