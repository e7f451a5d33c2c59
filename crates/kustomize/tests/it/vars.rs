//! Vars.

use crate::check;

#[test]
fn vars_are_put_into_texts_with_their_types() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
vars:
- {name: NAME, objref: {apiVersion: v1, kind: Service, name: s}}
- {name: PORT, objref: {apiVersion: v1, kind: Service, name: s}, fieldref: {fieldPath: "spec.ports[0].port"}}
=== a.yaml
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 8080, targetPort: $(PORT)}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {n: "$(NAME) $(OTHER)"}}
spec: {containers: [{name: c, args: ["--host=$(NAME):$(PORT)", "$$(NAME)", "$(PORT)"]}]}
"#,
        r#"
apiVersion: v1
kind: Service
metadata:
  name: p-s
spec:
  ports:
  - port: 8080
    targetPort: 8080
---
apiVersion: v1
kind: Pod
metadata:
  annotations:
    "n": p-s $(OTHER)
  name: p-p
spec:
  containers:
  - args:
    - --host=p-s:8080
    - $(NAME)
    - 8080
    name: c
"#,
    );
}
