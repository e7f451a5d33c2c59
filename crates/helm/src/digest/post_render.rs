//! The digests of `spec.postRenderers` and `spec.commonMetadata`.
//!
//! They are those of the JSON that Go makes of its types, so that fields stand in the order of these and what is empty is left out.

use model::digest::Algorithm;
use model::{Digest, Value};

use super::of_bytes;
use crate::record::in_order;

/// The digest of the list of post-renderers; nothing if the field is not there, which is other than an empty list.
pub fn of_post_renderers(post_renderers: Option<&Value>) -> String {
    let Some(list) = post_renderers.filter(|value| !value.is_null()) else {
        return String::new();
    };
    digest(&items(list, |renderer| {
        let mut renderer = in_order(renderer, &["kustomize"]);
        edit(&mut renderer, "kustomize", |kustomize| {
            let mut kustomize = in_order(kustomize, &["patches", "images"]);
            edit(&mut kustomize, "patches", |list| items(&list, patch));
            edit(&mut kustomize, "images", |list| items(&list, image));
            without_empty(kustomize)
        });
        renderer
    }))
}

/// The digest of labels and annotations for all objects; nothing if the field is not there.
pub fn of_common_metadata(metadata: Option<&Value>) -> String {
    let Some(metadata) = metadata.filter(|value| !value.is_null()) else {
        return String::new();
    };
    let mut metadata = in_order(metadata.clone(), &["annotations", "labels"]);
    for key in ["annotations", "labels"] {
        edit(&mut metadata, key, |mut texts| {
            if let Some(texts) = texts.as_object_mut() {
                texts.sort();
            }
            texts
        });
    }
    digest(&without_empty(metadata))
}

fn digest(value: &Value) -> String {
    let mut json = model::json::to_vec(value);
    json.push(b'\n');
    let digest: Digest = of_bytes(Algorithm::Sha256, &json);
    digest.to_string()
}

fn patch(patch: Value) -> Value {
    let mut patch = with_text(in_order(patch, &["patch", "target"]), "patch");
    edit(&mut patch, "target", |target| {
        without_empty(in_order(
            target,
            &[
                "group",
                "version",
                "kind",
                "namespace",
                "name",
                "annotationSelector",
                "labelSelector",
            ],
        ))
    });
    patch
}

fn image(image: Value) -> Value {
    let image = with_text(in_order(image, &["name", "newName", "newTag", "digest"]), "name");
    let Value::Object(mut image) = image else {
        return image;
    };
    image.retain(|key, value| key == "name" || !is_empty(value));
    Value::Object(image)
}

/// The field that Go writes even if it is empty, at the place it has: the first.
fn with_text(value: Value, key: &str) -> Value {
    match value {
        Value::Object(map) if !map.contains_key(key) => {
            let mut fields = crate::record::Fields::default();
            fields.put(key, Value::str(""));
            for (key, value) in map {
                fields.put(&key, value);
            }
            fields.value()
        }
        other => other,
    }
}

fn items(list: &Value, change: impl Fn(Value) -> Value) -> Value {
    match list.as_array() {
        Some(items) => items.iter().cloned().map(change).collect(),
        None => list.clone(),
    }
}

fn edit(value: &mut Value, key: &str, change: impl FnOnce(Value) -> Value) {
    if let Some(below) = value.get_mut(key) {
        *below = change(below.take());
    }
}

/// The map without what Go's `omitempty` leaves out. An empty struct stays.
fn without_empty(value: Value) -> Value {
    let Value::Object(mut map) = value else {
        return value;
    };
    map.retain(|_, value| !is_empty(value));
    Value::Object(map)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Str(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
