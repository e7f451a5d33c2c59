//! `ConfigMap` and `Secret`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::json;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::config_key;

const MOST_BYTES: usize = 1024 * 1024;
const LOCKED: &str = "field is immutable when `immutable` is set";

/// A config map.
pub(in super::super) fn config_map(object: &At, errors: &mut Errors) {
    let (data, binary) = (object.get("data"), object.get("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, errors);
        if binary.has(key) {
            errors.invalid_value(&value, key, "duplicate of key present in binaryData");
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        keys(key, &value, errors);
        size += decoded_size(value.text());
    }
    if size > MOST_BYTES {
        errors.too_long(&object.get("[]"), MOST_BYTES);
    }
}

fn keys(key: &str, at: &At, errors: &mut Errors) {
    for problem in config_key(key) {
        errors.invalid_value(at, key, problem);
    }
}

/// How many bytes the text stands for.
fn decoded_size(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    text.len() / 4 * 3 - padding.min(2)
}

/// A changed config map.
pub(in super::super) fn config_map_update(object: &At, old: &At, errors: &mut Errors) {
    locked(object, old, &["data", "binaryData"], errors);
    config_map(object, errors);
}

fn locked(object: &At, old: &At, fields: &[&str], errors: &mut Errors) {
    if !old.flag_of("immutable") {
        return;
    }
    if !object.flag_of("immutable") {
        errors.forbidden(&object.get("immutable"), LOCKED);
    }
    for field in fields {
        if object.get(field).value() != old.get(field).value() {
            errors.forbidden(&object.get(field), LOCKED);
        }
    }
}

/// A secret.
pub(in super::super) fn secret(object: &At, errors: &mut Errors) {
    let data = object.get("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, errors);
        size += decoded_size(value.text());
    }
    if size > MOST_BYTES {
        errors.too_long(&data, MOST_BYTES);
    }
    match object.text_of("type") {
        "kubernetes.io/service-account-token" => {
            let notes = object.deep("metadata.annotations");
            let account = notes.key("kubernetes.io/service-account.name");
            if account.text().is_empty() {
                errors.required(&account, "");
            }
        }
        "kubernetes.io/dockercfg" => docker(&data.key(".dockercfg"), errors),
        "kubernetes.io/dockerconfigjson" => docker(&data.key(".dockerconfigjson"), errors),
        "kubernetes.io/basic-auth" if !data.has("username") && !data.has("password") => {
            errors.required(&data.key("username"), "");
            errors.required(&data.key("password"), "");
        }
        "kubernetes.io/ssh-auth" => {
            let key = data.key("ssh-privatekey");
            if key.text().is_empty() {
                errors.required(&key, "");
            }
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"] {
                if !data.has(key) {
                    errors.required(&data.key(key), "");
                }
            }
        }
        _ => {}
    }
}

/// Settings for registries are a JSON object.
///
/// **Deviation**: what is wrong with the JSON is told in the words of our reader where they differ from Go's.
fn docker(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        errors.required(at, "");
        return;
    }
    let bytes = STANDARD.decode(at.text()).unwrap_or_default();
    let problem = match json::parse(&bytes) {
        Ok(value) if value.as_object().is_some() || value.is_null() => return,
        Ok(value) => format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            match value.type_name() {
                "boolean" => "bool",
                "integer" => "number",
                name => name,
            }
        ),
        Err(error) => error.to_string(),
    };
    errors.invalid_value(at, "<secret contents redacted>", problem);
}

/// A changed secret.
pub(in super::super) fn secret_update(object: &At, old: &At, errors: &mut Errors) {
    errors.immutable(&object.txt("type"), &old.txt("type"));
    locked(object, old, &["data"], errors);
    secret(object, errors);
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_mebibyte_is_the_most() {
        let said = |size: usize| {
            let object = value!({ "data": { "a": ("x".repeat(size)) } });
            let mut errors = Errors::default();
            config_map(&At::root(&object), &mut errors);
            errors
                .into_vec()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert!(said(MOST_BYTES).is_empty());
        assert_eq!(
            said(MOST_BYTES + 1),
            ["[]: Too long: may not be more than 1048576 bytes"]
        );
    }

    #[test]
    fn bytes_are_counted_without_decoding() {
        for text in ["", "YQ==", "YWI=", "YWJj", "YWJjZA=="] {
            assert_eq!(decoded_size(text), STANDARD.decode(text).unwrap().len(), "{text}");
        }
    }
}
