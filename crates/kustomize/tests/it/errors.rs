//! What is told when something is wrong: file, line, the way there, and all of it.

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
        "base/deeper/kustomization.yaml: invalid Kustomization: json: unknown field \"namePrefx\" (through \
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
    for text in ["", "kind: Kustomization\n", "namePrefix: ''\n"] {
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
fn the_same_object_twice_is_refused() {
    let told = errors(
        "=== kustomization.yaml\nresources: [a.yaml, b.yaml]\n=== a.yaml\nkind: X\nmetadata: {name: a}\n=== b.yaml\nkind: X\nmetadata: {name: a}\n",
    );
    assert_eq!(
        told,
        "kustomization.yaml:1: merging resources from 'b.yaml': may not add resource with an already registered id: \
         X.[noVer].[noGrp]/a.[noNs]"
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
