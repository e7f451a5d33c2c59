//! Namespaces.

use crate::check;

#[test]
fn everything_that_can_be_is_put_into_it() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namespace: new
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
kind: Namespace
metadata: {name: old}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects:
- {kind: ServiceAccount, name: default, namespace: old}
- {kind: ServiceAccount, name: other, namespace: old}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- {name: a.b.c, clientConfig: {service: {name: s, namespace: old}}}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: old}
"#,
        r#"
apiVersion: v1
kind: Namespace
metadata:
  name: new
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: b
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: admin
subjects:
- kind: ServiceAccount
  name: default
  namespace: new
- kind: ServiceAccount
  name: other
  namespace: old
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: new
---
apiVersion: v1
kind: Service
metadata:
  name: s
  namespace: new
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: w
webhooks:
- clientConfig:
    service:
      name: s
      namespace: new
  name: a.b.c
"#,
    );
}
