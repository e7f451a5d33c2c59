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
