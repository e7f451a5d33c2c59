//! What cannot be printed is found before anything is: all of it, with file and line.

use super::check_all;
use crate::errors;

#[test]
fn all_fields_that_cannot_be_printed_are_told_with_their_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [good.yaml, a.yaml]
patches:
- target: {kind: X}
  patch: '- {op: remove, path: /none}'
=== good.yaml
kind: W
metadata: {name: good}
=== a.yaml
kind: V
metadata: {name: a}
spec:
  number: !!int word
  list:
  - 1
  - inside: !!bool word
---
kind: V
metadata: {name: b}
limit: .inf
---
kind: X
metadata: {name: x}
number: !!int word
",
        &[
            "kustomization.yaml:3: number: cannot decode !!str as a !!int (in X.[noVer].[noGrp]/x.[noNs])",
            "a.yaml:4: V.[noVer].[noGrp]/a.[noNs]: spec.number: cannot decode !!str as a !!int",
            "a.yaml:7: V.[noVer].[noGrp]/a.[noNs]: spec.list[1].inside: cannot decode !!str as a !!bool",
            "a.yaml:11: V.[noVer].[noGrp]/b.[noNs]: limit: json: unsupported value: +Inf",
        ],
    );
}

#[test]
fn what_a_patch_makes_unprintable_is_told_where_the_object_stands() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: |-
    kind: X
    metadata: {name: b}
    spec: {number: !!int word}
=== a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
spec: {number: 1}
",
        &["a.yaml:6: X.[noVer].[noGrp]/b.[noNs]: spec.number: cannot decode !!str as a !!int"],
    );
}

/// kustomize writes an object for its hash, too.
#[test]
fn what_is_for_the_build_alone_is_printed_nowhere_unless_it_has_a_hash() {
    let tree = |hash: &str| {
        format!(
            "
=== kustomization.yaml
resources: [a.yaml, b.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations:
    config.kubernetes.io/local-config: 'true'
{hash}data: {{number: !!int word}}
=== b.yaml
kind: X
metadata: {{name: b}}
"
        )
    };
    assert_eq!(crate::built(&tree(""), ""), "kind: X\nmetadata:\n  name: b\n");
    let told = errors(&tree(
        "    internal.config.kubernetes.io/needsHashSuffix: enabled\n",
    ));
    assert!(
        told.starts_with("a.yaml:8: ConfigMap.v1.[noGrp]/a.[noNs]: data.number: cannot decode"),
        "{told}"
    );
}
