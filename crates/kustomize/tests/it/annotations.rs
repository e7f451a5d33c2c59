//! `commonAnnotations` and `buildMetadata`.

use crate::{WEB, check, check_at, with_a};

#[test]
fn annotations_go_to_objects_and_pod_templates() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
commonAnnotations: {team: "7"}
"#,
            WEB,
        ),
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    team: "7"
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      annotations:
        team: "7"
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
fn all_annotations_are_printed_as_strings() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {v: 1.10, n: null, e: , b: true, port: 8080, none: {}}
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    b: "true"
    e: ""
    "n": "null"
    none: ""
    port: "8080"
    v: "1.10"
  name: a
"#,
    );
}

#[test]
fn annotations_that_are_empty_vanish() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {}
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
"#,
    );
}

#[test]
fn origins_and_changes_are_told_when_asked_for() {
    check_at(
        "over",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
configMapGenerator:
- name: g
  literals: [a=b]
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
=== over/kustomization.yaml
resources: [../base]
namePrefix: p-
buildMetadata: [originAnnotations, transformerAnnotations]
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    alpha.config.kubernetes.io/transformations: |
      - configuredIn: kustomization.yaml
        configuredBy:
          apiVersion: builtin
          kind: PrefixTransformer
    config.kubernetes.io/origin: |
      path: ../base/a.yaml
  name: p-a
---
apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  annotations:
    alpha.config.kubernetes.io/transformations: |
      - configuredIn: kustomization.yaml
        configuredBy:
          apiVersion: builtin
          kind: PrefixTransformer
    config.kubernetes.io/origin: |
      configuredIn: ../base/kustomization.yaml
      configuredBy:
        apiVersion: builtin
        kind: ConfigMapGenerator
  name: p-g-4h2mbtbbt6
"#,
    );
}

#[test]
fn the_managed_by_label_is_added_when_asked_for() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
buildMetadata: [managedByLabel]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    app.kubernetes.io/managed-by: kustomize-v5.8.1
  name: a
"#,
    );
}

#[test]
fn what_kustomize_remembers_in_annotations_is_taken_from_the_input() {
    let text = "\
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {c: d}}'
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: new
  annotations:
    internal.config.kubernetes.io/previousNames: old
    internal.config.kubernetes.io/previousNamespaces: default
    internal.config.kubernetes.io/previousKinds: ConfigMap
    internal.config.kubernetes.io/needsHashSuffix: enabled
data: {a: b}
";
    let want = "\
apiVersion: v1
data:
  a: b
  c: d
kind: ConfigMap
metadata:
  name: new-fh478f99mk
";
    check(text, want);
}

#[test]
fn what_is_written_over_an_annotation_has_quotes_if_that_looked_like_something_else() {
    // That shows in the template, which has the very same annotation. Times, several lines and nothing need no quotes, as far
    // as kustomize looks.
    for (annotation, want) in [
        ("x", "true"),
        ("", "true"),
        ("2020-01-01", "true"),
        (r"a\nb", "true"),
        ("yes", "\"true\""),
        ("1.5", "\"true\""),
        ("- q", "\"true\""),
        ("a: b", "\"true\""),
        ("#c", "\"true\""),
        ("{x", "true"),
    ] {
        let text = format!(
            r#"
=== base/kustomization.yaml
resources: [a.yaml]
commonAnnotations: {{a: "{annotation}"}}
=== base/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d}}
=== over/kustomization.yaml
resources: [../base]
patches:
- patch: "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d, annotations: {{a: true}}}}}}"
"#
        );
        let got = crate::built(&text, "over");
        assert!(
            got.contains(&format!("        a: {want}\n")),
            "{annotation}: {got}"
        );
    }
}
