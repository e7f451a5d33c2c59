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
