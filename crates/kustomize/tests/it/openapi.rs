//! Schemas of custom kinds.

use crate::{built, check};

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

/// A Pod whose base names a schema for Pods, and resources that come before it.
fn lists_of_pod_after(resources: &str) -> (bool, bool) {
    let text = r##"
=== base/kustomization.yaml
resources: [a.yaml]
openapi: {path: s.json}
=== base/s.json
{"definitions":{"Pod":{"properties":{"spec":{"properties":{"list":{"type":"array","x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}}}},"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Pod"}]}}}
=== base/a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: old-container}]
  list: [{name: old-element}]
=== odd/kustomization.yaml
resources: [o.yaml]
=== odd/o.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
=== merged/kustomization.yaml
resources: [o.yaml]
patches:
- patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}"
=== merged/o.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
=== over/kustomization.yaml
resources: [RESOURCES]
patches:
- patch: |-
    apiVersion: v1
    kind: Pod
    metadata: {name: p}
    spec:
      containers: [{name: b}]
      list: [{name: b}]
"##;
    let got = built(&text.replace("RESOURCES", resources), "over");
    (got.contains("old-container"), got.contains("old-element"))
}

#[test]
fn the_schema_of_a_base_puts_the_built_in_one_out_of_use() {
    assert_eq!(lists_of_pod_after("../base"), (false, true));
    assert_eq!(lists_of_pod_after("../base, ../odd, ../merged"), (false, true));
}

#[test]
fn a_kind_that_is_not_known_before_a_schema_brings_the_built_in_one_back() {
    assert_eq!(lists_of_pod_after("../odd, ../base"), (true, false));
}

#[test]
fn the_schema_of_a_base_adds_to_the_built_in_one_that_was_used_before() {
    assert_eq!(lists_of_pod_after("../merged, ../base"), (false, true));
}
