//! Resources, bases and lists.

use crate::{check, check_at};

#[test]
fn bases_and_files_come_in_order_without_sorting() {
    check(
        r#"
=== kustomization.yaml
resources: [b, a.yaml]
sortOptions: {order: fifo}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
=== b/kustomization.yaml
resources: [z.yaml]
=== b/z.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: z
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: z
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
"#,
    );
}

#[test]
fn lists_are_taken_apart() {
    check(
        r#"
=== kustomization.yaml
resources: [l.yaml]
=== l.yaml
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
"#,
        r#"
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
    );
}

#[test]
fn lists_among_documents_go_to_the_end() {
    check(
        r#"
=== kustomization.yaml
resources: [l.yaml]
sortOptions: {order: fifo}
=== l.yaml
apiVersion: v1
kind: ConfigMapList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: z
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: z
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
"#,
    );
}

#[test]
fn a_diamond_of_overlays_keeps_both_copies() {
    check_at(
        "top",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
=== l/kustomization.yaml
resources: [../base]
namePrefix: l-
=== r/kustomization.yaml
resources: [../base]
namePrefix: r-
=== top/kustomization.yaml
resources: [../l, ../r]
namePrefix: t-
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: t-l-a
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: t-r-a
"#,
    );
}

#[test]
fn objects_for_the_build_alone_are_not_printed() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {config.kubernetes.io/local-config: "true"}
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
fn windows_line_ends_and_comments_after_separators_are_taken() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
# first
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
--- # second
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
"#,
        r#"
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
    );
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: &d
  one: &x "1"
  two: *x
more:
  <<: *d
  two: own
"#,
        r#"
apiVersion: v1
data:
  one: "1"
  two: "1"
kind: ConfigMap
metadata:
  name: a
more:
  one: "1"
  two: own
"#,
    );
}
