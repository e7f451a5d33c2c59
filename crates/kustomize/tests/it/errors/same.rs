//! Objects that are there twice: all of them are told, each with both places.

use std::fmt::Write as _;

use crate::errors;

/// Checks all that is told.
fn check(tree: &str, wanted: &str) {
    let told = errors(tree);
    assert_eq!(told.trim(), wanted.trim(), "told:\n{told}");
}

#[test]
fn all_objects_that_files_have_in_common_are_told_with_both_places() {
    check(
        "
=== kustomization.yaml
resources: [a.yaml, b.yaml]
=== a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: a}
=== b.yaml
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: c}
---
kind: X
metadata: {name: a}
",
        "
a.yaml:7: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in a.yaml:1 (through kustomization.yaml)
b.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/b.[noNs]; also in a.yaml:4 (through kustomization.yaml)
b.yaml:7: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in a.yaml:1 (through kustomization.yaml)
",
    );
}

#[test]
fn objects_that_bases_have_in_common_are_told_with_both_ways() {
    check(
        "
=== kustomization.yaml
resources: [one, two, c.yaml]
=== one/kustomization.yaml
resources: [../shared]
=== two/kustomization.yaml
resources: [../shared, d.yaml]
=== two/d.yaml
kind: X
metadata: {name: d}
=== shared/kustomization.yaml
resources: [a.yaml]
configMapGenerator: [{name: m}]
=== shared/a.yaml
kind: X
metadata: {name: a}
=== c.yaml
kind: X
metadata: {name: d}
",
        "
shared/a.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in shared/a.yaml:1 (through kustomization.yaml, one/kustomization.yaml, shared/kustomization.yaml) (through kustomization.yaml, two/kustomization.yaml, shared/kustomization.yaml)
shared/kustomization.yaml:2: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/m.[noNs]; also in shared/kustomization.yaml:2 (through kustomization.yaml, one/kustomization.yaml, shared/kustomization.yaml) (through kustomization.yaml, two/kustomization.yaml, shared/kustomization.yaml)
c.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/d.[noNs]; also in two/d.yaml:1 (through kustomization.yaml, two/kustomization.yaml) (through kustomization.yaml)
",
    );
}

#[test]
fn what_a_namespace_makes_the_same_is_told_for_all_objects() {
    check(
        "
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
namespace: ns
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: y}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: ns}
",
        "
kustomization.yaml:3: namespace transformation produces ID conflict: ConfigMap.v1.[noGrp]/a.ns; in a.yaml:1 and a.yaml:5 and a.yaml:9
kustomization.yaml:3: namespace transformation produces ID conflict: ConfigMap.v1.[noGrp]/b.ns; in a.yaml:13 and a.yaml:17
",
    );
}

#[test]
fn what_patches_make_the_same_is_told_with_both_places() {
    check(
        "
=== kustomization.yaml
resources: [base]
namePrefix: p-
=== base/kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: X, name: b|d}
  patch: |-
    - {op: replace, path: /metadata/name, value: a}
=== base/a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: c}
---
kind: X
metadata: {name: d}
",
        "
base/a.yaml:4: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in base/a.yaml:1 (through kustomization.yaml, base/kustomization.yaml)
base/a.yaml:10: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in base/a.yaml:1 (through kustomization.yaml, base/kustomization.yaml)
",
    );
    check(
        "
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: X}
  path: p.yaml
  options: {allowNameChange: true}
=== p.yaml
kind: X
metadata: {name: same}
=== a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
",
        "
p.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/same.[noNs]; in a.yaml:1 and a.yaml:4 (through kustomization.yaml)
",
    );
}

#[test]
fn generators_that_make_what_is_there_are_told_with_the_place_of_it() {
    let told = errors(
        "
=== kustomization.yaml
resources: [a.yaml]
configMapGenerator:
- {name: a}
- {name: b}
- {name: b}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
",
    );
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(
        lines[0].starts_with("kustomization.yaml:3: merging from generator: id resid.ResId"),
        "{told}"
    );
    assert!(lines[0].ends_with("; also in a.yaml:1"), "{told}");
    assert!(
        lines[1].starts_with("kustomization.yaml:5: merging from generator: id resid.ResId"),
        "{told}"
    );
    assert!(lines[1].ends_with("; also in kustomization.yaml:4"), "{told}");
}

/// Looking for the first of each would take as long as the square of them.
#[test]
fn very_many_objects_that_are_there_twice_are_told_at_once() {
    let mut objects = String::new();
    for number in 0..3_000 {
        let _ = write!(objects, "---\nkind: X\nmetadata: {{name: x{number}}}\n");
    }
    let told = errors(&format!(
        "=== kustomization.yaml\nresources: [a.yaml, b.yaml]\n=== a.yaml\n{objects}=== b.yaml\n{objects}"
    ));
    assert_eq!(told.lines().count(), 3_000);
    assert!(told.contains("b.yaml:8999: may not add resource with an already registered id: X.[noVer].[noGrp]/x2999.[noNs]; also in a.yaml:8999 (through"));
}

/// Patches, of which the first two make objects the same and the last parts them again, with what stands between these.
fn parted(between: &str) -> String {
    format!(
        "
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {{kind: X, name: b}}
  patch: '[{{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"a\"}}]'
{between}
- target: {{kind: X, labelSelector: was=b}}
  patch: '[{{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"c\"}}]'
=== a.yaml
kind: X
metadata: {{name: a}}
---
kind: X
metadata: {{name: b, labels: {{was: b}}}}
---
kind: W
metadata: {{name: w}}
"
    )
}

/// kustomize compares identities after each strategic merge patch that has a target, whatever that is for.
#[test]
fn what_a_patch_makes_the_same_is_told_even_if_a_later_one_parts_it_again() {
    let target = "- target: {kind: W}\n  patch: '{kind: W, metadata: {name: any}, x: 1}'";
    check(
        &parted(target),
        "
kustomization.yaml:6: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; in a.yaml:1 and a.yaml:4
",
    );
    let nobody = "- target: {kind: Nobody}\n  patch: '{kind: W, metadata: {name: any}}'";
    assert!(errors(&parted(nobody)).starts_with("kustomization.yaml:6: may not add resource"));
}

#[test]
fn other_patches_may_stand_between_two_that_make_objects_the_same_and_part_them() {
    for between in [
        "",
        "- patch: '{kind: W, metadata: {name: w}, x: 1}'",
        "- target: {kind: W}\n  patch: '[{\"op\": \"add\", \"path\": \"/x\", \"value\": 1}]'",
    ] {
        let text = crate::built(&parted(between), "");
        assert!(
            text.contains("  name: a\n") && text.contains("  name: c\n"),
            "{text}"
        );
    }
}

/// kustomize knows what a target has selected by its identity.
#[test]
fn a_patch_for_one_of_two_that_are_the_same_deletes_both() {
    let between = "- target: {kind: X, labelSelector: was=b}\n  patch: '{kind: X, metadata: {name: any}, $patch: delete}'";
    assert_eq!(
        crate::built(&parted(between), ""),
        "kind: W\nmetadata:\n  name: w\n"
    );
}
