//! The values of a release: those in ConfigMaps and Secrets, and those in its spec.

use api::Reason;
use api::helm::{HelmRelease, ValuesKind, ValuesReference};
use helm::values::references::{Found, Reference, compose};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Client, ResourceExt};
use model::{Map, Value};

use super::hidden::Hidden;
use super::versions::{Read, Version};
use super::{configs, target};
use crate::kit::{Config, Failure, chain, named};

/// All values of a release, the versions of what they were read from, and what of them no message tells.
pub(super) async fn values(client: &Client, object: &HelmRelease) -> Result<(Map, Read, Hidden), Failure> {
    let namespace = target::own_namespace(object);
    let failed = |message: String| Failure::transient(Reason::VALUES_ERROR, message);
    let mut references = Vec::with_capacity(object.spec.values_from.len());
    let mut versions = Read::new();
    let mut hidden = Hidden::default();
    for given in &object.spec.values_from {
        let (found, version) = read(client, &namespace, given).await.map_err(|error| {
            let (kind, name) = (given.kind.as_str(), &given.name);
            failed(format!(
                "could not find {kind} '{namespace}/{name}' for chart values: {}",
                chain(&error)
            ))
        })?;
        let config = Config {
            kind: configs::kind(&given.kind),
            namespace: namespace.clone(),
            name: given.name.clone(),
        };
        versions.push((config, version));
        let target_path = given.target_path.clone().unwrap_or_default();
        if let (ValuesKind::Secret, Found::Text(text)) = (&given.kind, &found) {
            hidden.add(&String::from_utf8_lossy(text), target_path.is_empty());
        }
        references.push(Reference {
            kind: given.kind.as_str().to_owned(),
            name: given.name.clone(),
            key: given.values_key.clone().unwrap_or_default(),
            target_path,
            optional: given.optional,
            literal: given.literal,
            found,
        });
    }
    let inline = match &object.spec.values {
        Some(Value::Object(values)) => values.clone(),
        _ => Map::new(),
    };
    let values = compose(&namespace, &references, &inline);
    let values = values.map_err(|error| failed(hidden.mask(&error.to_string())))?;
    Ok((values, versions, hidden))
}

async fn read(client: &Client, namespace: &str, given: &ValuesReference) -> kube::Result<(Found, Version)> {
    let key = given
        .values_key
        .as_deref()
        .filter(|key| !key.is_empty())
        .unwrap_or("values.yaml");
    let name = &given.name;
    let there = |version: Option<String>| Version::There(version.unwrap_or_default());
    let (text, version) = match given.kind {
        ValuesKind::Secret => {
            let Some(secret) = named::get_opt::<Secret>(client, namespace, name).await? else {
                return Ok((Found::NoObject, Version::Missing));
            };
            let version = there(secret.resource_version());
            let text = secret.data.and_then(|mut data| data.remove(key));
            (text.map(|value| value.0), version)
        }
        _ => {
            let Some(map) = named::get_opt::<ConfigMap>(client, namespace, name).await? else {
                return Ok((Found::NoObject, Version::Missing));
            };
            let version = there(map.resource_version());
            let text = map.data.and_then(|mut data| data.remove(key));
            (text.map(String::into_bytes), version)
        }
    };
    Ok((text.map_or(Found::NoKey, Found::Text), version))
}
