//! What is told does not depend on what stands before what, and nothing is told that may only follow from what was lost.

use crate::errors;

/// Checks all that is told of a tree, whatever the order of the resources of its root: `RESOURCES` stands for them.
fn check_orders(resources: &[&str], tree: &str, wanted: &[&str]) {
    for turn in 0..resources.len() {
        let mut order = resources.to_vec();
        order.rotate_left(turn);
        check_order(&order, tree, wanted);
        order.reverse();
        check_order(&order, tree, wanted);
    }
}

fn check_order(order: &[&str], tree: &str, wanted: &[&str]) {
    let told = errors(&tree.replace("RESOURCES", &order.join(", ")));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), wanted.len(), "with {order:?}:\n{told}");
    for wanted in wanted {
        let is_told = lines.iter().any(|line| line.contains(wanted));
        assert!(is_told, "wanted {wanted:?} with {order:?}:\n{told}");
    }
}

/// A base whose objects should have got another name, and files with objects that are there twice.
const PREFIX_LOST: &str = r"
=== kustomization.yaml
resources: [RESOURCES]
=== bad/kustomization.yaml
namePrefix: [p-]
resources: [x.yaml]
=== bad/x.yaml
kind: X
metadata: {name: a}
=== dup.yaml
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: b}
=== one.yaml
kind: X
metadata: {name: a}
=== two.yaml
kind: X
metadata: {name: a}
";

#[test]
fn names_that_are_lost_in_a_base_explain_nothing_about_other_objects() {
    check_orders(
        &["bad", "dup.yaml"],
        PREFIX_LOST,
        &[
            "bad/kustomization.yaml:1: invalid Kustomization",
            "dup.yaml:4: may not add resource with an already registered id",
        ],
    );
}

#[test]
fn objects_that_may_have_another_name_are_not_told_to_be_there_twice() {
    check_orders(
        &["bad", "one.yaml"],
        PREFIX_LOST,
        &["bad/kustomization.yaml:1: invalid Kustomization"],
    );
    // The others are there twice whatever the base makes.
    check_orders(
        &["bad", "one.yaml", "two.yaml"],
        PREFIX_LOST,
        &[
            "bad/kustomization.yaml:1: invalid Kustomization",
            "may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in",
        ],
    );
}

#[test]
fn a_base_that_is_lost_explains_what_it_may_have_and_nothing_else() {
    check_orders(
        &["bad", "dup.yaml", "other"],
        r"
=== kustomization.yaml
resources: [RESOURCES]
patches:
- patch: '{kind: X, metadata: {name: may-be-in-bad}}'
- patch: '- {op: remove, path: /none}'
  target: {kind: W}
=== bad/kustomization.yaml
a: [
=== dup.yaml
kind: W
metadata: {name: y}
---
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: b}
=== other/kustomization.yaml
configMapGenerator: [{name: c}]
patches:
- patch: '{kind: X, metadata: {name: not-in-bad}}'
",
        &[
            "bad/kustomization.yaml:2: ",
            "dup.yaml:7: may not add resource with an already registered id",
            "other/kustomization.yaml:3: no resource matches strategic merge patch \"X.[noVer].[noGrp]/not-in-bad.[noNs]\"",
            "kustomization.yaml:4: error in remove for path: '/none'",
        ],
    );
}

#[test]
fn only_objects_that_may_have_another_name_explain_that_one_is_missing() {
    check_orders(
        &["bad", "y.yaml"],
        r"
=== kustomization.yaml
resources: [RESOURCES]
patches:
- patch: '{kind: X, metadata: {name: p-a}}'
- patch: '{kind: W, metadata: {name: p-y}}'
replacements:
- source: {kind: X, name: p-a}
  targets: [{select: {kind: W}, fieldPaths: [a]}]
- source: {kind: W, name: p-y}
  targets: [{select: {kind: W}, fieldPaths: [a]}]
=== bad/kustomization.yaml
namePrefix: [p-]
resources: [x.yaml]
=== bad/x.yaml
kind: X
metadata: {name: a}
=== y.yaml
kind: W
metadata: {name: y}
",
        &[
            "bad/kustomization.yaml:1: invalid Kustomization",
            "kustomization.yaml:4: no resource matches strategic merge patch \"W.[noVer].[noGrp]/p-y.[noNs]\"",
            "kustomization.yaml:8: nothing selected by W.",
        ],
    );
}

