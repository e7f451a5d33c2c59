//! Reaching all places that a [`FieldSpec`] means.

use yaml::node::{Kind, Node, Scalar, Text};

use super::{FieldSpec, Writes, split};
use crate::resource::Resource;

/// A field spec whose path is taken apart.
#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    pub(crate) spec: FieldSpec,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    name: Text,
    /// The path says that this is a list (`containers[]`): it is never made.
    is_list: bool,
    /// Why no map has such a field, if it means an element of a list.
    refused: Option<Box<str>>,
}

/// What is made where a field is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    Nothing,
    Scalar(Kind),
    Map,
}

type Set<'s> = &'s mut dyn FnMut(&mut Node) -> Result<(), String>;

impl FieldPath {
    pub(crate) fn new(spec: &FieldSpec) -> FieldPath {
        let part = |name: &str| {
            let short = name.strip_suffix("[]");
            let (is_list, name) = (short.is_some(), short.unwrap_or(name));
            Part {
                is_list,
                name: name.into(),
                refused: refused(name).map(|why| format!("fieldName: {name}: {why}").into()),
            }
        };
        let path = spec.path.as_str();
        let parts = if path.contains('\\') || path.starts_with('/') {
            split(path, '/').iter().map(|name| part(name)).collect()
        } else {
            path.split('/').map(part).collect()
        };
        FieldPath {
            spec: spec.clone(),
            parts,
        }
    }

    pub(crate) fn all(specs: &[FieldSpec]) -> Vec<FieldPath> {
        specs.iter().map(FieldPath::new).collect()
    }

    /// Calls `set` for each such field of the resource, if it is of the right kind.
    pub(crate) fn apply(&self, resource: &mut Resource, create: Create, set: Set<'_>) -> Result<(), String> {
        if !self.fits(resource) {
            return Ok(());
        }
        self.apply_to(resource, create, set)
    }

    /// Whether the resource is of the right kind.
    pub(crate) fn fits(&self, resource: &Resource) -> bool {
        let gvk = &self.spec.gvk;
        if !gvk.kind.is_empty() && gvk.kind != resource.kind() {
            return false;
        }
        if gvk.group.is_empty() && gvk.version.is_empty() {
            return true;
        }
        let (group, version) = crate::id::split_api_version(resource.api_version());
        (gvk.group.is_empty() || gvk.group == group) && (gvk.version.is_empty() || gvk.version == version)
    }

    /// Calls `set` for each such field, whatever the kind.
    pub(crate) fn apply_to(
        &self,
        resource: &mut Resource,
        create: Create,
        set: Set<'_>,
    ) -> Result<(), String> {
        let create = if self.spec.create { create } else { Create::Nothing };
        let mut writes = Writes::default();
        let done = walk(&mut resource.node, &self.parts, create, &mut |node| {
            writes.change(node, |node| set(node))
        });
        writes.spread(&mut resource.node);
        done.map_err(|problem| {
            format!(
                "considering field '{}' of object {}: {problem}",
                self.spec.path,
                resource.plain_id()
            )
        })
    }
}

/// Numbers and the like are elements of lists to kustomize, which looks at all elements of a list anyway: they lead nowhere.
fn refused(name: &str) -> Option<String> {
    const NO_LIST: &str = "wrong node kind: expected SequenceNode but got MappingNode";
    match name.parse::<i64>() {
        Ok(number) if number < 0 => Some(format!("array index {number} cannot be negative")),
        Ok(_) => Some(NO_LIST.to_owned()),
        Err(_) if name == "*" => Some("wildcard is not supported in PathGetter".to_owned()),
        Err(_) if name == "-" || name.starts_with('[') && name.ends_with(']') => Some(NO_LIST.to_owned()),
        Err(_) => None,
    }
}

fn walk(node: &mut Node, parts: &[Part], create: Create, set: Set<'_>) -> Result<(), String> {
    let Some((part, rest)) = parts.split_first() else {
        return set(node);
    };
    match node {
        _ if node.is_null() => Ok(()),
        Node::List(items) => {
            for item in items {
                walk(item, parts, create, set)?;
            }
            Ok(())
        }
        Node::Map(map) => {
            if part.name.is_empty() {
                return Err("cannot set or create an empty field name".to_owned());
            }
            if let Some(refused) = &part.refused {
                return Err(refused.to_string());
            }
            let made = if create == Create::Nothing || part.is_list {
                Create::Nothing
            } else if rest.is_empty() {
                create
            } else {
                Create::Map
            };
            let field = match made {
                Create::Nothing => match map.get_mut(&part.name) {
                    Some(field) => field,
                    None => return Ok(()),
                },
                Create::Map => map.entry(&part.name, Node::map),
                Create::Scalar(_) => map.entry(&part.name, || Node::Scalar(Scalar::new("", Kind::Plain))),
            };
            if field.is_null() {
                fill(field, made, part.is_list);
            }
            walk(field, rest, create, set)
        }
        Node::Scalar(_) => Err("expected sequence or mapping node".to_owned()),
    }
}

/// A `null` that is there becomes what would have been made.
fn fill(field: &mut Node, made: Create, is_list: bool) {
    match made {
        Create::Map => *field = Node::map(),
        Create::Nothing if is_list => *field = Node::list(),
        Create::Nothing => {}
        Create::Scalar(_) => {
            if let Node::Scalar(scalar) = field {
                scalar.kind = Kind::Plain;
            }
        }
    }
}

/// Replaces a scalar by another one, which is written as the old one.
pub(crate) fn set_value(node: &mut Node, text: &Text, kind: Kind) -> Result<(), String> {
    let Node::Scalar(scalar) = node else {
        return Err(wrong_kind("ScalarNode", node));
    };
    let mut new = Scalar::new(text, kind);
    new.take_style(scalar);
    *scalar = new;
    Ok(())
}

/// Writes another text over a scalar; see [`Node::rewrite`].
pub(crate) fn set_text(node: &mut Node, text: impl Into<Text>) -> Result<(), String> {
    if !matches!(node, Node::Scalar(_)) {
        return Err(wrong_kind("ScalarNode", node));
    }
    node.rewrite(text);
    Ok(())
}

/// The content is not told: it may be a secret.
pub(crate) fn wrong_kind(expected: &str, node: &Node) -> String {
    format!(
        "wrong node kind: expected {expected} but got {}",
        node.kind_name()
    )
}
