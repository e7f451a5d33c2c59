//! Transformers and generators that are objects.

use crate::check;

#[test]
fn built_in_plugins_run() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
transformers:
- |-
  apiVersion: builtin
  kind: PrefixSuffixTransformer
  metadata: {name: x}
  prefix: p-
  suffix: -s
  fieldSpecs: [{path: metadata/name}]
- t.yaml
generators:
- g.yaml
=== t.yaml
apiVersion: builtin
kind: NamespaceTransformer
metadata: {name: n, namespace: ns}
unsetOnly: true
setRoleBindingSubjects: allServiceAccounts
---
apiVersion: builtin
kind: LabelTransformer
metadata: {name: l}
labels: {a: b}
fieldSpecs: [{path: metadata/labels, create: true}]
---
apiVersion: builtin
kind: ValueAddTransformer
metadata: {name: v}
value: added
targets:
- fieldPath: metadata/annotations/x
- selector: {kind: ConfigMap}
  fieldPath: data/path
  filePathPosition: 2
=== g.yaml
apiVersion: builtin
kind: ConfigMapGenerator
metadata: {name: gen}
literals: [k=v]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {path: /a/b}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: own}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: sa}, {kind: User, name: u}]
"#,
        r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-rb-s
  namespace: own
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: r
subjects:
- kind: ServiceAccount
  name: sa
  namespace: ns
- kind: User
  name: u
---
apiVersion: v1
data:
  path: /a/added/b
kind: ConfigMap
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-a-s
  namespace: ns
---
apiVersion: v1
data:
  k: v
  path: added
kind: ConfigMap
metadata:
  annotations:
    x: added
  labels:
    a: b
  name: p-gen-s-9499tk98h8
  namespace: ns
"#,
    );
}

/// A field that is made has no type.
#[test]
fn an_added_value_means_what_it_looks_like_where_the_field_is_made() {
    check(
        r#"
=== kustomization.yaml
resources: [r.yaml]
transformers:
- |-
  apiVersion: builtin
  kind: ValueAddTransformer
  metadata: {name: v}
  value: "true"
  targets:
  - fieldPath: spec/made/deep
  - fieldPath: spec/quoted
  - fieldPath: spec/plain
=== r.yaml
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
spec: {quoted: "x", plain: x}
"#,
        r#"apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
spec:
  made:
    deep: true
  plain: true
  quoted: "true"
"#,
    );
}

/// What a `ValueAddTransformer` with these fields makes of an object.
fn value_added(fields: &str) -> String {
    let text = r#"
=== kustomization.yaml
resources: [a.yaml]
transformers:
- "{apiVersion: builtin, kind: ValueAddTransformer, metadata: {name: t}, FIELDS}"
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
spec:
  list: [{name: a}, {name: b}]
  none: null
  text: "t"
"#;
    let got = crate::built(&text.replace("FIELDS", fields), "");
    let (_, spec) = got.split_once("spec:\n").expect("there is a spec");
    spec.to_owned()
}

#[test]
fn a_value_is_added_to_elements_of_lists() {
    for (path, want) in [
        ("list/0/x", "  list:\n  - name: a\n    x: v\n  - name: b\n"),
        ("list/-/x", "  list:\n  - name: a\n  - name: b\n    x: v\n"),
        ("list/[name=b]/x", "  list:\n  - name: a\n  - name: b\n    x: v\n"),
        (
            "list/[name=c]/x",
            "  list:\n  - name: a\n  - name: b\n  - name: c\n    x: v\n",
        ),
        // An element that is not there is not made by its number, and nothing is made in null.
        ("list/7/x", "  list:\n  - name: a\n  - name: b\n"),
        ("none/x", "  list:\n  - name: a\n  - name: b\n"),
    ] {
        let got = value_added(&format!("value: v, targets: [{{fieldPath: 'spec/{path}'}}]"));
        assert_eq!(got, format!("{want}  none: null\n  text: t\n"), "{path}");
    }
    let got = value_added("value: v, targets: [{fieldPath: 'spec/new/[a=b]/c'}]");
    assert!(got.contains("  new:\n  - a: b\n    c: v\n"), "{got}");
    let got = value_added("value: v, targets: [{fieldPath: spec//new}]");
    assert!(got.contains("  new: v\n"), "{got}");
}

#[test]
fn numbers_and_booleans_are_texts_for_plugins() {
    for (value, want) in [
        ("5", "\"5\""),
        ("1.50", "\"1.5\""),
        ("true", "\"true\""),
        ("0777", "\"511\""),
        ("99999999999999999999", "\"1e+20\""),
    ] {
        let got = value_added(&format!("value: {value}, targets: [{{fieldPath: spec/text}}]"));
        assert!(got.contains(&format!("  text: {want}\n")), "{got}");
    }
}

