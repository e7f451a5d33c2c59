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
        let value = yaml::parse(text.as_bytes()).map_err(|error| error.to_string())?;
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

    /// Changes a resource.
    pub(super) fn apply(&self, resource: &mut Resource) -> Result<(), String> {
        let mut value = convert::to_value(&resource.node)?;
        self.patch.apply(&mut value).map_err(|error| error.to_string())?;
        resource.node = convert::from_value(&value);
        Ok(())
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
