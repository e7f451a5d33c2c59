//! The Kustomization that is built: from a file, from the cluster, or from what another one builds.

use std::path::Path;

use anyhow::{Context as _, bail};
use api::kustomize::{GROUP, Kustomization, KustomizationSpec};
use api::{Fields, Spec};
use kube::{Api, Client};
use model::Value;

use super::texts;

/// The Kustomization of a name in a file with any number of objects.
pub(crate) fn from_file(file: &Path, name: &str, namespace: &str) -> anyhow::Result<Kustomization> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("failed to read kustomization file {}", file.display()))?;
    for document in yaml::documents(&text) {
        // Other objects of the file may be Secrets.
        let object = document
            .map_err(|error| anyhow::anyhow!("line {}: {}", error.line(), error.without_values()))
            .with_context(|| format!("failed to unmarshall kustomization file {}", file.display()))?
            .value;
        let own = object.str_at(&["metadata", "namespace"]);
        let here = own == namespace || own.is_empty();
        if is_kustomization(&object) && object.str_at(&["metadata", "name"]) == name && here {
            return from_object(&as_typed(object))
                .with_context(|| format!("failed to unmarshall kustomization file {}", file.display()));
        }
    }
    bail!(
        "failed find kustomization with name '{name}' and namespace '{namespace}' in file '{}'",
        file.display()
    )
}

/// Whether an object is a Kustomization of Flux.
pub(crate) fn is_kustomization(object: &Value) -> bool {
    let version = object.str_at(&["apiVersion"]).strip_prefix(GROUP);
    version.is_some_and(|version| version.starts_with('/')) && object.str_at(&["kind"]) == "Kustomization"
}

/// An object of a file as a program reads it that knows the types of its fields.
fn as_typed(mut object: Value) -> Value {
    let definition = <KustomizationSpec as Spec>::definition().to_value();
    let versions = definition.list_at(&["spec", "versions"]);
    let schema = versions
        .first()
        .and_then(|version| version.at(&["schema", "openAPIV3Schema"]));
    let mut schema = schema.cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        let path = [
            "properties",
            "metadata",
            "properties",
            field,
            "additionalProperties",
            "type",
        ];
        schema.set_at(&path, "string");
    }
    texts::to_texts(&mut object, &schema);
    object
}

/// A Kustomization of an object. What does not fit is named and not told: values may be secrets.
pub(super) fn from_object(object: &Value) -> anyhow::Result<Kustomization> {
    let Ok(mut object) = model::convert::to_serde::<Fields>(object) else {
        bail!("it is not an object");
    };
    match KustomizationSpec::read(&object) {
        Ok(read) => return Ok(read),
        // This one names no values.
        Err(error) if error.is_of_a_missing_field() => return Err(error.into()),
        Err(_) => {}
    }
    let spec = object.get("spec").and_then(serde_json::Value::as_object).cloned();
    let spec = spec.unwrap_or_default();
    let fits_without = |field: &String| {
        let mut rest = spec.clone();
        rest.remove(field);
        object.insert("spec".to_owned(), rest.into());
        KustomizationSpec::read(&object).is_ok()
    };
    let fields = spec.keys().cloned();
    let wrong: Vec<String> = fields.filter(fits_without).collect();
    match &wrong[..] {
        [] => bail!("its fields are not those of a Kustomization: see `kubectl explain kustomization.spec`"),
        fields => bail!(
            "spec.{} is not of its type: see `kubectl explain kustomization.spec`",
            fields.join(", spec.")
        ),
    }
}

/// The Kustomization of a name in the cluster; `None` if there is none.
pub(crate) async fn from_cluster(
    client: &Client,
    name: &str,
    namespace: &str,
) -> anyhow::Result<Option<Kustomization>> {
    let found = Api::<Kustomization>::namespaced(client.clone(), namespace)
        .get_opt(name)
        .await;
    found.with_context(|| format!("failed to get kustomization object {namespace}/{name}"))
}
