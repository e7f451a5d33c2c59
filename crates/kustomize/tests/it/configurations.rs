//! `configurations` and `crds`.

use crate::check;

#[test]
fn field_specs_of_custom_kinds_are_used() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
images: [{name: nginx, newTag: "2"}]
commonLabels: {l: v}
configurations: [c.yaml]
=== c.yaml
nameReference:
- kind: ConfigMap
  fieldSpecs:
  - path: spec/config
    kind: Thing
images:
- path: spec/run
  kind: Thing
commonLabels:
- path: spec/select
  kind: Thing
  create: true
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {config: a, run: nginx}
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    l: v
  name: p-a
---
apiVersion: example.com/v1
kind: Thing
metadata:
  labels:
    l: v
  name: p-t
spec:
  config: p-a
  run: nginx:2
  select:
    l: v
"#,
    );
}

#[test]
fn marks_in_definitions_name_references() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
crds: [crd.json]
=== crd.json
{"com.example.v1.Bee":{"Schema":{"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"spec":{"$ref":"com.example.v1.BeeSpec"}}}},"com.example.v1.BeeSpec":{"Schema":{"properties":{"secretRef":{"x-kubernetes-object-ref-api-version":"v1","x-kubernetes-object-ref-kind":"Secret"}}}}}
=== a.yaml
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: example.com/v1
kind: Bee
metadata: {name: b}
spec: {secretRef: {name: s}}
"#,
        r#"
apiVersion: v1
kind: Secret
metadata:
  name: p-s
---
apiVersion: example.com/v1
kind: Bee
metadata:
  name: p-b
spec:
  secretRef:
    name: p-s
"#,
    );
}

/// As kustomize 5.8.1 refuses them.
#[test]
fn definitions_that_are_none_are_refused() {
    for (document, wanted) in [
        ("[]", "array into Go value of type accumulator.nameToApiMap"),
        (
            r#"{"x": 1}"#,
            "number into Go value of type accumulator.OpenAPIDefinition",
        ),
        (
            r#"{"x": {}, "y": "z"}"#,
            "string into Go value of type accumulator.OpenAPIDefinition",
        ),
    ] {
        let told = crate::errors(&format!(
            "=== kustomization.yaml\ncrds: [x.json]\nconfigMapGenerator: [{{name: a}}]\n=== x.json\n{document}\n"
        ));
        assert!(
            told.contains(&format!("json: cannot unmarshal {wanted}")),
            "{told}"
        );
    }
}

/// Numbers are elements of lists, and no map has those; but all elements of a list are looked at before that.
#[test]
fn numbers_in_the_path_of_a_field_spec_lead_nowhere() {
    let tree = |path: &str| {
        format!(
            "=== kustomization.yaml\nresources: [a.yaml]\nconfigurations: [c.yaml]\nnamePrefix: p-\n=== c.yaml\nnamePrefix:\n- path: {path}\n=== a.yaml\nkind: X\nmetadata: {{name: a}}\n\"5\": five\nlist: [a]\nnone: []\n"
        )
    };
    let cases = [
        (
            "'5'",
            "fieldName: 5: wrong node kind: expected SequenceNode but got MappingNode",
        ),
        (
            "\"-\"",
            "fieldName: -: wrong node kind: expected SequenceNode but got MappingNode",
        ),
        (
            "'[a=b]'",
            "fieldName: [a=b]: wrong node kind: expected SequenceNode but got MappingNode",
        ),
        ("'-1'", "fieldName: -1: array index -1 cannot be negative"),
        ("'*'", "fieldName: *: wildcard is not supported in PathGetter"),
        ("list/0", "expected sequence or mapping node"),
    ];
    for (path, wanted) in cases {
        let told = crate::errors(&tree(path));
        assert!(told.contains(wanted), "{path}: {told}");
    }
    assert!(crate::built(&tree("none/0"), "").contains("name: p-a"));
}

/// What is written to a name makes another object of it, which takes nobody's place.
#[test]
fn labels_that_are_written_to_a_name_make_another_object() {
    check(
        r#"
=== kustomization.yaml
resources: [base, other]
=== base/kustomization.yaml
resources: [r.yaml]
labels:
- pairs: {name: b}
  fields: [{path: metadata, kind: ConfigMap, create: true}]
=== base/r.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: "1"}
=== other/kustomization.yaml
resources: [r.yaml]
=== other/r.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: "2"}
"#,
        r#"
apiVersion: v1
data:
  x: "2"
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
data:
  x: "1"
kind: ConfigMap
metadata:
  labels:
    name: b
  name: b
"#,
    );
}
