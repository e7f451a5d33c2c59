//! Images.

use crate::check;

#[test]
fn names_tags_and_digests_are_replaced() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
images:
- {name: nginx, newTag: "2.0"}
- {name: "host:5000/app", newName: other/app}
- {name: db, digest: sha256:abc}
- {name: tool, newName: t, newTag: v1}
=== a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - {name: a, image: nginx:1.0}
  - {name: b, image: "host:5000/app:7"}
  - {name: c, image: "db:1@sha256:old"}
  - {name: d, image: nginx-other:1}
  initContainers:
  - {name: e, image: tool}
"#,
        r#"
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - image: nginx:2.0
    name: a
  - image: other/app:7
    name: b
  - image: db@sha256:abc
    name: c
  - image: nginx-other:1
    name: d
  initContainers:
  - image: t:v1
    name: e
"#,
    );
}

#[test]
fn containers_are_found_in_any_kind_but_definitions() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
images: [{name: nginx, newTag: "2"}]
=== a.yaml
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
deep: [{x: {containers: [{image: nginx}, {other: 1}]}}]
image: nginx
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: d}
spec: {containers: [{image: nginx}]}
"#,
        r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: d
spec:
  containers:
  - image: nginx
---
apiVersion: example.com/v1
deep:
- x:
    containers:
    - image: nginx:2
    - other: 1
image: nginx
kind: Thing
metadata:
  name: t
"#,
    );
}
