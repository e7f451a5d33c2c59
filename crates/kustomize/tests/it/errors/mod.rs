//! What is told when something is wrong: file, line, the way there, and all of it.

mod bases;
mod files;
mod hints;
mod independent;
mod lists;
mod operations;
mod order;
mod same;
mod secrets;
mod unwritable;
mod whole;

use crate::errors;

#[test]
fn all_resources_that_are_wrong_are_told_with_file_and_line() {
    let told = errors(
        r"
=== kustomization.yaml
resources:
- missing.yaml
- broken.yaml
- nameless.yaml
=== broken.yaml
a: [
=== nameless.yaml
apiVersion: v1
kind: Pod
---
apiVersion: v1
kind: Pod
metadata: {name: x}
",
    );
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(
        lines[0].starts_with("kustomization.yaml:2: accumulating resources from 'missing.yaml'"),
        "{told}"
    );
    assert!(lines[1].starts_with("broken.yaml:"), "{told}");
    assert!(
        lines[2].starts_with("nameless.yaml:1: missing metadata.name in object"),
        "{told}"
    );
}

#[test]
fn the_kustomizations_that_led_there_are_named() {
    let told = errors(
        r"
=== kustomization.yaml
resources: [base]
=== base/kustomization.yaml
resources: [deeper]
=== base/deeper/kustomization.yaml
namePrefx: x
",
    );
    assert_eq!(
        told,
        "base/deeper/kustomization.yaml:1: invalid Kustomization: json: unknown field \"namePrefx\"; did you mean \"namePrefix\"? (through \
         kustomization.yaml, base/kustomization.yaml, base/deeper/kustomization.yaml)"
    );
}

#[test]
fn values_of_the_wrong_type_are_told_as_go_does() {
    let told = errors("=== kustomization.yaml\nimages: [{name: a, newTag: 1}]\n");
    assert!(
        told.contains(
            "json: cannot unmarshal number into Go struct field Image.images.newTag of type string"
        ),
        "{told}"
    );
}

#[test]
fn an_empty_kustomization_is_refused() {
    for text in [
        "",
        "kind: Kustomization\n",
        "namePrefix: ''\n",
        "bases: []\nimageTags: []\nhelmChartInflationGenerator: []\n",
    ] {
        let told = errors(&format!("=== kustomization.yaml\n{text}"));
        assert!(told.contains("kustomization.yaml is empty"), "{told}");
    }
}

#[test]
fn files_outside_of_the_kustomization_are_refused() {
    let told = errors(
        "=== kustomization.yaml\nresources: [a]\n=== a/kustomization.yaml\nresources: [../x.yaml]\n=== x.yaml\nkind: x\n",
    );
    assert!(
        told.contains("security; file 'x.yaml' is not in or below 'a'"),
        "{told}"
    );
}

#[test]
fn cycles_are_found() {
    let told = errors(
        "=== kustomization.yaml\nresources: [a]\n=== a/kustomization.yaml\nresources: [../b]\n=== b/kustomization.yaml\nresources: [../a]\n",
    );
    assert!(
        told.contains("cycle detected: candidate root 'a' contains visited root 'a'"),
        "{told}"
    );
}

#[test]
fn a_patch_for_nothing_is_refused() {
    let told = errors(
        "=== kustomization.yaml\nconfigMapGenerator: [{name: a}]\npatches:\n- patch: '{apiVersion: v1, kind: Pod, metadata: {name: p}}'\n",
    );
    assert!(
        told.contains("no resource matches strategic merge patch \"Pod.v1.[noGrp]/p.[noNs]\""),
        "{told}"
    );
}

#[test]
fn programs_and_containers_are_refused() {
    let told = errors(
        "=== kustomization.yaml\ntransformers:\n- |-\n  apiVersion: example.com/v1\n  kind: Fn\n  metadata:\n    name: f\n    annotations: {config.kubernetes.io/function: 'container: {image: x}'}\n",
    );
    assert!(told.contains("unable to load external plugin 'Fn'"), "{told}");
}

#[test]
fn charts_and_remote_bases_are_refused_when_nobody_can_get_them() {
    let told = errors("=== kustomization.yaml\nhelmCharts: [{name: c}]\n");
    assert!(told.contains("must specify --enable-helm"), "{told}");
    let told = errors("=== kustomization.yaml\nresources: ['https://github.com/org/repo//base?ref=v1']\n");
    assert!(told.contains("remote bases are not allowed here"), "{told}");
}

/// Checks the beginnings of all lines of what is told.
fn check_all(tree: &str, wanted: &[&str]) {
    let told = errors(tree);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), wanted.len(), "{told}");
    for (line, wanted) in lines.iter().zip(wanted) {
        assert!(line.starts_with(wanted), "wanted {wanted:?} in:\n{told}");
    }
}

