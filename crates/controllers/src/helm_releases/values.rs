//! The values of a release: those in ConfigMaps and Secrets, and those in its spec.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use api::Reason;
use api::helm::HelmRelease;
use engine::workers::WorkerPermit;
use helm::values::references::{Found, Reference, compose};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Client, ResourceExt};
use model::{Map, Value};

use super::hidden::Hidden;
use super::reading::{Charge, Reading};
use super::versions::{Read, Version};
use super::{configs, target};
use crate::kit::{Config, ConfigKind, Failure, chain, named};

/// The most references that a release may have. Each goes over the values of the spec.
const MOST: usize = 1000;

/// The most bytes that ConfigMaps and Secrets may have together, and that all references to them may have.
const LARGEST: usize = 8 << 20;

/// The memory of a value that is read from YAML besides its text, about.
const VALUE: usize = 48;

/// All values of a release.
pub(super) struct Values {
    pub(super) values: Map,
    /// The versions of what they were read from.
    pub(super) read: Read,
    /// What of them no message tells.
    pub(super) hidden: Hidden,
    /// The memory that they take. Keep it for as long as them.
    pub(super) charge: Charge,
}

/// The data of a ConfigMap or Secret.
type Data = BTreeMap<String, Vec<u8>>;

/// All values of a release. It has no worker while that takes long.
pub(super) async fn values(
    client: &Client,
    object: &HelmRelease,
    reading: &Reading,
    worker: &WorkerPermit,
) -> Result<Values, Failure> {
    let namespace = target::own_namespace(object);
    let (references, read) = references(client, object, &namespace).await?;
    let memory = references.iter().map(memory).sum();
    let mut patience = reading.patience();
    let charge = loop {
        let mut charge = reading.charge(&namespace);
        match charge.grow(memory) {
            Ok(()) => break charge,
            Err(over) if !patience.waits(worker, &over).await => return Err(failed(over.to_string())),
            Err(_) => {}
        }
    };
    let inline = match &object.spec.values {
        Some(Value::Object(values)) => values.clone(),
        _ => Map::new(),
    };
    let of = namespace.clone();
    let composed = move || {
        let hidden = Hidden::new(references.iter().filter_map(|reference| match &reference.found {
            Found::Text(text) if reference.kind == "Secret" => {
                Some((String::from_utf8_lossy(text), reference.target_path.is_empty()))
            }
            _ => None,
        }));
        match compose(&of, &references, &inline) {
            Ok(values) => Ok(Values {
                values,
                read,
                hidden,
                charge,
            }),
            Err(error) => Err(failed(hidden.mask(&error.to_string()))),
        }
    };
    reading.run(&namespace, worker, composed).await
}

fn failed(message: String) -> Failure {
    Failure::transient(Reason::VALUES_ERROR, message)
}

/// What a release refers to, and the versions of that. Each object is read once.
async fn references(
    client: &Client,
    object: &HelmRelease,
    namespace: &str,
) -> Result<(Vec<Reference>, Read), Failure> {
    let given = &object.spec.values_from;
    if given.len() > MOST {
        let count = given.len();
        return Err(failed(format!(
            "spec.valuesFrom has {count} references: at most {MOST} are allowed"
        )));
    }
    let mut references = Vec::with_capacity(given.len());
    let (mut read, mut objects) = (Read::new(), BTreeMap::new());
    let (mut of_objects, mut of_references) = (0, 0);
    for given in given {
        let kind = configs::kind(&given.kind);
        let data: &Option<Data> = match objects.entry((kind == ConfigKind::Secret, &given.name)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let (data, version) = data(client, namespace, kind, &given.name)
                    .await
                    .map_err(|error| {
                        let (kind, name) = (given.kind.as_str(), &given.name);
                        failed(format!(
                            "could not find {kind} '{namespace}/{name}' for chart values: {}",
                            chain(&error)
                        ))
                    })?;
                let config = Config {
                    kind,
                    namespace: namespace.to_owned(),
                    name: given.name.clone(),
                };
                read.push((config, version));
                let data_of = |data: &Data| data.values().map(Vec::len).sum::<usize>();
                of_objects += data.as_ref().map_or(0, data_of);
                unknown.insert(data)
            }
        };
        let key = given.values_key.as_deref().filter(|key| !key.is_empty());
        let found = match data.as_ref().map(|data| data.get(key.unwrap_or("values.yaml"))) {
            None => Found::NoObject,
            Some(None) => Found::NoKey,
            Some(Some(text)) => {
                of_references += text.len();
                Found::Text(text.clone())
            }
        };
        if of_objects.max(of_references) > LARGEST {
            return Err(failed(format!(
                "the ConfigMaps and Secrets of spec.valuesFrom have more than {} MiB: refer to fewer or smaller ones",
                LARGEST >> 20
            )));
        }
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
    Ok((references, read))
}

/// The memory that the values of a reference take, about: those of the release, and those that are hidden.
fn memory(reference: &Reference) -> usize {
    let Found::Text(text) = &reference.found else {
        return 0;
    };
    let values = text.iter().filter(|byte| b"\n,[{-".contains(byte)).count();
    let items = match reference.target_path.as_str() {
        "" => 0,
        path => indexes(path.as_bytes()) + indexes(text),
    };
    2 * (text.len() + VALUE * (1 + values + items))
}

/// The sum of all indexes in the words of `--set`: a list has as many items.
fn indexes(text: &[u8]) -> usize {
    let index = |after: &[u8]| {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).take(7);
        digits.fold(0, |index, digit| 10 * index + usize::from(digit - b'0'))
    };
    text.split(|byte| *byte == b'[').skip(1).map(index).sum()
}

/// The data of a ConfigMap or Secret, if it is there, and its version.
async fn data(
    client: &Client,
    namespace: &str,
    kind: ConfigKind,
    name: &str,
) -> kube::Result<(Option<Data>, Version)> {
    let there = |version: Option<String>| Version::There(version.unwrap_or_default());
    let found: Option<(Data, Version)> = match kind {
        ConfigKind::Secret => named::get_opt::<Secret>(client, namespace, name)
            .await?
            .map(|secret| {
                let version = there(secret.resource_version());
                let data = secret.data.unwrap_or_default().into_iter();
                (data.map(|(key, value)| (key, value.0)).collect(), version)
            }),
        ConfigKind::ConfigMap => named::get_opt::<ConfigMap>(client, namespace, name)
            .await?
            .map(|map| {
                let version = there(map.resource_version());
                let data = map.data.unwrap_or_default().into_iter();
                (
                    data.map(|(key, value)| (key, value.into_bytes())).collect(),
                    version,
                )
            }),
    };
    Ok(match found {
        Some((data, version)) => (Some(data), version),
        None => (None, Version::Missing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_of_lists_that_a_path_asks_for_count() {
        let reference = |path: &str, text: &str| Reference {
            target_path: path.to_owned(),
            found: Found::Text(text.as_bytes().to_vec()),
            ..Reference::default()
        };
        assert!(memory(&reference("", "a[65535]: b")) < 1000);
        assert!(memory(&reference("a", "b")) < 1000);
        for (path, text) in [("a[65535][65535]", "b"), ("a", "b,c[65535]=d,e[65535]=f")] {
            let memory = memory(&reference(path, text));
            assert!(memory >= 131_070 * VALUE, "{path} {text}: {memory}");
        }
    }
}
