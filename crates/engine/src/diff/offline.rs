//! What an apply would make of an object where there is no server to ask: structured merge, as the server does it.
//!
//! It knows no admission, no defaults and no validation beyond types. A field that is removed and has a default is missing in its
//! answer, where the server would put the default in.

use model::Value;
use model::object_key::split_api_version;
use smd::managed::{self, ApplyError, OnConflict, Origin, Reset, Typing, Write};
use smd::schema::{Schema, Type};
use smd::{TypeId, TypeRef};

/// The time in the managed fields of an answer: nothing is written.
const NOW: &str = "1970-01-01T00:00:00Z";

/// The object that applying `desired` to `live` would give, as the answer of a dry run would be: without a
/// `resourceVersion` where the object would be created. Objects of kinds that `schema` does not have are merged field by
/// field, lists as a whole.
///
/// # Errors
/// The object does not fit its type, or the managed fields of the live one cannot be read.
pub fn offline(
    live: Option<&Value>,
    desired: &Value,
    schema: &Schema,
    manager: &str,
) -> Result<Value, ApplyError> {
    let (api_version, kind) = (desired.str_at(&["apiVersion"]), desired.str_at(&["kind"]));
    let (group, version) = split_api_version(api_version);
    let untyped = Schema {
        types: vec![Type::default()],
        ..Schema::default()
    };
    let (ty, origin) = match schema.kind(group, version, kind) {
        Some(ty) => (TypeRef::new(schema, ty), Origin::BuiltIn),
        None => (TypeRef::new(&untyped, TypeId(0)), Origin::Custom),
    };
    let typing = Typing {
        ty,
        api_version,
        kind,
        origin,
        other_versions: &[],
    };
    let reset = Reset::default();
    let write = Write {
        manager,
        subresource: "",
        reset: &reset,
        now: NOW,
    };
    // The time of creation that normalised objects have is none to be applied.
    let mut applied = desired.clone();
    if applied
        .at(&["metadata", "creationTimestamp"])
        .is_some_and(Value::is_null)
    {
        applied.remove_at(&["metadata", "creationTimestamp"]);
    }
    managed::apply(&typing, live, &applied, &write, OnConflict::Force)
}
