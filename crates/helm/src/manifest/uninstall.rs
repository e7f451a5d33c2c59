//! What is deleted when a release is uninstalled, and in which order.

use super::{Head, Manifest, order, split};
use crate::version::HelmVersion;

/// Says what happens to an object when its release goes.
const POLICY: &str = "helm.sh/resource-policy";
const KEEP: &str = "keep";

/// What becomes of the documents of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uninstall {
    /// These are deleted, in this order.
    pub delete: Vec<Manifest>,
    /// These stay.
    pub keep: Vec<Manifest>,
}

/// Sorts out the documents of a release that is uninstalled. An object with a resource policy that nobody knows is neither deleted nor listed
/// as one that stays, as with Helm.
///
/// # Errors
/// A document is no YAML.
pub fn uninstall(manifest: &str, version: HelmVersion) -> Result<Uninstall, String> {
    let mut documents = Vec::new();
    for (at, document) in split(manifest, version).into_iter().enumerate() {
        let head = Head::read(document).map_err(|problem| {
            format!("corrupted release record. You must manually delete the resources: YAML parse error on manifest-{at}: {problem}")
        })?;
        documents.push(Manifest {
            path: format!("manifest-{at}"),
            content: document.to_owned(),
            head,
        });
    }
    // By name, and so `manifest-10` comes before `manifest-2`: what is of one kind goes in this order.
    documents.sort_by(|one, other| one.path.cmp(&other.path));
    order::sort_by(
        &mut documents,
        |manifest| &manifest.head.kind,
        |kind| order::uninstall_rank(kind, version),
    );
    let mut sorted = Uninstall::default();
    for document in documents {
        match document.head.annotation(POLICY) {
            None => sorted.delete.push(document),
            Some(policy) if policy.trim().to_lowercase() == KEEP => sorted.keep.push(document),
            Some(_) => {}
        }
    }
    Ok(sorted)
}

/// What Helm says about objects that stay; nothing if there are none.
pub fn kept_text(keep: &[Manifest]) -> String {
    if keep.is_empty() {
        return String::new();
    }
    let mut text = "These resources were kept due to the resource policy:\n".to_owned();
    for manifest in keep {
        text.push_str(&format!("[{}] {}\n", manifest.head.kind, manifest.head.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_in_their_order_and_what_is_to_be_kept_stays() {
        let document = |kind: &str, name: &str, policy: &str| {
            let annotations = match policy {
                "" => String::new(),
                policy => format!("\n  annotations: {{helm.sh/resource-policy: {policy:?}}}"),
            };
            format!("---\n# Source: x\nkind: {kind}\nmetadata:\n  name: {name}{annotations}\n")
        };
        let manifest = [
            document("Secret", "s", ""),
            document("Thing", "t", ""),
            document("Deployment", "d", ""),
            document("PersistentVolumeClaim", "p", " Keep "),
            document("Service", "v", ""),
            document("ConfigMap", "c", "other"),
            document("Namespace", "ns", ""),
        ]
        .concat();
        let sorted = uninstall(&manifest, HelmVersion::V4).unwrap();
        let names: Vec<&str> = sorted
            .delete
            .iter()
            .map(|manifest| manifest.head.name.as_str())
            .collect();
        assert_eq!(names, ["v", "d", "s", "ns", "t"]);
        assert_eq!(
            kept_text(&sorted.keep),
            "These resources were kept due to the resource policy:\n[PersistentVolumeClaim] p\n"
        );
        assert!(uninstall("a: b: c", HelmVersion::V4).is_err());
    }
}
