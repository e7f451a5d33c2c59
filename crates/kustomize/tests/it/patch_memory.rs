//! Patches that take away the annotations in which kustomize remembers things.

use crate::built;

/// A generated ConfigMap and a Pod that refers to it, from a base with a prefix, after a patch of all ConfigMaps.
fn after_patch(patch: &str) -> String {
    let text = r#"
=== base/kustomization.yaml
resources: [a.yaml]
namePrefix: b-
configMapGenerator: [{name: g, literals: [a=b]}]
=== base/a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {volumes: [{name: v, configMap: {name: g}}]}
=== over/kustomization.yaml
resources: [../base]
buildMetadata: [originAnnotations, transformerAnnotations]
patches:
- target: {kind: ConfigMap}
  patch: 'PATCH'
"#;
    built(&text.replace("PATCH", patch), "over")
}

/// How the origin of something is told that a patch of the outer kustomization has taken over.
const PATCHED: &str = "    config.kubernetes.io/origin: |\n      configuredIn: kustomization.yaml\n      configuredBy:\n        apiVersion: builtin\n        kind: PatchTransformer\n";

#[test]
fn a_json_patch_of_all_annotations_loses_the_origin_but_not_the_name() {
    for patch in [
        r#"[{"op": "add", "path": "/metadata/annotations", "value": {"x": "y"}}]"#,
        r#"[{"op": "remove", "path": "/metadata/annotations"}]"#,
    ] {
        let got = after_patch(patch);
        let (config_map, pod) = got.split_once("---\n").expect("there are two objects");
        assert!(config_map.contains(PATCHED), "{got}");
        assert!(!config_map.contains("transformations"), "{got}");
        assert!(config_map.contains("  name: b-g-4h2mbtbbt6\n"), "{got}");
        assert!(pod.contains("      name: b-g-4h2mbtbbt6\n"), "{got}");
    }
}

#[test]
fn a_merge_patch_that_replaces_annotations_loses_the_name_and_the_hash_too() {
    for metadata in ["annotations: {$patch: replace, a: b}", "$patch: replace"] {
        let got = after_patch(&format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: x, {metadata}}}}}"
        ));
        let (config_map, pod) = got.split_once("---\n").expect("there are two objects");
        assert!(config_map.contains(PATCHED), "{got}");
        assert!(config_map.contains("  name: b-g\n"), "{got}");
        assert!(pod.contains("      name: g\n"), "{got}");
    }
}

#[test]
fn a_merge_patch_that_would_replace_the_whole_object_does_nothing() {
    let got = after_patch(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, annotations: {$patch: replace}}, data: {z: z}, $patch: replace}",
    );
    assert!(got.contains("data:\n  a: b\nkind: ConfigMap\n"), "{got}");
    assert!(got.contains("  name: b-g-4h2mbtbbt6\n"), "{got}");
}

/// kustomize makes floats of all numbers of an object for a JSON patch.
#[test]
fn numbers_are_floats_after_a_json_patch() {
    crate::check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: X}
  patch: '- {op: add, path: /spec/new, value: 1234567.5}'
transformers:
- "{apiVersion: builtin, kind: SuffixTransformer, suffix: -s, fieldSpecs: [{path: spec/a}, {path: spec/b}, {path: spec/c}, {path: spec/d}, {path: spec/new}], metadata: {name: t}}"
=== a.yaml
kind: X
metadata: {name: a}
spec: {a: 12345678, b: 12345678901234567890, c: 0.0000015, d: 5, e: 9007199254740993, f: 12345678}
"#,
        r"
kind: X
metadata:
  name: a
spec:
  a: 1.2345678e+07-s
  b: 1.2345678901234567e+19-s
  c: 1.5e-06-s
  d: 5-s
  e: 9007199254740992
  f: 12345678
  new: 1.2345675e+06-s
",
    );
}
