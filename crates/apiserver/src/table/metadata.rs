//! Objects reduced to their metadata.

use model::{Value, value};

/// The `PartialObjectMetadata` of an object.
pub fn metadata_only(object: &Value) -> Value {
    value!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": (object.get("metadata").cloned().unwrap_or_else(Value::object)),
    })
}

/// The `PartialObjectMetadataList` of some objects; `metadata` is the list's.
pub fn metadata_list(objects: &[Value], metadata: Value) -> Value {
    value!({
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "items": (objects.iter().map(metadata_only).collect::<Value>()),
    })
}
