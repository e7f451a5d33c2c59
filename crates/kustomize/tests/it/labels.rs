//! Labels.

use crate::{WEB, check, with_a};

#[test]
fn labels_stay_out_of_selectors_unless_asked() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
labels:
- pairs: {only: meta}
- pairs: {tpl: "yes"}
  includeTemplates: true
- pairs: {sel: x}
  includeSelectors: true
"#,
            WEB,
        ),
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    only: meta
    sel: x
    tpl: "yes"
  name: web
spec:
  selector:
    matchLabels:
      app: web
      sel: x
  template:
    metadata:
      labels:
        app: web
        sel: x
        tpl: "yes"
    spec:
      containers:
      - image: nginx:1.0
        name: web
"#,
    );
}

#[test]
fn common_labels_go_to_services_and_network_policies() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
commonLabels: {c: "1"}
=== a.yaml
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: n}
spec:
  podSelector: {matchLabels: {a: b}}
  ingress: [{from: [{podSelector: {matchLabels: {x: z}}}, {podSelector: {}}]}]
"#,
        r#"
apiVersion: v1
kind: Service
metadata:
  labels:
    c: "1"
  name: s
spec:
  ports:
  - port: 80
  selector:
    c: "1"
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  labels:
    c: "1"
  name: "n"
spec:
  ingress:
  - from:
    - podSelector:
        matchLabels:
          c: "1"
          x: z
    - podSelector: {}
  podSelector:
    matchLabels:
      a: b
      c: "1"
"#,
    );
}

#[test]
fn label_fields_that_are_null_become_maps() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
commonLabels: {c: d}
=== a.yaml
apiVersion: v1
kind: Service
metadata:
  name: s
  labels:
spec:
  selector: null
"#,
        r#"
apiVersion: v1
kind: Service
metadata:
  labels:
    c: d
  name: s
spec:
  selector:
    c: d
"#,
    );
}
