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

/// A base whose labels and annotations stand on the Deployment, its selector and its template.
const LABELLED: &str = "\
=== base/kustomization.yaml
resources: [a.yaml]
labels: [{pairs: {l: one}, includeSelectors: true}]
commonAnnotations: {z: one}
=== base/a.yaml
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: {containers: []}}}}
=== over/kustomization.yaml
resources: [../base]
";

/// The labels of the Deployment, its selector and its template, and the annotations of the first and the last.
fn of_all(more: &str) -> String {
    let text = crate::built(&format!("{LABELLED}{more}"), "over");
    let values = text.lines().map(str::trim);
    let values = values.filter(|line| line.starts_with("l: ") || line.starts_with("z: "));
    values.collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_written_over_one_of_the_places_of_a_label_is_written_over_all() {
    let all = "z: two, l: two, l: two, z: two, l: two";
    assert_eq!(
        of_all("labels: [{pairs: {l: two}}]\ncommonAnnotations: {z: two}\n"),
        all
    );
    let patch = "\
patches:
- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {l: two}, annotations: {z: two}}}'
";
    assert_eq!(of_all(patch), all);
    let replacement = "\
replacements:
- sourceValue: two
  targets: [{select: {kind: Deployment}, fieldPaths: [metadata.labels.l, spec.template.metadata.annotations.z]}]
";
    assert_eq!(of_all(replacement), all);
}

#[test]
fn the_last_of_several_writes_in_a_patch_wins_and_null_removes_one_place() {
    let patch = "\
patches:
- patch: |
    {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {l: 5}},
     spec: {template: {metadata: {labels: {l: 6}}}, selector: {matchLabels: {l: null}}}}
";
    assert_eq!(of_all(patch), "z: one, l: 6, z: one, l: 6");
}

#[test]
fn a_json_patch_makes_values_of_their_own_of_labels() {
    let patches = "\
patches:
- target: {kind: Deployment}
  patch: '[{op: replace, path: /metadata/labels/l, value: two}]'
- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {l: three}}}'
";
    let patches = patches.replace(
        "[{op: replace, path: /metadata/labels/l, value: two}]",
        r#"[{"op":"replace","path":"/metadata/labels/l","value":"two"}]"#,
    );
    assert_eq!(of_all(&patches), "z: one, l: three, l: one, z: one, l: one");
}

#[test]
fn telling_transformers_makes_the_annotations_of_an_object_its_own() {
    let patch = "\
buildMetadata: [transformerAnnotations]
patches:
- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {l: two}, annotations: {z: two}}}'
";
    assert_eq!(of_all(patch), "z: two, l: two, l: two, z: one, l: two");
}

#[test]
fn a_label_that_is_in_several_places_is_expanded_in_each() {
    let vars = "\
vars: [{name: V, objref: {apiVersion: apps/v1, kind: Deployment, name: d}}]
configurations: [c.yaml]
labels: [{pairs: {v: $$(V)}, includeSelectors: true}]
=== over/c.yaml
varReference: [{path: metadata/labels, kind: Deployment}, {path: spec/template/metadata/labels}]
";
    let text = crate::built(&format!("{LABELLED}{vars}"), "over");
    assert_eq!(text.matches("v: d\n").count(), 3, "{text}");
}

#[test]
fn a_label_that_needs_quotes_has_them_where_the_last_was_made() {
    // The template's label has no quotes, and so none of them has, until the last one is made. The patch's number shows it.
    crate::check_at(
        "over",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
labels: [{pairs: {app: "yes"}, includeTemplates: true, fields: [{path: spec/template/metadata/labels}, {path: spec/mine, create: true}]}]
=== base/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {metadata: {labels: {app: a}}}}
=== over/kustomization.yaml
resources: [../base]
patches:
- patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {app: 5}}}"
"#,
        r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app: "5"
  name: d
spec:
  mine:
    app: "5"
  template:
    metadata:
      labels:
        app: "yes"
"#,
    );
}

/// One label stands in several places, and a patch writes over two of them. Between these kyaml comes by another, where what was
/// written first gets quotes if it needs some; these stay when it is written over. As kustomize 5.8.1 prints them.
#[test]
fn a_label_that_a_patch_writes_twice_keeps_the_quotes_that_it_gets_in_between() {
    for (label, first, second, printed) in [
        ("v1.2", "null", "true", "\"true\""),
        ("v1.2", "5", "5", "\"5\""),
        ("v1.2", "'yes'", "true", "\"true\""),
        ("v1.2", "x", "true", "true"),
        ("v1.2", "''", "5", "5"),
        ("v1.2", "true", "x", "x"),
        ("'5'", "x", "true", "\"true\""),
        ("'5'", "''", "5", "\"5\""),
    ] {
        let text = crate::built(
            &format!(
                "
=== kustomization.yaml
resources: [base]
patchesStrategicMerge:
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: d, labels: {{app: {first}}}}}
  spec: {{template: {{metadata: {{labels: {{app: {second}}}}}}}}}
=== base/kustomization.yaml
resources: [a.yaml]
labels: [{{pairs: {{app: {label}}}, includeSelectors: true}}]
=== base/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d}}
spec: {{template: {{metadata: {{}}, spec: {{}}}}}}
"
            ),
            "",
        );
        let line = format!("app: {printed}\n");
        assert_eq!(
            text.matches(&line).count(),
            3,
            "{label} {first} {second}:\n{text}"
        );
    }
}
