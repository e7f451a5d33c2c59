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
