//! ConfigMaps and Secrets that are made.

use crate::{check, check_at};

#[test]
fn names_get_a_hash_of_the_content() {
    check(
        r#"
=== kustomization.yaml
configMapGenerator:
- name: c
  literals: [a=1, "b=x y", c="quoted"]
secretGenerator:
- name: s
  type: example
  literals: [p=w]
"#,
        r#"
apiVersion: v1
data:
  a: "1"
  b: x y
  c: quoted
kind: ConfigMap
metadata:
  name: c-c4khf58d2t
---
apiVersion: v1
data:
  p: dw==
kind: Secret
metadata:
  name: s-6924t695g4
type: example
"#,
    );
}

#[test]
fn files_and_environments_are_read() {
    check(
        r#"
=== kustomization.yaml
configMapGenerator:
- name: c
  files: [f.txt, key=d/g.txt]
  envs: [e.env]
  options: {disableNameSuffixHash: true}
=== f.txt
one
two
=== d/g.txt
no end of line=== e.env
# comment
A=1
  B = two 
C

D=x=y
"#,
        r#"
apiVersion: v1
data:
  A: "1"
  'B ': ' two '
  C: ""
  D: x=y
  f.txt: |
    one
    two
  key: no end of line
kind: ConfigMap
metadata:
  name: c
"#,
    );
}

#[test]
fn options_hold_for_all_and_own_ones_win() {
    check(
        r#"
=== kustomization.yaml
generatorOptions:
  labels: {a: all, b: all}
  annotations: {note: all}
  immutable: true
  disableNameSuffixHash: true
configMapGenerator:
- name: c
  options: {labels: {a: own}}
secretGenerator:
- name: s
  literals: [p=w]
"#,
        r#"
apiVersion: v1
immutable: true
kind: ConfigMap
metadata:
  annotations:
    note: all
  labels:
    a: own
    b: all
  name: c
---
apiVersion: v1
data:
  p: dw==
immutable: true
kind: Secret
metadata:
  annotations:
    note: all
  labels:
    a: all
    b: all
  name: s
type: Opaque
"#,
    );
}

#[test]
fn behaviors_merge_and_replace_what_a_base_made() {
    check_at(
        "over",
        r#"
=== base/kustomization.yaml
namePrefix: p-
configMapGenerator:
- name: m
  literals: [a=1, b=2]
  options: {labels: {l: base}}
- name: r
  literals: [a=1, b=2]
=== over/kustomization.yaml
resources: [../base]
configMapGenerator:
- name: m
  behavior: merge
  literals: [b=3, c=4]
- name: r
  behavior: replace
  literals: [z=9]
"#,
        r#"
apiVersion: v1
data:
  a: "1"
  b: "3"
  c: "4"
kind: ConfigMap
metadata:
  labels:
    l: base
  name: p-m-fbcmkbc66h
---
apiVersion: v1
data:
  z: "9"
kind: ConfigMap
metadata:
  name: p-r-k765b4dhgf
"#,
    );
}

#[test]
fn references_follow_the_hash() {
    check(
        r#"
=== kustomization.yaml
resources: [p.yaml]
configMapGenerator:
- name: c
  literals: [a=1]
secretGenerator:
- name: s
  literals: [a=1]
=== p.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: c
    image: x
    envFrom:
    - configMapRef: {name: c}
    - secretRef: {name: s}
    - secretRef: {name: other}
  volumes:
  - name: v
    projected: {sources: [{configMap: {name: c}}, {secret: {name: s}}]}
"#,
        r#"
apiVersion: v1
data:
  a: "1"
kind: ConfigMap
metadata:
  name: c-h29d89cmmt
---
apiVersion: v1
data:
  a: MQ==
kind: Secret
metadata:
  name: s-25khgmg44c
type: Opaque
---
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - envFrom:
    - configMapRef:
        name: c-h29d89cmmt
    - secretRef:
        name: s-25khgmg44c
    - secretRef:
        name: other
    image: x
    name: c
  volumes:
  - name: v
    projected:
      sources:
      - configMap:
          name: c-h29d89cmmt
      - secret:
          name: s-25khgmg44c
"#,
    );
}

/// The generator puts none around `n1`, and so `5` is a number in its place.
#[test]
fn a_namespace_that_is_merged_keeps_the_quotes_of_the_generator() {
    check(
        r#"
=== base/kustomization.yaml
namespace: "5"
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  namespace: n1
  literals: [a=x, b=y, c=1]
secretGenerator:
- name: b
  literals: [a=x]
=== kustomization.yaml
resources: [base]
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  namespace: n1
  behavior: merge
  literals: [d=z]
"#,
        r#"
apiVersion: v1
data:
  a: x
  b: "y"
  c: "1"
  d: z
kind: ConfigMap
metadata:
  name: a
  namespace: 5
---
apiVersion: v1
data:
  a: eA==
kind: Secret
metadata:
  name: b
  namespace: "5"
type: Opaque
"#,
    );
}

#[test]
fn what_a_patch_writes_over_generated_texts_gets_only_their_quotes() {
    check(
        r"
=== base/kustomization.yaml
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  literals: [a=x, b=y, c=1]
secretGenerator:
- name: b
  literals: [a=x]
=== kustomization.yaml
resources: [base]
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  behavior: merge
  literals: [d=z, e=1]
patches:
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a}
    data: {a: 5, c: 6, d: 7, e: 8}
- patch: |
    apiVersion: v1
    kind: Secret
    metadata: {name: b}
    type: 5
",
        r#"
apiVersion: v1
data:
  a: 5
  b: "y"
  c: "6"
  d: 7
  e: "8"
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
data:
  a: eA==
kind: Secret
metadata:
  name: b
type: 5
"#,
    );
}

/// kustomize adds the namespace without a type where the generator gives none.
#[test]
fn a_namespace_that_looks_like_a_date_is_one_after_a_merge() {
    check(
        r#"
=== base/kustomization.yaml
namespace: "2020-01-01"
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  literals: [a=x]
=== kustomization.yaml
resources: [base]
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
- name: a
  behavior: merge
  literals: [d=z]
"#,
        r#"
apiVersion: v1
data:
  a: x
  d: z
kind: ConfigMap
metadata:
  name: a
  namespace: "2020-01-01T00:00:00Z"
"#,
    );
}
