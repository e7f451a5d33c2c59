//! The values of a release: those in ConfigMaps and Secrets, and those in its spec.

use api::Reason;
use api::helm::{HelmRelease, ValuesKind, ValuesReference};
use helm::values::references::{Found, Reference, compose};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use model::{Map, Value};

use super::target;
use crate::kit::{Failure, chain};

/// All values of a release.
pub(super) async fn values(client: &Client, object: &HelmRelease) -> Result<Map, Failure> {
    let namespace = target::own_namespace(object);
    let failed = |message: String| Failure::transient(Reason::VALUES_ERROR, message);
    let mut references = Vec::with_capacity(object.spec.values_from.len());
    for given in &object.spec.values_from {
        let found = read(client, &namespace, given).await.map_err(|error| {
            let (kind, name) = (given.kind.as_str(), &given.name);
            failed(format!(
                "could not find {kind} '{namespace}/{name}' for chart values: {}",
                chain(&error)
            ))
        })?;
        references.push(Reference {
            kind: given.kind.as_str().to_owned(),
            name: given.name.clone(),
            key: given.values_key.clone().unwrap_or_default(),
            target_path: given.target_path.clone().unwrap_or_default(),
            optional: given.optional,
            literal: given.literal,
            found,
        });
    }
    let inline = match &object.spec.values {
        Some(Value::Object(values)) => values.clone(),
        _ => Map::new(),
    };
    compose(&namespace, &references, &inline).map_err(|error| failed(error.to_string()))
}

async fn read(client: &Client, namespace: &str, given: &ValuesReference) -> kube::Result<Found> {
    let key = given
        .values_key
        .as_deref()
        .filter(|key| !key.is_empty())
        .unwrap_or("values.yaml");
    let name = &given.name;
    let text = match given.kind {
        ValuesKind::Secret => {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
            let Some(secret) = secrets.get_opt(name).await? else {
                return Ok(Found::NoObject);
            };
            secret
                .data
                .and_then(|mut data| data.remove(key))
                .map(|value| value.0)
        }
        _ => {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            let Some(map) = maps.get_opt(name).await? else {
                return Ok(Found::NoObject);
            };
            map.data
                .and_then(|mut data| data.remove(key))
                .map(String::into_bytes)
        }
    };
    Ok(text.map_or(Found::NoKey, Found::Text))
}
