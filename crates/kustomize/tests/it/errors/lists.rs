//! Mistakes in the items of lists: all of them are told, each at the line of its item, with which one it is.

use std::fmt::Write as _;

use super::check_all;
use crate::errors;

#[test]
fn all_items_of_a_list_that_are_wrong_are_told_at_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: List
items:
- kind: X
  metadata: {name: a}
- kind: X
  metadata: {}
- apiVersion: v1
  metadata: {name: b}
-
  kind: Y
",
        &[
            "a.yaml:6: items[1]: missing metadata.name in object {{ X}",
            "a.yaml:8: items[2]: missing kind in object {{v1 }",
            "a.yaml:11: items[3]: missing metadata.name in object {{ Y}",
        ],
    );
}

#[test]
fn so_are_those_of_a_list_of_a_kind_of_its_own_and_of_lists_in_lists() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml, b.yaml, c.yaml]
=== a.yaml
# Comments count as lines.
apiVersion: v1
kind: ConfigMapList
items:
- kind: ConfigMap
- kind: ConfigMap
  metadata: {name: a}
  data: {x: .inf}
- kind: ConfigMap
---
kind: X
---
kind: YList
items:
- {kind: Y}
- {kind: Y, metadata: {name: y}}
---
kind: ZList
items: {}
=== b.yaml
kind: List
items:
- kind: InnerList
  items:
  - {kind: X, metadata: {name: x}}
  - {kind: X}
- kind: InnerList
  items:
  - kind: X
=== c.yaml
a: [
---
kind: List
items: [{kind: X}, {kind: X, metadata: {name: x}},
  {kind: X}]
",
        &[
            "a.yaml:5: items[0]: missing metadata.name in object",
            "a.yaml:6: items[1]: trouble expanding list of ConfigMapList; json: unsupported value",
            "a.yaml:9: items[2]: missing metadata.name in object",
            "a.yaml:11: missing metadata.name in object",
            "a.yaml:15: items[0]: missing metadata.name in object",
            "a.yaml:18: expected array in ZList/items, but found map[string]interface {}",
            "b.yaml:6: items[0].items[1]: missing metadata.name in object",
            "b.yaml:9: items[1].items[0]: missing metadata.name in object",
            "c.yaml:2: MalformedYAMLError: ",
            "c.yaml:4: items[0]: missing metadata.name in object",
            "c.yaml:5: items[2]: missing metadata.name in object",
            "c.yaml:4: may not add resource with an already registered id: X.[noVer].[noGrp]/x.[noNs]; also in b.yaml:5",
        ],
    );
}

#[test]
fn items_that_are_there_twice_are_told_at_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml, b.yaml]
=== a.yaml
apiVersion: v1
kind: List
items:
- kind: X
  metadata: {name: a}
- kind: X
  metadata: {name: a}
=== b.yaml
kind: X
metadata: {name: b}
---
kind: XList
items:
- kind: X
  metadata: {name: a}
- kind: XList
  items:
  - kind: X
    metadata: {name: b}
",
        &[
            "a.yaml:6: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in a.yaml:4",
            "b.yaml:10: may not add resource with an already registered id: X.[noVer].[noGrp]/b.[noNs]; also in b.yaml:1",
            "b.yaml:6: may not add resource with an already registered id: X.[noVer].[noGrp]/a.[noNs]; also in a.yaml:4",
        ],
    );
}

#[test]
fn patches_and_plugins_that_are_items_are_told_at_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- path: patches.yaml
- patch: |-
    kind: List
    items:
    - {kind: X, metadata: {name: a}}
    - {kind: X}
    - {kind: Y}
=== a.yaml
kind: X
metadata: {name: a}
=== patches.yaml
kind: List
items:
- kind: X
  metadata: {name: a}
- kind: X
  metadata: {name: none}
",
        &[
            "kustomization.yaml:8: unable to parse SM or JSON patch from [patch]: items[1]: missing metadata.name",
            "kustomization.yaml:9: unable to parse SM or JSON patch from [patch]: items[2]: missing metadata.name",
            "patches.yaml:5: no resource matches strategic merge patch \"X.[noVer].[noGrp]/none.[noNs]\"",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
configMapGenerator: [{name: a}]
transformers:
- |-
  kind: List
  items:
  - {apiVersion: builtin, kind: PrefixTransformer, metadata: {name: p}}
  - apiVersion: builtin
    kind: NoTransformer
    metadata: {name: n}
",
        &[
            "kustomization.yaml:6: fieldSpecs is not expected to be nil",
            "kustomization.yaml:7: unable to load builtin NoTransformer",
        ],
    );
}

/// Reading the list again for each of them would take as long as the square of it.
#[test]
fn very_many_items_are_told_at_once() {
    let (mut nameless, mut twice) = ("kind: List\nitems:\n".to_owned(), String::new());
    for number in 0..3_000 {
        let _ = writeln!(nameless, "- kind: X{number}");
        let _ = writeln!(twice, "- {{kind: X, metadata: {{name: x{number}}}}}");
    }
    let told = errors(&format!(
        "=== kustomization.yaml\nresources: [a.yaml]\n=== a.yaml\n{nameless}"
    ));
    assert_eq!(told.lines().count(), 3_000);
    assert!(told.contains("a.yaml:3002: items[2999]: missing metadata.name"));
    let told = errors(&format!(
        "=== kustomization.yaml\nresources: [a.yaml, b.yaml]\n=== a.yaml\nkind: List\nitems:\n{twice}\
         === b.yaml\nkind: List\nitems:\n{twice}"
    ));
    assert_eq!(told.lines().count(), 3_000);
    assert!(told.contains("b.yaml:3002: may not add resource with an already registered id: X.[noVer].[noGrp]/x2999.[noNs]; also in a.yaml:3002 (through"));
}
