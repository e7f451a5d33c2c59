//! What is done with the definitions of custom resources in `crds/`.

use bytes::Bytes;
use model::{ObjectKey, Value};

use crate::inventory::objects;

/// What a user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrdPolicy {
    /// Nothing.
    Skip,
    /// Those that are not there are made. So it is if nothing is said, also for upgrades, whatever Flux documents.
    #[default]
    Create,
    /// Those that are there are changed too. None is ever deleted.
    CreateReplace,
}

/// A policy is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid CRD upgrade policy '{0}', valid values are 'Skip', 'Create' or 'CreateReplace'")]
pub struct InvalidPolicy(pub String);

impl CrdPolicy {
    /// The policy of a name; [`CrdPolicy::Create`] if it is empty.
    pub fn parse(name: &str) -> Result<CrdPolicy, InvalidPolicy> {
        match name {
            "" | "Create" => Ok(CrdPolicy::Create),
            "Skip" => Ok(CrdPolicy::Skip),
            "CreateReplace" => Ok(CrdPolicy::CreateReplace),
            other => Err(InvalidPolicy(other.to_owned())),
        }
    }
}

/// What is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// These are made or changed, in this order.
    pub apply: Vec<Value>,
    /// These are there, and stay as they are.
    pub present: Vec<String>,
    /// These are no definitions, and are not looked at: `group/kind/[namespace/]name`.
    pub ignored: Vec<String>,
}

/// Chooses what is done with the files in `crds/`. `is_there` tells whether the cluster has a definition.
///
/// # Errors
/// A file is no YAML.
pub fn choose(
    policy: CrdPolicy,
    files: &[(String, Bytes)],
    origin: &[(String, String)],
    is_there: impl Fn(&str) -> bool,
) -> Result<Chosen, String> {
    let mut chosen = Chosen::default();
    if policy == CrdPolicy::Skip {
        return Ok(chosen);
    }
    for (path, content) in files {
        let text = String::from_utf8_lossy(content);
        let found = objects(&text)
            .map_err(|problem| format!("failed to parse CustomResourceDefinitions from {path}: {problem}"))?;
        for mut object in found {
            let key = ObjectKey::of(&object);
            if key.group != "apiextensions.k8s.io" || key.kind != "CustomResourceDefinition" {
                let place = if key.namespace.is_empty() {
                    String::new()
                } else {
                    format!("{}/", key.namespace)
                };
                let ignored = format!("{}/{}/{place}{}", key.group, key.kind, key.name);
                chosen.ignored.push(ignored);
            } else if policy == CrdPolicy::Create && is_there(&key.name) {
                chosen.present.push(key.name.to_string());
            } else {
                crate::ownership::add_metadata(&mut object, [], [], origin);
                chosen.apply.push(object);
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ownership::origin_labels;

    fn files() -> Vec<(String, Bytes)> {
        let crd = |name: &str| {
            format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {name}\n"
            )
        };
        let text = format!(
            "{}---\n{}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: shop}}\n",
            crd("old"),
            crd("new")
        );
        vec![("app/crds/all.yaml".to_owned(), Bytes::from(text))]
    }

    fn names(policy: &str) -> (Vec<String>, Vec<String>) {
        let policy = CrdPolicy::parse(policy).unwrap();
        let origin = origin_labels("shop", "web");
        let chosen = choose(policy, &files(), &origin, |name| name == "old").unwrap();
        for object in &chosen.apply {
            let label = ["metadata", "labels", "helm.toolkit.fluxcd.io/name"];
            assert_eq!(object.str_at(&label), "web");
        }
        if policy != CrdPolicy::Skip {
            assert_eq!(chosen.ignored, ["/ConfigMap/shop/c"]);
        }
        let apply = chosen.apply.iter();
        let apply = apply.map(|object| object.str_at(&["metadata", "name"]).to_owned());
        (apply.collect(), chosen.present)
    }

    #[test]
    fn definitions_are_made_changed_or_left_alone() {
        let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(names("Skip"), (strings(&[]), strings(&[])));
        assert_eq!(names(""), (strings(&["new"]), strings(&["old"])));
        assert_eq!(names("Create"), (strings(&["new"]), strings(&["old"])));
        assert_eq!(names("CreateReplace"), (strings(&["old", "new"]), strings(&[])));
        assert_eq!(
            CrdPolicy::parse("Delete").unwrap_err().to_string(),
            "invalid CRD upgrade policy 'Delete', valid values are 'Skip', 'Create' or 'CreateReplace'"
        );
    }
}
