//! `ValueAddTransformer`: a value for fields of chosen resources, as a whole or as one part of a file path.

use yaml::node::Node;

use crate::config;
use crate::field::{Writes, lookup_create, set_text, split};
use crate::namespace::Namespace;
use crate::resmap::{Matcher, ResMap};
use crate::schema::Schema;
use crate::transform::Transform;

config::fields! {
    /// A field of some resources.
    pub(crate) struct Target in "Target" {
        selector: Option<config::Selector> = "selector",
        field_path: String = "fieldPath",
        file_path_position: i64 = "filePathPosition",
    }
}

/// Sets a value.
pub(crate) struct ValueAdd {
    value: String,
    targets: Vec<Target>,
}

impl ValueAdd {
    pub(crate) fn new(value: String, targets: Vec<Target>) -> Result<ValueAdd, String> {
        if targets.is_empty() {
            return Err("must specify at least one target".to_owned());
        }
        for target in &targets {
            if target.field_path.is_empty() {
                return Err("fieldPath cannot be empty".to_owned());
            }
            if target.file_path_position < 0 {
                return Err(format!(
                    "value of FilePathPosition ({}) cannot be negative",
                    target.file_path_position
                ));
            }
        }
        Ok(ValueAdd { value, targets })
    }

    fn set(&self, node: &mut Node, target: &Target) -> Result<(), String> {
        let mut writes = Writes::default();
        let Some(field) = lookup_create(node, &split(&target.field_path, '/'))? else {
            return Ok(());
        };
        let value = match usize::try_from(target.file_path_position) {
            Ok(position) if position > 0 => inserted(field.raw_text(), position - 1, &self.value),
            _ => self.value.clone(),
        };
        writes.change(field, |field| set_text(field, value))?;
        writes.spread(node);
        Ok(())
    }
}

/// A file path with one more part.
fn inserted(path: &str, position: usize, part: &str) -> String {
    let (lead, rest) = match path.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", path),
    };
    let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    format!("{lead}{}", parts.join("/"))
}

impl Transform for ValueAdd {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        for target in &self.targets {
            let chosen = match &target.selector {
                None => (0..resources.len()).collect(),
                Some(selector) => {
                    let matcher = Matcher::new(&selector.clone().into())
                        .map_err(|wrong| crate::resmap::joined(&wrong))?;
                    resources.select(&matcher, None, schema)
                }
            };
            for at in chosen {
                let resource = &mut resources.as_mut_slice()[at];
                if target.field_path == "metadata/namespace" {
                    Namespace::new(&self.value, &[]).apply(resource, schema)?;
                } else {
                    self.set(&mut resource.node, target)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::inserted;

    #[test]
    fn a_part_goes_to_its_place_in_a_path() {
        assert_eq!(inserted("", 0, "x"), "x");
        assert_eq!(inserted("/", 3, "x"), "/x");
        assert_eq!(inserted("/a/b", 1, "x"), "/a/x/b");
        assert_eq!(inserted("a/b", 99, "x"), "a/b/x");
    }
}
