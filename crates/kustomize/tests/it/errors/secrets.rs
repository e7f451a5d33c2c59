//! Values are told by no message, whatever is wrong with them: each could be a secret.

use crate::errors;

/// What is wrong with a tree, which has `hunter2` where it is wrong.
fn masked(tree: &str) -> String {
    assert!(tree.contains("hunter2"), "{tree}");
    let told = errors(tree);
    assert!(!told.contains("hunter"), "{told}");
    told
}

/// A Secret whose only value is written so.
fn secret(value: &str) -> String {
    format!(
        "=== kustomization.yaml\nresources: [a.yaml]\n=== a.yaml\napiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n\
         stringData:\n  password: {value}\n"
    )
}

/// Mistakes in writing a value, and what is told of them.
const VALUES: [(&str, &str); 8] = [
    (
        "*hunter2",
        "unknown anchor referenced: put quotes around a value that begins with '*'",
    ),
    (
        "&a {b: &hunter2 [*hunter2]}",
        "the value of an anchor contains itself",
    ),
    ("!!int hunter2", "cannot decode !!str as a !!int"),
    ("!!bool hunter2", "cannot decode !!str as a !!bool"),
    ("!!timestamp hunter2", "cannot decode !!str as a !!timestamp"),
    ("!!binary hunter2!", "!!binary value contains invalid base64 data"),
    ("{{hunter2}}", "invalid map key"),
    ("[hunter2", "did not find expected ',' or ']'"),
];

#[test]
fn values_of_objects_are_not_told() {
    for (value, wanted) in VALUES {
        let told = masked(&secret(value));
        assert!(told.contains(wanted), "wanted {wanted:?} in: {told}");
        assert!(told.starts_with("a.yaml:"), "{told}");
    }
}

#[test]
fn values_of_kustomizations_are_not_told() {
    for (value, _) in VALUES {
        masked(&format!("=== kustomization.yaml\nnamePrefix: {value}\n"));
    }
}

#[test]
fn values_of_patches_are_not_told() {
    for (value, _) in VALUES {
        let tree = with_patch(&format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  password: {value}\n"
        ));
        let told = masked(&tree);
        assert!(told.contains("a.yaml:") || told.contains("p.yaml:"), "{told}");
        let tree = with_patch(&format!("- op: add\n  path: /stringData\n  value: {value}\n"));
        masked(&tree);
    }
}

fn with_patch(patch: &str) -> String {
    let object = secret("plain");
    let named = "resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: Secret}}]";
    let object = object.replace("resources: [a.yaml]", named);
    format!("{object}=== p.yaml\n{patch}")
}

#[test]
fn values_of_files_that_others_name_are_not_told() {
    for (field, entry) in [
        ("replacements", "path: f.yaml"),
        ("configurations", "f.yaml"),
        ("crds", "f.yaml"),
        ("transformers", "f.yaml"),
        ("generators", "f.yaml"),
        ("patchesStrategicMerge", "f.yaml"),
    ] {
        for (value, _) in VALUES {
            masked(&format!(
                "=== kustomization.yaml\n{field}:\n- {entry}\n=== f.yaml\na: {value}\n"
            ));
        }
    }
    for (value, _) in VALUES {
        masked(&format!(
            "=== kustomization.yaml\nopenapi: {{path: f.yaml}}\n=== f.yaml\na: {value}\n"
        ));
    }
}

/// kubectl keeps the whole object in an annotation.
#[test]
fn annotations_of_what_lacks_a_kind_or_a_name_are_not_told() {
    for lacking in ["metadata: {name: a, ", "kind: Secret\nmetadata: {"] {
        let told = masked(&format!(
            "=== kustomization.yaml\nresources: [a.yaml]\n=== a.yaml\napiVersion: v1\n{lacking}annotations: {{last: hunter2}}}}\n"
        ));
        assert!(told.starts_with("a.yaml:1: missing "), "{told}");
    }
}

#[test]
fn what_follows_a_separator_of_documents_is_not_told() {
    let told = masked(
        "=== kustomization.yaml\nresources: [a.yaml]\n=== a.yaml\nkind: X\nmetadata: {name: a}\n---hunter2\nkind: X\n",
    );
    assert!(told.starts_with("a.yaml:3: invalid document separator"), "{told}");
}
