//! Replicas.

use crate::check;

#[test]
fn replicas_are_set_by_name() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
replicas: [{name: web, count: 3}]
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
"#,
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
