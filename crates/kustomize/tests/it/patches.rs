//! Patches of all three forms.

use crate::{check, with_a};

/// A Deployment with lists of all kinds.
const WEB_AND_SIDE: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
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
        ports:
        - containerPort: 80
        - containerPort: 443
          protocol: UDP
        env:
        - {name: A, value: "1"}
        - {name: B, value: "2"}
        args: [one, two]
      - name: side
        image: side
"#;

#[test]
fn elements_of_a_patch_come_first_and_are_merged_by_key() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      template:
        spec:
          containers:
          - name: new
            image: n
          - name: web
            image: nginx:2
            args: [three]
            env:
            - {name: C, value: "3"}
            - {name: B, value: null}
            ports:
            - {containerPort: 443, protocol: UDP, name: x}
            - {containerPort: 80, protocol: TCP}
"#,
            WEB_AND_SIDE,
        ),
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
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
      - image: "n"
        name: new
      - args:
        - three
        env:
        - name: C
          value: "3"
        - name: B
        - name: A
          value: "1"
        image: nginx:2
        name: web
        ports:
        - containerPort: 80
        - containerPort: 443
          name: x
          protocol: UDP
      - image: side
        name: side
"#,
    );
}

#[test]
fn directives_delete_and_replace() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      selector:
        $patch: replace
        matchLabels: {only: this}
      template:
        spec:
          containers:
          - name: side
            $patch: delete
          - name: web
            env:
            - $patch: replace
            - {name: Z, value: z}
"#,
            WEB_AND_SIDE,
        ),
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels:
      only: this
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - args:
        - one
        - two
        env:
        - name: Z
          value: z
        image: nginx:1.0
        name: web
        ports:
        - containerPort: 80
        - containerPort: 443
          protocol: UDP
"#,
    );
}

#[test]
fn null_removes_and_fields_left_empty_vanish() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec: {replicas: null, paused: false}
=== a.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
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
      volumes:
      - name: v
        emptyDir:
      nodeSelector: ~
      hostname:
"#,
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  paused: false
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
      nodeSelector: null
      volumes:
      - name: v
"#,
    );
}

#[test]
fn a_whole_object_is_deleted() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    $patch: delete
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: a
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
"#,
    );
}

#[test]
fn lists_of_custom_kinds_are_replaced() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: example.com/v1
    kind: Thing
    metadata: {name: t}
    spec: {containers: [{name: b}]}
=== a.yaml
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {containers: [{name: a}]}
"#,
        r#"
apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
spec:
  containers:
  - name: b
"#,
    );
}

#[test]
fn duplicates_and_finalizers_in_merged_lists() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      finalizers: [b, c]
=== a.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  finalizers: [a, b]
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
        env: [{name: A, value: "1"}, {name: A, value: "2"}, {value: lonely}]
"#,
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  finalizers:
  - b
  - c
  - a
  name: web
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
      - env:
        - value: lonely
        image: nginx:1.0
        name: web
"#,
    );
}

/// kustomize notes in annotations what a resource was called, and so a patch finds some.
#[test]
fn a_json_patch_adds_to_annotations_that_are_not_there() {
    check(
        r"
=== kustomization.yaml
resources: [a.yaml, b.yaml]
patches:
- target: {kind: X}
  patch: |-
    - {op: add, path: /metadata/annotations/x.y~1z, value: v}
- target: {kind: Z}
  patch: |-
    - {op: add, path: /spec, value: {a: 1}}
=== a.yaml
kind: X
metadata: {name: a}
=== b.yaml
kind: Z
metadata: {name: b}
",
        r"
kind: X
metadata:
  annotations:
    x.y/z: v
  name: a
---
kind: Z
metadata:
  name: b
spec:
  a: 1
",
    );
}

/// What a patch sets stands in the quotes of what was there: kyaml keeps the style of a field.
#[test]
fn a_value_that_replaces_a_quoted_one_is_a_string() {
    check(
        r#"
=== kustomization.yaml
resources: [r.yaml]
patches: [{path: p.yaml}]
=== r.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: "1", b: 'false', c: plain, d: "x", e: 7}
=== p.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: 0777, b: true, c: 1.10, d: 2020-01-01, e: "8"}
"#,
        r#"apiVersion: v1
data:
  a: "0777"
  b: "true"
  c: 1.1
  d: "2020-01-01"
  e: "8"
kind: ConfigMap
metadata:
  name: c
"#,
    );
}

/// What was generated is in quotes only where it would be no string without them.
#[test]
fn a_generated_value_is_written_over_as_kyaml_does() {
    check(
        r#"
=== kustomization.yaml
configMapGenerator: [{name: c, literals: [a=1, b=x], options: {immutable: true}}]
patches: [{path: p.yaml}]
=== p.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: 5, b: 7}
"#,
        r#"apiVersion: v1
data:
  a: "5"
  b: 7
immutable: true
kind: ConfigMap
metadata:
  name: c-t246bct8d9
"#,
    );
}

/// Quotes that were not there before do not come with a patch, so that the next patch may make a number of it; but what a
/// patch passes by gets those that it needs.
#[test]
fn a_string_without_quotes_is_written_over_by_a_number() {
    check(
        r#"
=== kustomization.yaml
resources: [b]
patches:
- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "6", c: "6"}, more: {b: "6"}}'
- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {c: 7, d: 7}}'
- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: 7, e: 7}, more: {b: 7}}'
- target: {kind: Namespace}
  patch: '{apiVersion: v1, kind: Namespace, metadata: {name: any}, x: y}'
=== b/kustomization.yaml
resources: [r.yaml]
namespace: "5"
=== b/r.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: 5, c: 5, d: !!str 5, e: !!str 5}
more: {b: word}
---
apiVersion: v1
kind: Namespace
metadata: {name: n}
"#,
        r#"apiVersion: v1
kind: Namespace
metadata:
  name: 5
x: "y"
---
apiVersion: v1
data:
  a: "7"
  c: 7
  d: 7
  e: 7
kind: ConfigMap
metadata:
  name: c
  namespace: "5"
more:
  b: "7"
"#,
    );
}
