//! The order of the output.

use crate::{check, with_a};

/// Objects of many kinds, in no order.
const OBJECTS: &str = r#"---
apiVersion: v1
kind: Service
metadata: {name: s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: Namespace
metadata: {name: n}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: c}
"#;

#[test]
fn the_legacy_order_is_the_default() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
"#,
            OBJECTS,
        ),
        r#"
apiVersion: v1
kind: Namespace
metadata:
  name: "n"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: c
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
---
apiVersion: v1
kind: Service
metadata:
  name: s
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
---
apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: w
"#,
    );
}

#[test]
fn kinds_that_come_first_can_be_chosen() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
sortOptions:
  order: legacy
  legacySortOptions: {orderFirst: [Thing, Service], orderLast: [Namespace]}
"#,
            OBJECTS,
        ),
        r#"
apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
---
apiVersion: v1
kind: Service
metadata:
  name: s
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: w
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: c
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
---
apiVersion: v1
kind: Namespace
metadata:
  name: "n"
"#,
    );
}
