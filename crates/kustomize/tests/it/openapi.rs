//! Schemas of custom kinds.

use crate::check;

#[test]
fn a_schema_of_ones_own_says_how_lists_are_merged() {
    check(
        r##"
=== kustomization.yaml
resources: [a.yaml]
openapi: {path: s.json}
patches:
- patch: |-
    apiVersion: example.com/v1
    kind: Thing
    metadata: {name: t}
    spec: {items: [{id: b, x: 2}, {id: c, x: 3}]}
=== s.json
{"definitions":{"Thing":{"properties":{"spec":{"$ref":"#/definitions/Spec"}},"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Thing"}]},"Spec":{"properties":{"items":{"type":"array","items":{"$ref":"#/definitions/Item"},"x-kubernetes-patch-merge-key":"id","x-kubernetes-patch-strategy":"merge"}}},"Item":{"properties":{"id":{"type":"string"}}}}}
=== a.yaml
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {items: [{id: a, x: 1}, {id: b, y: 1}]}
"##,
        r##"
apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
spec:
  items:
  - id: b
    x: 2
    "y": 1
  - id: c
    x: 3
  - id: a
    x: 1
"##,
    );
}