#[test]
fn what_comes_after_a_mistake_in_a_build_explains_none_that_comes_before() {
    // The objects are there twice before they get a prefix, and the patch runs before the transformer.
    for lost in [
        "namePrefix: [p-]",
        "namespace: [n]",
        "transformers: [gone.yaml]",
        "components: [gone]",
    ] {
        let tree = format!(
            "
=== kustomization.yaml
{lost}
resources: [RESOURCES]
configMapGenerator: [{{name: c, behavior: merge}}]
=== one.yaml
kind: X
metadata: {{name: a}}
=== two.yaml
kind: X
metadata: {{name: a}}
"
        );
        let wanted = [
            "kustomization.yaml:1: ",
            "may not add resource with an already registered id",
            "kustomization.yaml:3: merging from generator: ",
        ];
        check_orders(&["one.yaml", "two.yaml"], &tree, &wanted);
    }
    for lost in ["namePrefix: [p-]", "transformers: [gone.yaml]"] {
        let tree = format!(
            "
=== kustomization.yaml
{lost}
resources: [RESOURCES]
patches:
- patch: '{{kind: X, metadata: {{name: none}}}}'
=== one.yaml
kind: X
metadata: {{name: a}}
"
        );
        let wanted = [
            "kustomization.yaml:1: ",
            "kustomization.yaml:4: no resource matches",
        ];
        check_orders(&["one.yaml"], &tree, &wanted);
    }
}

#[test]
fn a_patch_that_is_lost_explains_that_objects_have_other_names_or_should_be_gone() {
    // It may delete the object, which is there again above it.
    check_orders(
        &["base", "a.yaml"],
        r"
=== kustomization.yaml
resources: [RESOURCES]
=== a.yaml
kind: X
metadata: {name: a}
=== base/kustomization.yaml
resources: [a.yaml]
patches:
- path: gone.yaml
=== base/a.yaml
kind: X
metadata: {name: a}
",
        &["base/kustomization.yaml:3: failed to get the patch file"],
    );
    // It would rename the object, had it not failed.
    check_orders(
        &["a.yaml"],
        r"
=== kustomization.yaml
resources: [RESOURCES]
patches:
- target: {kind: X}
  patch: |-
    - {op: replace, path: /metadata/name, value: b}
    - {op: remove, path: /none}
- patch: '{kind: X, metadata: {name: b}}'
- patch: '{kind: W, metadata: {name: b}}'
=== a.yaml
kind: X
metadata: {name: a}
",
        &[
            "kustomization.yaml:6: error in remove for path: '/none'",
            "kustomization.yaml:8: no resource matches strategic merge patch \"W.[noVer].[noGrp]/b.[noNs]\"",
        ],
    );
    // Labels change no names.
    check_orders(
        &["base", "a.yaml"],
        r"
=== kustomization.yaml
resources: [RESOURCES]
=== a.yaml
kind: X
metadata: {name: a}
=== base/kustomization.yaml
resources: [a.yaml]
commonLabels: [a]
=== base/a.yaml
kind: X
metadata: {name: a}
",
        &[
            "base/kustomization.yaml:2: invalid Kustomization",
            "may not add resource with an already registered id",
        ],
    );
}

#[test]
fn references_are_told_unless_what_they_mean_may_have_another_name() {
    let pod =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{configMap: {name: [[b]]}}]}\n";
    check_orders(
        &["bad", "good"],
        &format!(
            "
=== kustomization.yaml
resources: [RESOURCES]
=== bad/kustomization.yaml
namePrefix: [p-]
configMapGenerator: [{{name: c}}]
=== good/kustomization.yaml
namePrefix: q-
resources: [pod.yaml]
=== good/pod.yaml
{pod}"
        ),
        &[
            "bad/kustomization.yaml:1: invalid Kustomization",
            "good/pod.yaml:1: updating name reference in 'spec/volumes/configMap/name' field",
        ],
    );
}
