//! Prefixes, suffixes and the references to what they rename.

use crate::{check, check_at, errors};

#[test]
fn prefixes_and_suffixes_pile_up() {
    check_at(
        "over",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
namePrefix: b-
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
=== over/kustomization.yaml
resources: [../base]
namePrefix: o-
nameSuffix: -s
"#,
        r#"
apiVersion: v1
kind: Namespace
metadata:
  name: ns
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: o-b-a-s
"#,
    );
}

#[test]
fn references_get_the_new_names() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
=== a.yaml
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: n}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: n}
rules:
- {apiGroups: [""], resources: [secrets], resourceNames: [s, unknown], verbs: [get]}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: n}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: n}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects:
- {kind: ServiceAccount, name: sa, namespace: n}
- {kind: ServiceAccount, name: sa, namespace: elsewhere}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: n}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: n
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.0
"#,
        r#"
apiVersion: v1
kind: ServiceAccount
metadata:
  name: p-sa
  namespace: "n"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: p-r
  namespace: "n"
rules:
- apiGroups:
  - ""
  resourceNames:
  - p-s
  - unknown
  resources:
  - secrets
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: p-rb
  namespace: "n"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: p-r
subjects:
- kind: ServiceAccount
  name: p-sa
  namespace: "n"
- kind: ServiceAccount
  name: sa
  namespace: elsewhere
---
apiVersion: v1
kind: Secret
metadata:
  name: p-s
  namespace: "n"
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: p-web
  namespace: "n"
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: nginx:1.0
        name: web
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: p-h
  namespace: "n"
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: p-web
"#,
    );
}

#[test]
fn references_stay_in_their_own_overlay() {
    check_at(
        "top",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {volumes: [{name: v, configMap: {name: c}}]}
=== x/kustomization.yaml
resources: [../base]
namePrefix: x-
=== y/kustomization.yaml
resources: [../base]
namePrefix: y-
=== top/kustomization.yaml
resources: [../x, ../y]
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: x-c
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: y-c
---
apiVersion: v1
kind: Pod
metadata:
  name: x-p
spec:
  volumes:
  - configMap:
      name: x-c
    name: v
---
apiVersion: v1
kind: Pod
metadata:
  name: y-p
spec:
  volumes:
  - configMap:
      name: y-c
    name: v
"#,
    );
}

#[test]
fn names_that_patches_made_the_same_are_refused() {
    let told = crate::errors(
        "\
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: replace, path: /metadata/name, value: same}
=== a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
",
    );
    assert!(
        told.contains("may not add resource with an already registered id"),
        "{told}"
    );
}

#[test]
fn what_a_replacement_takes_the_name_of_is_refused() {
    let told = errors(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, fieldPath: metadata.labels}
  targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {b: c}
"#,
    );
    assert!(
        told.contains("a.yaml:1: missing metadata.name in object {{v1 ConfigMap} {{ } map[] map[]}}"),
        "{told}"
    );
}

#[test]
fn suffixes_that_an_annotation_tells_of_keep_references_from_what_has_none() {
    check_at(
        "over",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
configMapGenerator: [{name: c, literals: [a=b]}]
=== base/a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {internal.config.kubernetes.io/suffixes: -x}}
spec:
  volumes: [{name: v, configMap: {name: c}}]
=== one/kustomization.yaml
resources: [../base]
namePrefix: o-
=== over/kustomization.yaml
resources: [../one, ../base]
"#,
        r#"
apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  name: c-4h2mbtbbt6
---
apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  name: o-c-4h2mbtbbt6
---
apiVersion: v1
kind: Pod
metadata:
  name: o-p
spec:
  volumes:
  - configMap:
      name: c
    name: v
---
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  volumes:
  - configMap:
      name: c
    name: v
"#,
    );
}
