//! JSON patches (RFC 6902).

use model::Value;
use smd::patch::{Checking, json};

use crate::convert;
use crate::resmap::{Matcher, ResMap, Selector};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::Transform;

/// A JSON patch that was read.
pub(super) struct JsonPatch {
    patch: json::Patch,
    count: usize,
}

/// Far more than anyone writes by hand, but bounded.
const LIMITS: json::Limits = json::Limits {
    operations: 1_000_000,
    copied_bytes: 64 << 20,
    shifted_elements: 100_000_000,
};

impl JsonPatch {
    /// Reads a patch in JSON or YAML.
    pub(super) fn parse(text: &str) -> Result<JsonPatch, String> {
        if text.is_empty() {
            return Err("empty json patch operations".to_owned());
        }
        // What begins as JSON has to be JSON, as with kustomize.
        let value = match text.starts_with('[') {
            true => model::json::parse(text.as_bytes()).map_err(|error| error.to_string())?,
            false => yaml::parse(text.as_bytes()).map_err(|error| error.to_string())?,
        };
        let count = match &value {
            Value::Array(operations) => operations.len(),
            Value::Null => 0,
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                    other.type_name()
                ));
            }
        };
        let value = if value.is_null() {
            Value::from(Vec::new())
        } else {
            value
        };
        let read = json::Patch::read(&value, Checking::Lax, LIMITS);
        let (patch, _) = read.map_err(|error| error.to_string())?;
        Ok(JsonPatch { patch, count })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Changes a resource. Once it has another name than at first, or might have, kustomize keeps notes in its annotations,
    /// and so there are annotations for a patch to add to or to remove.
    pub(super) fn apply(&self, resource: &mut Resource) -> Result<(), String> {
        let mut value = convert::to_value(&resource.node)?;
        let added = resource.previous_ids().next().is_some() && add_annotations(&mut value);
        self.patch.apply(&mut value).map_err(|error| error.to_string())?;
        if added {
            drop_empty_annotations(&mut value);
        }
        resource.node = convert::from_value(&value);
        Ok(())
    }
}

/// Gives an object annotations, if it has none.
fn add_annotations(object: &mut Value) -> bool {
    let metadata = object.as_object_mut().and_then(|map| map.get_mut("metadata"));
    let Some(metadata) = metadata.and_then(Value::as_object_mut) else {
        return false;
    };
    if metadata
        .get("annotations")
        .is_some_and(|annotations| !annotations.is_null())
    {
        return false;
    }
    metadata.insert("annotations", Value::object());
    true
}

fn drop_empty_annotations(object: &mut Value) {
    let metadata = object.as_object_mut().and_then(|map| map.get_mut("metadata"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut)
        && metadata
            .get("annotations")
            .and_then(Value::as_object)
            .is_some_and(model::Map::is_empty)
    {
        metadata.remove("annotations");
    }
}

/// An entry of `patchesJson6902`.
pub(crate) struct JsonPatches {
    patch: JsonPatch,
    target: Selector,
}

impl JsonPatches {
    /// Reads an entry, whose patch stands in it or in a file.
    pub(crate) fn load(
        target: Option<&crate::config::Selector>,
        path: &str,
        inline: &str,
        load: super::Load<'_>,
    ) -> Result<JsonPatches, String> {
        let target = target.cloned().unwrap_or_default();
        if target.name.is_empty() {
            return Err("must specify the target name".to_owned());
        }
        let text = match (path, inline) {
            ("", "") => return Err("empty file path and empty jsonOp".to_owned()),
            ("", inline) => inline.to_owned(),
            (path, "") => match load(path)? {
                text if text.is_empty() => {
                    return Err(format!("patch file '{path}' empty seems to be empty"));
                }
                text => text,
            },
            _ => return Err("must specify a file path or jsonOp, not both".to_owned()),
        };
        let patch = JsonPatch::parse(&text).map_err(|problem| format!("decoding {text}: {problem}"))?;
        if patch.is_empty() {
            return Err(format!("patch appears to be empty; file={path}, JsonOp={text}"));
        }
        Ok(JsonPatches {
            patch,
            target: target.into(),
        })
    }
}

impl Transform for JsonPatches {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        let matcher = Matcher::new(&self.target)?;
        for at in resources.select(&matcher, None, schema) {
            self.patch.apply(&mut resources.as_mut_slice()[at])?;
        }
        Ok(())
    }
}
