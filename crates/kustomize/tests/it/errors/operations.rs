//! Operations of JSON patches: all that are wrong by themselves are told, not the first alone.

use super::check_all;

#[test]
fn all_operations_that_cannot_be_read_are_told_with_their_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: X}
  patch: |-
    - text
    - {op: remove, path: /a}
    - 5
- target: {kind: X}
  path: operations.json
patchesJson6902:
- target: {version: v1, kind: X, name: a}
  path: operations.json
=== operations.json
[
  [],
  {},
  true
]
=== a.yaml
kind: X
metadata: {name: a}
",
        &[
            "kustomization.yaml:5: unable to parse SM or JSON patch from [patch]: json: cannot unmarshal string",
            "kustomization.yaml:7: unable to parse SM or JSON patch from [patch]: json: cannot unmarshal number",
            "operations.json:2: unable to parse SM or JSON patch from [path: \"operations.json\"]: json: cannot unmarshal array",
            "operations.json:4: unable to parse SM or JSON patch from [path: \"operations.json\"]: json: cannot unmarshal bool",
            "operations.json:2: decoding the patch: json: cannot unmarshal array into Go value of type jsonpatch.Operation",
            "operations.json:4: decoding the patch: json: cannot unmarshal bool into Go value of type jsonpatch.Operation",
        ],
    );
}

#[test]
fn all_operations_that_fail_on_any_object_are_told_once() {
    let tree = r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: KIND}
  path: operations.yaml
=== operations.yaml
- op: remove
  path: /none
- op: ad
  path: /a
- op: replace
  path: a
- op: remove
  path: /follows
- op: copy
  path: /a
- path: /a
=== a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
";
    check_all(
        &tree.replace("KIND", "X"),
        &[
            "operations.yaml:1: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value (in \
             X.[noVer].[noGrp]/a.[noNs])",
            "operations.yaml:3: Unexpected kind: ad (through",
            "operations.yaml:5: replace operation does not apply: doc is missing path: a: missing value (through",
            "operations.yaml:9: copy operation failed to decode from: operation, missing from field: missing value (through",
            "operations.yaml:11: Unexpected kind: unknown (through",
            "operations.yaml:1: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value (in \
             X.[noVer].[noGrp]/b.[noNs])",
        ],
    );
    // As with kustomize, they are nobody's business where there is nothing to apply them to.
    let built = crate::built(&tree.replace("KIND", "Nothing"), "");
    assert!(built.contains("name: b"), "{built}");
}
