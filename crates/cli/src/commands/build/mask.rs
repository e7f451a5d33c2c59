//! Hides what is encrypted: `flux build` decrypts nothing, and shows nothing of it either.

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use yaml::node::{Map, Node};

/// What stands for an encrypted value.
pub(crate) const MASK: &str = "**SOPS**";

/// Masks the encrypted values of a Secret.
///
/// As in Flux, the values of all Secrets are written anew, so that those of `data` are texts, and what looks like a number in
/// `stringData` is one.
pub(super) fn mask(object: &mut Node) -> anyhow::Result<()> {
    if object.get("kind").is_none_or(|kind| kind.raw_text() != "Secret") {
        return Ok(());
    }
    let mut text = String::new();
    yaml::go::write(object, &mut text).map_err(anyhow::Error::msg)?;
    let is_docker = object
        .get("type")
        .is_some_and(|kind| kind.text() == "kubernetes.io/dockerconfigjson");
    let mut data = entries(object, "data");
    let mut string_data = entries(object, "stringData");
    if text.contains("sops:") && text.contains("mac: ENC[") {
        let plain = if is_docker {
            format!("{{\"mask\":\"{MASK}\"}}")
        } else {
            MASK.to_owned()
        };
        data.iter_mut()
            .for_each(|(_, value)| *value = STANDARD.encode(&plain));
        string_data
            .iter_mut()
            .for_each(|(_, value)| value.clone_from(&plain));
        if let Some(map) = object.as_map_mut() {
            map.remove("sops");
        }
    } else {
        for (key, value) in &mut data {
            let Some(content) = builder::decode_data(value) else {
                let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
                let name = name.map_or("", Node::text);
                bail!("failed to mask secret {name} sops data: data.{key} is no base64");
            };
            if is_encrypted(&content) {
                *value = STANDARD.encode(MASK);
            }
        }
        for (_, value) in &mut string_data {
            if is_encrypted(value.as_bytes()) {
                *value = STANDARD.encode(MASK);
            }
        }
    }
    let map = object.as_map_mut().context("a Secret is an object")?;
    set(map, "data", data, |value| Node::str(value));
    set(map, "stringData", string_data, |value| {
        // What is empty is written as an empty text, and not left out.
        if value.is_empty() {
            Node::str(value)
        } else {
            Node::plain(value)
        }
    });
    Ok(())
}

fn entries(object: &Node, field: &str) -> Vec<(String, String)> {
    let map = object.get(field).and_then(Node::as_map);
    let entries = map.into_iter().flat_map(Map::iter);
    entries
        .map(|(key, value)| (key.to_owned(), value.text().to_owned()))
        .collect()
}

fn is_encrypted(content: &[u8]) -> bool {
    let has = |word: &[u8]| content.windows(word.len()).any(|part| part == word);
    has(b"sops") && has(b"ENC[")
}

/// Writes the entries anew. An empty `data` goes, but an empty `stringData` stays.
fn set(map: &mut Map, field: &str, entries: Vec<(String, String)>, node: impl Fn(&str) -> Node) {
    if entries.is_empty() {
        if field == "data" {
            map.remove(field);
        }
        return;
    }
    let mut anew = Map::default();
    for (key, value) in entries {
        anew.insert(key, node(&value));
    }
    map.insert(field, Node::Map(anew));
}
