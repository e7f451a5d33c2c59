//! Transformers and generators that are objects.

use crate::check;

#[test]
fn built_in_plugins_run() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
transformers:
- |-
  apiVersion: builtin
  kind: PrefixSuffixTransformer
  metadata: {name: x}
  prefix: p-
  suffix: -s
  fieldSpecs: [{path: metadata/name}]
- t.yaml
generators:
- g.yaml
=== t.yaml
apiVersion: builtin
kind: NamespaceTransformer
metadata: {name: n, namespace: ns}
unsetOnly: true
setRoleBindingSubjects: allServiceAccounts
---
apiVersion: builtin
kind: LabelTransformer
metadata: {name: l}
labels: {a: b}
fieldSpecs: [{path: metadata/labels, create: true}]
---
apiVersion: builtin
kind: ValueAddTransformer
metadata: {name: v}
value: added
targets:
- fieldPath: metadata/annotations/x
- selector: {kind: ConfigMap}
  fieldPath: data/path
  filePathPosition: 2
=== g.yaml
apiVersion: builtin
kind: ConfigMapGenerator
metadata: {name: gen}
literals: [k=v]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {path: /a/b}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: own}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: sa}, {kind: User, name: u}]
"#,
        r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-rb-s
  namespace: own
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: r
subjects:
- kind: ServiceAccount
  name: sa
  namespace: ns
- kind: User
  name: u
---
apiVersion: v1
data:
  path: /a/added/b
kind: ConfigMap
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-a-s
  namespace: ns
---
apiVersion: v1
data:
  k: v
  path: added
kind: ConfigMap
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-gen-s-9499tk98h8
  namespace: ns
"#,
    );
}

/// A field that is made has no type.
#[test]
fn an_added_value_means_what_it_looks_like_where_the_field_is_made() {
    check(
        r#"
=== kustomization.yaml
resources: [r.yaml]
transformers:
- |-
  apiVersion: builtin
  kind: ValueAddTransformer
  metadata: {name: v}
  value: "true"
  targets:
  - fieldPath: spec/made/deep
  - fieldPath: spec/quoted
  - fieldPath: spec/plain
=== r.yaml
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {quoted: "x", plain: x}
"#,
        r#"apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
spec:
  made:
    deep: true
  plain: true
  quoted: "true"
"#,
    );
}
