//! Definitions of custom resources remember each version that objects were ever stored in.

use model::{Map, Value};

use crate::builtin::fields::Fields;

/// Adds the version in which objects are stored now to those that were.
pub(super) fn keep_stored_versions(object: &mut Map) {
    let spec = object.make("spec");
    let storage = spec
        .items("versions")
        .iter()
        .find(|version| version.get("storage") == Some(&Value::Bool(true)));
    let Some(name) = storage.map(|version| version.str_at(&["name"]).to_owned()) else {
        return;
    };
    let stored = object.make("status").entry("storedVersions");
    if stored.as_array().is_none() {
        *stored = Value::from(Vec::new());
    }
    if let Some(stored) = stored.as_array_mut()
        && !stored.iter().any(|version| version.as_str() == Some(&name))
    {
        stored.push(name.into());
    }
}
