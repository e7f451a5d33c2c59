//! Mistakes in bases and components: none hides another, and each is told once.

use std::fmt::Write as _;

use super::check_all;
use crate::errors;

#[test]
fn a_mistake_in_a_base_hides_none_in_those_below() {
    check_all(
        r"
=== kustomization.yaml
namespace: [x]
resources: [middle, ../outside.yaml, ../other.yaml]
=== middle/kustomization.yaml
unknown: field
resources:
- deep
- ../up.yaml
- ../over.yaml
components: [part]
=== middle/deep/kustomization.yaml
resources: [none.yaml]
patches:
- path: none.yaml
=== middle/part/kustomization.yaml
kind: Component
apiVersion: v1
resources: [gone.yaml]
=== up.yaml
=== over.yaml
",
        &[
            "kustomization.yaml:1: invalid Kustomization: json: cannot unmarshal array",
            "middle/kustomization.yaml:1: invalid Kustomization: json: unknown field \"unknown\" (through kustomization.yaml, \
             middle/kustomization.yaml)",
            "middle/deep/kustomization.yaml:1: accumulating resources from 'none.yaml'",
            "middle/deep/kustomization.yaml:3: failed to get the patch file from path(none.yaml)",
            "middle/kustomization.yaml:4: accumulating resources from '../up.yaml': security; file 'up.yaml' is not in or below",
            "middle/kustomization.yaml:5: accumulating resources from '../over.yaml': security; file 'over.yaml' is not in or",
            "middle/part/kustomization.yaml:2: invalid Kustomization: apiVersion for Component should be",
            "middle/part/kustomization.yaml:3: accumulating resources from 'gone.yaml'",
            "kustomization.yaml:2: accumulating resources from '../outside.yaml'",
            "kustomization.yaml:2: accumulating resources from '../other.yaml'",
        ],
    );
}

#[test]
fn what_follows_from_a_mistake_is_not_told() {
    check_all(
        r"
=== kustomization.yaml
configMapGenerator:
- name: 5
- name: b
  files: {a: b}
patches:
- target: {kind: X}
  patch: [a]
replicas:
- name: x
  count: many
",
        &[
            "kustomization.yaml:2: invalid Kustomization: json: cannot unmarshal number",
            "kustomization.yaml:4: invalid Kustomization: json: cannot unmarshal object",
            "kustomization.yaml:7: invalid Kustomization: json: cannot unmarshal array",
            "kustomization.yaml:10: invalid Kustomization: json: cannot unmarshal string",
        ],
    );
}

/// Ten levels of two kustomizations, each of which names both of the next one; those of the last level are left out.
fn levels() -> String {
    let mut tree = String::new();
    for level in 0..10 {
        for side in ["l", "r"] {
            let _ = write!(
                tree,
                "=== {level}{side}/kustomization.yaml\nresources: [../{0}l, ../{0}r]\n",
                level + 1
            );
        }
    }
    tree.push_str("=== kustomization.yaml\nresources: [0l, 0r]\n");
    tree
}

#[test]
fn a_mistake_that_many_ways_lead_to_is_told_once() {
    let mut tree = levels();
    tree.push_str(
        "=== 10l/kustomization.yaml\nresources: [none.yaml]\n=== 10r/kustomization.yaml\nunknown: 1\n",
    );
    let told = errors(&tree);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(lines[0].starts_with("10l/kustomization.yaml:1: accumulating resources from 'none.yaml'"));
    assert!(lines[1].starts_with("10r/kustomization.yaml:1: invalid Kustomization: json: unknown field"));
    for line in lines {
        assert!(
            line.contains("(through kustomization.yaml, 0l/kustomization.yaml, 1l/kustomization.yaml, ")
                && line.ends_with(", and in 1023 other ways)"),
            "{line}"
        );
    }
}

#[test]
fn so_is_one_about_objects_that_many_ways_lead_to() {
    let mut tree = levels();
    tree.push_str("=== 10l/kustomization.yaml\nresources: [a.yaml]\nnamespace: ns\n=== 10l/a.yaml\n");
    tree.push_str("kind: X\nmetadata: {name: a}\n---\nkind: X\nmetadata: {name: b}\n");
    tree.push_str("=== 10r/kustomization.yaml\nresources: [../deep]\nnamespace: ns\n");
    tree.push_str("=== deep/kustomization.yaml\nresources: [a.yaml]\n=== deep/a.yaml\n");
    tree.push_str("kind: Z\nmetadata: {name: a, namespace: x}\n---\nkind: Z\nmetadata: {name: a}\n");
    let told = errors(&tree);
    let lines: Vec<&str> = told.lines().collect();
    let wanted = [
        "10r/kustomization.yaml:2: namespace transformation produces ID conflict: Z.[noVer].[noGrp]/a.ns; in deep/a.yaml:1 (through",
        "10l/a.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/a.ns; also in 10l/a.yaml:1 (through",
        "10l/a.yaml:4: may not add resource with an already registered id: X.[noVer].[noGrp]/b.ns; also in 10l/a.yaml:4 (through",
    ];
    assert_eq!(lines.len(), wanted.len(), "{told}");
    for wanted in wanted {
        assert!(
            lines.iter().any(|line| line.starts_with(wanted)),
            "wanted {wanted} in:\n{told}"
        );
    }
    assert!(lines.iter().all(|line| line.ends_with(" other ways)")), "{told}");
}

#[test]
fn fields_of_old_and_in_another_case_have_lines_too() {
    check_all(
        r"
=== kustomization.yaml
Resources: [none.yaml]
bases:
- nowhere
imageTags:
- {name: a, newTag: b}
- {name: '('}
",
        &[
            "kustomization.yaml:1: accumulating resources from 'none.yaml'",
            "kustomization.yaml:3: accumulating resources from 'nowhere'",
            "kustomization.yaml:6: ",
        ],
    );
}

#[test]
fn references_that_cannot_be_fixed_are_told_with_the_file_they_are_in() {
    check_all(
        r"
=== kustomization.yaml
resources: [base]
namePrefix: p-
=== base/kustomization.yaml
resources: [a.yaml]
=== base/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  volumes:
  - configMap:
      name:
      - [b]
",
        &[
            "base/a.yaml:5: updating name reference in 'spec/volumes/configMap/name' field of 'Pod.v1.[noGrp]/p-p.[noNs]': ",
        ],
    );
}

#[test]
fn numbers_that_cannot_be_written_are_told_with_their_file_and_line() {
    check_all(
        "=== kustomization.yaml\nresources: [base]\n=== base/kustomization.yaml\nresources: [a.yaml]\n=== base/a.yaml\nkind: X\nmetadata: {name: a}\nx: .inf\n---\nkind: X\nmetadata: {name: b}\nx: .nan\n",
        &[
            "base/a.yaml:3: X.[noVer].[noGrp]/a.[noNs]: x: json: unsupported value: +Inf (through kustomization.yaml, \
             base/kustomization.yaml)",
            "base/a.yaml:7: X.[noVer].[noGrp]/b.[noNs]: x: json: unsupported value: NaN (through kustomization.yaml, \
             base/kustomization.yaml)",
        ],
    );
}