#[test]
fn numbers_are_no_names_of_what_plugins_select() {
    let told = crate::errors(
        r#"
=== kustomization.yaml
resources: [a.yaml]
transformers:
- "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: t}, target: {kind: Odd, name: 5}, patch: '[]'}"
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: "5"}
"#,
    );
    assert!(
        told.contains("cannot unmarshal number into Go struct field Selector.target.name of type string"),
        "{told}"
    );
}

#[test]
fn without_a_value_the_name_of_the_folder_is_added() {
    for value in ["", "value: '', ", "value: ' ', ", "value: null, "] {
        let text = format!(
            r#"
=== over/kustomization.yaml
resources: [a.yaml]
commonAnnotations: {{b: c}}
transformers:
- "{{apiVersion: builtin, kind: ValueAddTransformer, metadata: {{name: t}}, {value}targets: [{{fieldPath: metadata/annotations/b}}]}}"
=== over/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d}}
spec: {{template: {{metadata: {{}}}}}}
"#
        );
        // What is one and the same in two places is so after that, too.
        crate::check_at(
            "over",
            &text,
            r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    b: over
  name: d
spec:
  template:
    metadata:
      annotations:
        b: over
"#,
        );
    }
}

#[test]
fn a_value_in_a_folded_text_is_folded() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
transformers:
- "{apiVersion: builtin, kind: ValueAddTransformer, metadata: {name: t}, value: q, targets: [{fieldPath: spec/x, filePathPosition: 2}]}"
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
spec:
  x: >
    one
      more
    two
"#,
        "apiVersion: example.com/v1\nkind: Odd\nmetadata:\n  name: o\nspec:\n  x: |-\n    one\n\n      more\n    two\n    /q\n",
    );
}

#[test]
fn an_empty_text_that_was_made_survives_a_patch() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- sourceValue: ""
  targets: [{select: {kind: Odd}, fieldPaths: [spec.made], options: {create: true}}]
transformers:
- "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}, patch: '{apiVersion: example.com/v1, kind: Odd, metadata: {name: o}, spec: {x: 1}}'}"
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
spec:
  m: null
"#,
        "apiVersion: example.com/v1\nkind: Odd\nmetadata:\n  name: o\nspec:\n  m: null\n  made: null\n  x: 1\n",
    );
}

#[test]
fn annotations_are_texts_once_changes_are_told_in_them() {
    let got = crate::built(
        r#"
=== kustomization.yaml
resources: [a.yaml]
buildMetadata: [transformerAnnotations]
transformers:
- "{apiVersion: builtin, kind: ValueAddTransformer, metadata: {name: v}, value: '0777', targets: [{fieldPath: metadata/annotations/a}]}"
- "{apiVersion: builtin, kind: PatchTransformer, metadata: {name: p}, target: {kind: Odd}, patch: '[{\"op\": \"add\", \"path\": \"/spec\", \"value\": 1}]'}"
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
"#,
        "",
    );
    assert!(got.contains("    a: \"0777\"\n"), "{got}");
}

/// What is written over a scalar that had a tag gets no quotes when a patch sets it anew, even if another patch has written
/// over it before; all else that looks like a number does.
#[test]
fn a_value_over_a_tag_stays_without_quotes() {
    for (written, patch, wanted) in [
        ("!!str 5", "y: 1", "1"),
        ("!!str 5", "x: \"- q\"", "1"),
        ("!!str 5", "x: 7", "1"),
        ("!!int 5", "y: 1", "1"),
        ("text", "y: 1", "\"1\""),
        ("text", "x: !!str 5", "\"1\""),
        ("'5'", "y: 1", "\"1\""),
    ] {
        let other = if patch.starts_with('y') {
            "  \"y\": 1\n"
        } else {
            ""
        };
        check(
            &format!(
                r#"
=== kustomization.yaml
resources: [base]
patches:
- patch: '{{kind: X, metadata: {{name: a}}, spec: {{z: 1}}}}'
=== base/kustomization.yaml
resources: [a.yaml]
patches:
- patch: '{{kind: X, metadata: {{name: a}}, spec: {{{patch}}}}}'
transformers:
- "{{apiVersion: builtin, kind: ValueAddTransformer, value: 1.0, targets: [{{fieldPath: spec/x}}], metadata: {{name: t}}}}"
=== base/a.yaml
kind: X
metadata: {{name: a}}
spec:
  x: {written}
"#
            ),
            &format!("kind: X\nmetadata:\n  name: a\nspec:\n  x: {wanted}\n{other}  z: 1\n"),
        );
    }
}
