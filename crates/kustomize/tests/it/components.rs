//! Components.

use crate::check;

#[test]
fn a_component_changes_what_is_there_before_it() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
components: [c]
namePrefix: p-
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
=== c/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [b.yaml]
nameSuffix: -c
patches:
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: a
    data: {k: v}
=== c/b.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
"#,
        r#"
apiVersion: v1
data:
  k: v
kind: ConfigMap
metadata:
  name: p-a-c
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: p-b-c
"#,
    );
}

#[test]
fn components_follow_one_another() {
    check(
        r#"
=== kustomization.yaml
components: [c, d]
=== c/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
- name: g
  literals: [a=1]
=== d/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
- name: g
  behavior: merge
  literals: [b=2]
"#,
        r#"
apiVersion: v1
data:
  a: "1"
  b: "2"
kind: ConfigMap
metadata:
  name: g-7gdc49gk6d
"#,
    );
}

#[test]
fn a_component_that_gives_two_objects_the_same_name_is_refused() {
    let told = crate::errors(
        r#"
=== kustomization.yaml
resources: [a.yaml]
components: [comp]
namePrefix: p-
=== comp/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
replacements:
- sourceValue: same
  targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
"#,
    );
    assert!(
        told.contains("kustomization.yaml:2: recursed merging from path 'comp'")
            && told.ends_with("; in a.yaml:1 and a.yaml:5"),
        "{told}"
    );
    assert!(told.contains("ConfigMap.v1.[noGrp]/same.[noNs]"), "{told}");
}
