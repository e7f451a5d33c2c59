//! Replicas.

use crate::{WEB, check, with_a};

#[test]
fn replicas_are_set_by_name() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
replicas: [{name: web, count: 3}]
"#,
            WEB,
        ),
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: p-web
spec:
  replicas: 3
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
"#,
    );
}

#[test]
fn replicas_in_quotes_stay_in_quotes() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replicas:
- {name: a, count: 5}
=== a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {replicas: "3"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a}
spec:
  replicas: >-
    3
"#,
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
spec:
  replicas: "5"
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: a
spec:
  replicas: "5"
"#,
    );
}
