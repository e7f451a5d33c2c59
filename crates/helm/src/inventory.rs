//! The objects of a release, as `status.inventory` lists them: those of its manifest that are no hooks, and those in `crds/`.

use bytes::Bytes;
use model::inventory::{Entry, Id};
use model::{Inventory, ObjectKey, Value};

/// Tells whether objects of a group, version and kind lie in namespaces; why not, if that is unknown.
pub type Scope<'s> = &'s dyn Fn(&str, &str, &str) -> Result<bool, String>;

/// What a release consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The objects.
    pub inventory: Inventory,
    /// What could not be told, in Flux's words.
    pub warnings: Vec<String>,
}

/// Lists the objects of a manifest and of the files in `crds/`. Objects that name no namespace lie in that of the release, if they lie in any.
///
/// # Errors
/// A document is no YAML.
pub fn list(
    manifest: &str,
    crds: &[(String, Bytes)],
    namespace: &str,
    is_namespaced: Scope<'_>,
) -> Result<Listed, String> {
    let mut listed = Listed::default();
    let found = objects(manifest).map_err(|problem| format!("failed to parse manifest: {problem}"))?;
    for mut object in found {
        if object.at(&["metadata", "annotations", "helm.sh/hook"]).is_some() {
            continue;
        }
        if object.str_at(&["metadata", "namespace"]).is_empty() {
            let (group, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
            let kind = object.str_at(&["kind"]);
            match is_namespaced(group, version, kind) {
                Ok(true) => object.set_at(&["metadata", "namespace"], namespace),
                Ok(false) => {}
                Err(problem) => listed.warnings.push(format!(
                    "failed to determine if {kind} is namespace scoped, skipping namespace: {problem}"
                )),
            }
        }
        listed.inventory.entries.push(entry(&object));
    }
    for (path, content) in crds {
        let found = objects(&String::from_utf8_lossy(content))
            .map_err(|problem| format!("failed to parse CRD {path}: {problem}"))?;
        listed.inventory.entries.extend(found.iter().map(entry));
    }
    Ok(listed)
}

fn entry(object: &Value) -> Entry {
    let (_, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
    Entry {
        id: Id(ObjectKey::of(object)),
        version: version.to_owned(),
    }
}

/// The objects of a stream of documents, with those of lists one by one. What has no kind or no name is none, and neither is a Kustomization
/// of kustomize.
pub fn objects(text: &str) -> Result<Vec<Value>, String> {
    let mut objects = Vec::new();
    for document in yaml::documents(text) {
        let value = document.map_err(|error| error.to_string())?.value;
        let is_list = value.str_at(&["kind"]).ends_with("List") && value.get("items").is_some();
        if is_list {
            objects.extend(
                value
                    .list_at(&["items"])
                    .iter()
                    .filter(|item| is_object(item))
                    .cloned(),
            );
        } else if is_object(&value) {
            objects.push(value);
        }
    }
    Ok(objects)
}

fn is_object(value: &Value) -> bool {
    let text = |path: &[&str]| !value.str_at(path).is_empty();
    let is_kustomization = value.str_at(&["kind"]) == "Kustomization"
        && value
            .str_at(&["apiVersion"])
            .starts_with("kustomize.config.k8s.io/");
    text(&["apiVersion"]) && text(&["kind"]) && text(&["metadata", "name"]) && !is_kustomization
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_listed_with_their_namespaces_and_hooks_are_not() {
        let manifest = "\
---
# Source: app/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: other}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: 'system:c'}
---
apiVersion: batch/v1
kind: Job
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
---
apiVersion: example.com/v1beta1
kind: Thing
metadata: {name: d}
---
# nothing
---
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: e}}
";
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n";
        let scope = |group: &str, _: &str, kind: &str| match (group, kind) {
            ("example.com", _) => Err("no matches for kind \"Thing\"".to_owned()),
            (_, "ClusterRole") => Ok(false),
            _ => Ok(true),
        };
        let crds = [("app/crds/c.yaml".to_owned(), Bytes::from(crd))];
        let listed = list(manifest, &crds, "shop", &scope).unwrap();
        let entries: Vec<String> = listed
            .inventory
            .entries
            .iter()
            .map(|entry| format!("{} {}", entry.id, entry.version))
            .collect();
        assert_eq!(
            entries,
            [
                "shop_a__ConfigMap v1",
                "other_b__ConfigMap v1",
                "_system__c_rbac.authorization.k8s.io_ClusterRole v1",
                "_d_example.com_Thing v1beta1",
                "shop_e_apps_Deployment v1",
                "_things.example.com_apiextensions.k8s.io_CustomResourceDefinition v1",
            ]
        );
        assert_eq!(
            listed.warnings,
            [
                "failed to determine if Thing is namespace scoped, skipping namespace: no matches for kind \"Thing\""
            ]
        );
        assert!(
            list("a: b: c", &[], "shop", &scope)
                .unwrap_err()
                .starts_with("failed to parse manifest: ")
        );
    }
}
