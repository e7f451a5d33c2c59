//! What all kinds share: the metadata of objects, completed and checked.

pub(crate) mod label;
mod validate;

use model::{Map, Str, Value};

pub(crate) use validate::{validate_create, validate_finalizers, validate_update};

use crate::error::{Error, Result};

/// The metadata of an object; empty where it has none.
pub(crate) fn of(object: &Value) -> &Map {
    static EMPTY: std::sync::LazyLock<Map> = std::sync::LazyLock::new(Map::new);
    object
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&EMPTY)
}

/// The metadata of an object for change; made where it has none.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map {
    object.make_object().entry("metadata").make_object()
}

/// The finalizers of an object.
pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object
        .list_at(&["metadata", "finalizers"])
        .iter()
        .filter_map(Value::as_str)
}

/// Keeps only the finalizers that `keep` wants.
pub(crate) fn retain_finalizers(object: &mut Value, keep: impl Fn(&str) -> bool) {
    let metadata = of_mut(object);
    if let Some(list) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) {
        list.retain(|finalizer| finalizer.as_str().is_some_and(&keep));
        if list.is_empty() {
            metadata.remove("finalizers");
        }
    }
}

/// Adds a finalizer that is not there yet.
pub(crate) fn add_finalizer(object: &mut Value, name: &str) {
    if finalizers(object).all(|finalizer| finalizer != name) {
        let list = of_mut(object).entry("finalizers");
        if list.is_null() {
            *list = Value::Array(Default::default());
        }
        if let Some(list) = list.as_array_mut() {
            list.push(name.into());
        }
    }
}

/// A whole number in the metadata; 0 where it is missing.
pub(crate) fn number(object: &Value, field: &str) -> i64 {
    of(object).get(field).and_then(Value::as_i64).unwrap_or(0)
}

/// Makes sure the object lives where the request says, and nowhere else.
///
/// # Errors
/// `BadRequest` where the object names another namespace than the request.
pub(crate) fn settle_namespace(object: &mut Value, namespaced: bool, namespace: &str) -> Result<()> {
    let metadata = of_mut(object);
    let own: Str = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .into();
    if namespaced && own.is_empty() {
        metadata.insert("namespace", namespace);
        return Ok(());
    }
    let expected = if namespaced { namespace } else { "" };
    if own == expected {
        return Ok(());
    }
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    Err(Error::bad_request(message))
}

/// Completes the metadata of a new object and drops what clients may not set.
pub(crate) fn complete(object: &mut Value, uid: &str, now: &str) {
    let metadata = of_mut(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(field);
    }
    metadata.insert("uid", uid);
    metadata.insert("creationTimestamp", now);
}

/// The name made of `generateName` and five random letters and digits that make no words.
pub(crate) fn generated_name(base: &str, random: &mut fastrand::Rng) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    const MOST: usize = 63 - 5;
    let mut name: String = base.chars().take(MOST).collect();
    name.extend((0..5).map(|_| char::from(ALPHABET[random.usize(..ALPHABET.len())])));
    name
}

/// A random UUID of version 4 as text.
pub(crate) fn new_uid(random: &mut fastrand::Rng) -> String {
    let bits = (random.u128(..) & !(0xF000 << 64) & !(0xC000 << 48)) | (0x4000 << 64) | (0x8000 << 48);
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_random_uuid() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100 {
            let uid = new_uid(&mut random);
            assert_eq!(uid.len(), 36);
            assert_eq!(&uid[14..15], "4");
            assert!("89ab".contains(&uid[19..20]), "{uid}");
        }
    }
}
