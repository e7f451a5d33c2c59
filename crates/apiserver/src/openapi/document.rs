//! The OpenAPI document of one version of a group.

use model::{Map, Value, value};

use super::Sources;
use super::component::Components;
use super::custom;
use super::path::{self, References};
use crate::catalog::{Origin, Resource, Version};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The document about `version`.
pub(super) fn document(sources: &Sources<'_>, version: &Version) -> Value {
    let mut components = Components::new(sources.schema);
    let mut paths = Map::new();
    for resource in &version.resources {
        let references = references(sources, resource, &mut components);
        path::add(resource, &references, &mut paths);
    }
    value!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "1.35" },
        "paths": paths,
        "components": {
            "schemas": (components.into_schemas()),
            "securitySchemes": {
                "BearerToken": {
                    "type": "apiKey",
                    "description": "A bearer token",
                    "name": "authorization",
                    "in": "header",
                },
            },
        },
    })
}

/// What the operations of `resource` refer to; all of it is added to `components`.
pub(super) fn references(
    sources: &Sources<'_>,
    resource: &Resource,
    components: &mut Components<'_>,
) -> References {
    let mut meta = |name: &str| {
        components
            .add_named(&format!("{META}.{name}"))
            .unwrap_or_else(Value::object)
    };
    let (status, delete_options, patch) = (meta("Status"), meta("DeleteOptions"), meta("Patch"));
    let (object, list) = match resource.origin {
        Origin::Builtin => {
            let mut kind = |kind: &str| known_kind(components, &resource.group, &resource.version, kind);
            (kind(&resource.kind), kind(&resource.list_kind))
        }
        Origin::Custom => custom_references(sources, resource, components),
    };
    let subresources = resource.subresources.iter().map(|sub| {
        let own =
            (&sub.group, &sub.version, &sub.kind) == (&resource.group, &resource.version, &resource.kind);
        match own {
            true => object.clone(),
            false => known_kind(components, &sub.group, &sub.version, &sub.kind),
        }
    });
    References {
        subresources: subresources.collect(),
        object: object.clone(),
        list,
        status,
        delete_options,
        patch,
    }
}

/// Kinds that are only parameters of a connection (`PodExecOptions`) have no schema: anything goes.
fn known_kind(components: &mut Components<'_>, group: &str, version: &str, kind: &str) -> Value {
    components
        .add_kind(group, version, kind)
        .unwrap_or_else(|| value!({ "type": "object" }))
}

fn custom_references(
    sources: &Sources<'_>,
    resource: &Resource,
    components: &mut Components<'_>,
) -> (Value, Value) {
    for name in ["ObjectMeta", "ListMeta"] {
        components.add_named(&format!("{META}.{name}"));
    }
    let schema = (sources.custom)(resource);
    let name = |kind: &str| custom::component_name(&resource.group, &resource.version, kind);
    let object = components.add_schema(&name(&resource.kind), custom::object(resource, schema.as_ref()));
    let list = components.add_schema(&name(&resource.list_kind), custom::list(resource));
    (object, list)
}