#[test]
fn all_mistakes_in_the_fields_of_a_kustomization_are_told_with_their_lines() {
    check_all(
        r"
=== kustomization.yaml
namePrefx: x
namespace: [a]
images:
- name: a
  newTag: 1
- name: b
  tag: c
patches:
- patch: {}
  target: {kind: 7}
",
        &[
            "kustomization.yaml:1: invalid Kustomization: json: unknown field \"namePrefx\"",
            "kustomization.yaml:2: invalid Kustomization: json: cannot unmarshal array into Go struct field",
            "kustomization.yaml:5: invalid Kustomization: json: cannot unmarshal number into Go struct field \
             Image.images.newTag of type string",
            "kustomization.yaml:7: invalid Kustomization: json: unknown field \"tag\"",
            "kustomization.yaml:9: invalid Kustomization: json: cannot unmarshal object into Go struct field",
            "kustomization.yaml:10: invalid Kustomization: json: cannot unmarshal number into Go struct field",
        ],
    );
}

#[test]
fn mistakes_in_several_bases_and_files_are_all_told_with_the_way_there() {
    check_all(
        r"
=== kustomization.yaml
resources: [one, two, missing.yaml]
=== one/kustomization.yaml
resources: [a.yaml]
nameprefix: x
unknown: y
=== one/a.yaml
kind: X
=== two/kustomization.yaml
resources: [a.yaml, deeper]
=== two/a.yaml
kind: X
metadata: {name: a}
---
kind: Y
---
a: [
---
kind: Z
metadata: {}
=== two/deeper/kustomization.yaml
resources: [b.yaml]
=== two/deeper/b.yaml
- x
",
        &[
            "one/kustomization.yaml:3: invalid Kustomization: json: unknown field \"unknown\" (through \
             kustomization.yaml, one/kustomization.yaml)",
            "one/a.yaml:1: missing metadata.name in object",
            "two/a.yaml:4: missing metadata.name in object",
            "two/a.yaml:7: MalformedYAMLError: ",
            "two/a.yaml:8: missing metadata.name in object",
            "two/deeper/b.yaml:1: ",
            "kustomization.yaml:1: accumulating resources from 'missing.yaml'",
        ],
    );
}

#[test]
fn mistakes_in_resources_hide_none_in_generators_components_and_transformers() {
    check_all(
        r"
=== kustomization.yaml
resources:
- missing.yaml
configurations:
- none.yaml
- specs.yaml
configMapGenerator:
- name: a
  files: [none.txt]
- literals: [a=b]
components:
- nowhere
- plain
patches:
- path: none.yaml
- patch: 'a: ['
patchesStrategicMerge:
- none.yaml
- other.yaml
replacements:
- path: none.yaml
- path: other.yaml
images:
- name: '('
transformers:
- none.yaml
=== specs.yaml
unknown: []
=== plain/kustomization.yaml
resources: []
",
        &[
            "kustomization.yaml:2: accumulating resources from 'missing.yaml'",
            "kustomization.yaml:4: open none.yaml: no such file",
            "specs.yaml:1: json: unknown field \"unknown\" (through kustomization.yaml)",
            "kustomization.yaml:8: loading KV pairs: file source none.txt",
            "kustomization.yaml:9: a configmap must have a name",
            "kustomization.yaml:11: accumulating components: ",
            "kustomization.yaml:12: expected kind 'Component' for path 'plain'",
            "kustomization.yaml:17: open none.yaml: no such file",
            "kustomization.yaml:18: open other.yaml: no such file",
            "kustomization.yaml:14: failed to get the patch file from path(none.yaml)",
            "kustomization.yaml:15: unable to parse SM or JSON patch",
            "kustomization.yaml:23: error parsing regexp: missing closing ): `^((:",
            "kustomization.yaml:20: open none.yaml: no such file",
            "kustomization.yaml:21: open other.yaml: no such file",
            "kustomization.yaml:25: accumulating resources from 'none.yaml'",
        ],
    );
}

#[test]
fn all_patches_and_replacements_that_do_not_fit_are_told() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- patch: '{kind: X, metadata: {name: b}}'
- patch: '{kind: X, metadata: {name: a}, x: 1}'
- patch: |-
    - {op: remove, path: /none}
  target: {kind: X}
=== a.yaml
kind: X
metadata: {name: a}
",
        &[
            "kustomization.yaml:3: no resource matches strategic merge patch \"X.[noVer].[noGrp]/b.[noNs]\"",
            "kustomization.yaml:6: error in remove for path: '/none': ",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: X, name: none}
  targets: [{select: {kind: X}, fieldPaths: [x]}]
- source: {kind: X, name: a, fieldPath: nowhere.at.all}
  targets: [{select: {kind: X}, fieldPaths: [x]}]
=== a.yaml
kind: X
metadata: {name: a}
",
        &[
            "kustomization.yaml:3: nothing selected by X.[noVer].[noGrp]/none.[noNs]",
            "kustomization.yaml:5: fieldPath `nowhere.at.all` is missing",
        ],
    );
}

#[test]
fn all_objects_that_stand_twice_and_all_generators_that_do_not_fit_are_told() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: b}
---
kind: X
metadata: {name: b}
",
        &[
            "a.yaml:4: may not add resource with an already registered id",
            "a.yaml:10: may not add resource with an already registered id",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
configMapGenerator:
- {name: a, behavior: merge}
- {name: b, behavior: replace}
- {name: c}
",
        &[
            "kustomization.yaml:2: merging from generator: ",
            "kustomization.yaml:3: merging from generator: ",
        ],
    );
}
