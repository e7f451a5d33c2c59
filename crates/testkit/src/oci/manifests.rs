//! Manifests by tag and digest.

use http::{Method, header};
use serde_json::Value;

use super::digest::{is_digest, matches};
use super::failure::Failure;
use super::name::is_tag;
use super::registry::Referrers;
use super::store::{Manifest, Store};
use crate::digest::sha256;
use crate::http::{Reply, Request};

/// The longest manifest that is taken.
const LIMIT: usize = 4 << 20;

pub(super) fn reply(
    store: &mut Store,
    request: &Request,
    name: &str,
    reference: &str,
    referrers: Referrers,
) -> Reply {
    if !is_tag(reference) && !is_digest(reference) {
        return match reference.contains(':') {
            true => Failure::DigestInvalid.about(reference),
            false => Failure::TagInvalid.about(reference),
        };
    }
    match request.method {
        Method::GET | Method::HEAD => read(store, name, reference),
        Method::PUT => write(store, request, name, reference, referrers),
        Method::DELETE => delete(store, name, reference),
        _ => Failure::Unsupported.about(request.method.as_str()),
    }
}

fn read(store: &Store, name: &str, reference: &str) -> Reply {
    if !store.repositories.contains_key(name) {
        return Failure::NameUnknown.about(name);
    }
    let Some((digest, manifest)) = store.manifest(name, reference) else {
        return Failure::ManifestUnknown.about(reference);
    };
    Reply::ok(&manifest.media_type, manifest.content.clone())
        .with("docker-content-digest", &digest)
        .with(header::ETAG, format!("\"{digest}\""))
}

fn write(store: &mut Store, request: &Request, name: &str, reference: &str, referrers: Referrers) -> Reply {
    let content = request.body.clone();
    if content.len() > LIMIT {
        return Failure::SizeInvalid.about(reference);
    }
    let digest = match is_digest(reference) {
        true => reference.to_string(),
        false => sha256(&content),
    };
    if matches(&digest, &content) != Some(true) {
        return Failure::DigestInvalid.about(reference);
    }
    let json: Value = match serde_json::from_slice(&content) {
        Ok(json @ Value::Object(_)) => json,
        _ => return Failure::ManifestInvalid.about("a manifest is a JSON object"),
    };
    let stated = json["mediaType"].as_str();
    let media_type = request
        .header(header::CONTENT_TYPE)
        .or(stated)
        .unwrap_or_default()
        .to_string();
    if media_type.is_empty() || stated.is_some_and(|stated| stated != media_type) {
        return Failure::ManifestInvalid
            .about("the media type is missing or differs from the manifest's own");
    }
    if let Some(unknown) = unknown_blob(store, name, &json) {
        return Failure::ManifestBlobUnknown.about(&unknown);
    }
    let manifest = Manifest { media_type, content };
    let subject = manifest.subject();
    let repository = store.repository(name);
    repository.manifests.insert(digest.clone(), manifest);
    if !is_digest(reference) {
        repository.tags.insert(reference.to_string(), digest.clone());
    }
    let reply = Reply::status(201)
        .with(header::LOCATION, format!("/v2/{name}/manifests/{digest}"))
        .with("docker-content-digest", &digest);
    // This header tells the client that it need not keep a list of referrers itself.
    match subject.filter(|_| referrers == Referrers::Api) {
        Some(subject) => reply.with("oci-subject", subject),
        None => reply,
    }
}

/// A config or layer that the repository lacks. Layers that are to be had elsewhere need not be here.
fn unknown_blob(store: &Store, name: &str, manifest: &Value) -> Option<String> {
    let layers = manifest["layers"].as_array().into_iter().flatten();
    let needed = layers.filter(|layer| layer["urls"].as_array().is_none_or(Vec::is_empty));
    let mut digests = needed
        .chain(manifest.get("config"))
        .filter_map(|descriptor| descriptor["digest"].as_str());
    digests
        .find(|digest| store.blob(name, digest).is_none())
        .map(str::to_string)
}

fn delete(store: &mut Store, name: &str, reference: &str) -> Reply {
    let Some(repository) = store.repositories.get_mut(name) else {
        return Failure::NameUnknown.about(name);
    };
    let removed = match is_digest(reference) {
        true => {
            repository.tags.retain(|_, digest| digest != reference);
            repository.manifests.remove(reference).is_some()
        }
        false => repository.tags.remove(reference).is_some(),
    };
    if removed {
        Reply::status(202)
    } else {
        Failure::ManifestUnknown.about(reference)
    }
}
