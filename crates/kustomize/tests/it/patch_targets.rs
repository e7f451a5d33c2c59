//! What patches are for, and how it is found.

use crate::{check, check_at};

#[test]
fn targets_are_chosen_by_expressions_and_labels() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    - op: add
      path: /data
      value: {x: "1"}
  target: {kind: Config.*, name: "a|b", labelSelector: "l in (x)"}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {l: x}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ab
  labels: {l: x}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  labels: {l: y}
"#,
        r#"
apiVersion: v1
data:
  x: "1"
kind: ConfigMap
metadata:
  labels:
    l: x
  name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    l: x
  name: ab
---
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    l: "y"
  name: b
"#,
    );
}

/// As printed by kustomize 5.8.1.
#[test]
fn expressions_are_those_of_go() {
    let patch = |name: &str, field: &str| {
        format!(
            "- patch: '- {{op: add, path: /data, value: {{x: {field}}}}}'\n  target: {{kind: ConfigMap, name: '{name}'}}\n"
        )
    };
    let patches = patch(r"\Qa.b\E", "quoted") + &patch("[a-z&&[^x]]", "class") + &patch("(?i)AXB", "cases");
    let config_map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n");
    let named = ["a.b", "axb", "a", "a]"].map(config_map).join("---\n");
    let patched =
        |name: &str, value: &str| config_map(name).replacen("kind", &format!("data:\n  x: {value}\nkind"), 1);
    check(
        &format!("\n=== kustomization.yaml\nresources: [a.yaml]\npatches:\n{patches}=== a.yaml\n{named}"),
        &[
            config_map("a"),
            patched("a.b", "quoted"),
            patched("a]", "class"),
            patched("axb", "cases"),
        ]
        .join("---\n"),
    );
}

#[test]
fn a_merge_patch_with_a_target_needs_no_name() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: any}
    data: {p: q}
  target: {kind: ConfigMap}
=== a.yaml
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
        r#"
apiVersion: v1
data:
  p: q
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
data:
  p: q
kind: ConfigMap
metadata:
  name: b
"#,
    );
}

#[test]
fn names_and_kinds_change_when_that_is_allowed() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: v1
    kind: Secret
    metadata: {name: new}
  target: {kind: ConfigMap}
  options: {allowNameChange: true, allowKindChange: true}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
"#,
        r#"
apiVersion: v1
kind: Secret
metadata:
  name: new
"#,
    );
}

#[test]
fn the_three_old_forms_work() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patchesStrategicMerge:
- p.yaml
- |-
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
  data: {inline: x}
patchesJson6902:
- target: {version: v1, kind: ConfigMap, name: a}
  path: j.json
=== p.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {k: v}
=== j.json
[{"op":"replace","path":"/data/k","value":"w"},{"op":"add","path":"/data/n","value":1.50}]
=== a.yaml
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
        r#"
apiVersion: v1
data:
  k: w
  "n": 1.5
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
data:
  inline: x
kind: ConfigMap
metadata:
  name: b
"#,
    );
}

#[test]
fn patches_find_objects_by_the_names_they_had() {
    check_at(
        "over",
        r#"
=== base/kustomization.yaml
resources: [a.yaml]
namePrefix: p-
namespace: ns
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
=== over/kustomization.yaml
resources: [../base]
patches:
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: a
    data: {by: first}
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: p-a
      namespace: ns
    data: {by2: now}
"#,
        r#"
apiVersion: v1
data:
  by: first
  by2: now
kind: ConfigMap
metadata:
  name: p-a
  namespace: ns
"#,
    );
}

#[test]
fn a_patch_with_a_target_removes_no_label() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: any, labels: {l: null}, annotations: null}
  target: {kind: ConfigMap}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels: {l: x}
  annotations: {a: b}
"#,
        r#"
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    a: b
  labels:
    l: "null"
  name: a
"#,
    );
}
