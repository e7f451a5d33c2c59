//! Objects that are encrypted as a whole, and Secrets whose values are encrypted files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Value;
use sops::Format;
use yaml::node::Node;

use super::Decrypter;
use crate::error::Error;
use crate::manifests::name;
use crate::substitute::round;

const SWITCH: &str = "kustomize.toolkit.fluxcd.io/decrypt";
const DISABLED: &str = "disabled";

/// Decrypts all objects but those that do not want it. Gives all that cannot be decrypted.
pub(crate) fn objects(objects: &mut [Node], decrypter: &dyn Decrypter) -> Vec<Error> {
    let mut errors = Vec::new();
    for object in objects.iter_mut().filter(|object| !is_disabled(object)) {
        if is_encrypted(object) {
            match whole(object, decrypter) {
                Ok(plain) => *object = plain,
                Err(message) => errors.push(Error::Decrypt {
                    of: name(object),
                    message,
                }),
            }
        } else if object.get("kind").is_some_and(|kind| kind.text() == "Secret") {
            values(object, decrypter, &mut errors);
        }
    }
    errors
}

/// Whether the object is a Secret that is still encrypted. Applying it would give nobody its values.
pub fn is_encrypted_secret(object: &Value) -> bool {
    object.str_at(&["kind"]) == "Secret"
        && object.str_at(&["apiVersion"]) == "v1"
        && object.get("sops").is_some()
}

fn is_disabled(object: &Node) -> bool {
    let annotations = object
        .get("metadata")
        .and_then(|metadata| metadata.get("annotations"));
    let switch = annotations.and_then(|annotations| annotations.get(SWITCH));
    switch.is_some_and(|switch| switch.text().eq_ignore_ascii_case(DISABLED))
}

fn is_encrypted(object: &Node) -> bool {
    let mac = object.get("sops").and_then(|sops| sops.get("mac"));
    mac.is_some_and(|mac| !mac.is_empty() && !mac.text().is_empty())
}

/// The content of a value of a Secret's `data`. Lines may be folded anywhere, as kustomize does it and Go reads it.
pub fn decode_data(text: &str) -> Option<Vec<u8>> {
    let folded = |byte: &u8| matches!(byte, b'\n' | b'\r');
    match text.bytes().any(|byte| folded(&byte)) {
        true => STANDARD.decode(text.bytes().filter(|byte| !folded(byte)).collect::<Vec<u8>>()),
        false => STANDARD.decode(text),
    }
    .ok()
}

fn whole(object: &Node, decrypter: &dyn Decrypter) -> Result<Node, String> {
    let json = model::json::to_vec(&kustomize::to_value(object)?);
    let plain = decrypter.decrypt(&json, Format::Json, Format::Json)?;
    // The cause could show a part of the plain text.
    let mut value = model::json::parse(&plain).map_err(|_| "what was decrypted is no JSON")?;
    round(&mut value);
    Ok(kustomize::from_value(&value))
}

/// Decrypts the values of a Secret that are encrypted files. What is no base64 is for the API server to complain of.
fn values(object: &mut Node, decrypter: &dyn Decrypter, errors: &mut Vec<Error>) {
    let called = name(object);
    let Some(data) = object.get_mut("data").and_then(Node::as_map_mut) else {
        return;
    };
    for (key, value) in data.iter_mut() {
        let Some(content) = decode_data(value.text()) else {
            continue;
        };
        let Some(from) = Format::detect(&content) else {
            continue;
        };
        match decrypter.decrypt(&content, from, Format::for_path(key)) {
            Ok(plain) => *value = Node::str(STANDARD.encode(plain)),
            Err(message) => errors.push(Error::Decrypt {
                of: format!("{called}: data.{key}"),
                message,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decode_data;

    #[test]
    fn folded_lines_are_read_as_one() {
        assert_eq!(decode_data("aGVs\nbG8=\r\n").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode_data("aGVs bG8="), None);
    }
}
