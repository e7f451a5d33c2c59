//! What is attached to a manifest: signatures, attestations, lists of contents.

use http::Method;
use serde_json::{Value, json};

use super::digest::is_digest;
use super::failure::Failure;
use super::store::{Manifest, Store};
use crate::http::{Reply, Request};

pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The list of those manifests that are about another one.
pub(super) fn list(store: &Store, request: &Request, name: &str, digest: &str) -> Reply {
    if request.method != Method::GET {
        return Failure::Unsupported.about(request.method.as_str());
    }
    if !is_digest(digest) {
        return Failure::DigestInvalid.about(digest);
    }
    let wanted = request.query("artifactType");
    let mut found = descriptors(store, name, digest);
    if let Some(wanted) = &wanted {
        found.retain(|descriptor| descriptor["artifactType"] == *wanted);
    }
    let reply = Reply::ok(INDEX, index(&found).to_string());
    match wanted {
        Some(_) => reply.with("oci-filters-applied", "artifactType"),
        None => reply,
    }
}

/// An index of these descriptors.
pub(super) fn index(descriptors: &[Value]) -> Value {
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": descriptors})
}

/// The descriptors of the manifests that are about this one.
pub(super) fn descriptors(store: &Store, name: &str, subject: &str) -> Vec<Value> {
    let manifests = store
        .repositories
        .get(name)
        .into_iter()
        .flat_map(|repository| &repository.manifests);
    let about = manifests.filter(|(_, manifest)| manifest.subject().as_deref() == Some(subject));
    about
        .map(|(digest, manifest)| descriptor(digest, manifest))
        .collect()
}

fn descriptor(digest: &str, manifest: &Manifest) -> Value {
    let json = manifest.json();
    let mut descriptor =
        json!({"mediaType": manifest.media_type, "digest": digest, "size": manifest.content.len()});
    // Without a type of its own an artifact's type is that of its config.
    let artifact_type = json
        .get("artifactType")
        .or_else(|| json["config"].get("mediaType"));
    for (key, value) in [
        ("artifactType", artifact_type),
        ("annotations", json.get("annotations")),
    ] {
        if let Some(value) = value {
            descriptor[key] = value.clone();
        }
    }
    descriptor
}
