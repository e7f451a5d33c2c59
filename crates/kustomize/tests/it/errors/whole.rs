//! A tree with mistakes of many kinds in many files: all of them are told in one run, in the same order.

use std::fmt::Write as _;

use super::check_all;

const TREE: &str = r"
=== kustomization.yaml
resources:
- base
- shared
- missing.yaml
- objects.yaml
components:
- component
configurations:
- specs.yaml
configMapGenerator:
- name: settings
  envs: [settings.env]
  files:
  - lost.txt
patches:
- path: patch.yaml
- patch: |-
    - op: add
    - 5
  target: {kind: X}
replacements:
- path: replacements.yaml
images:
- name: app
  newTag: 5
transformers:
- transformer.yaml
namePrefx: x
=== objects.yaml
kind: X
metadata:
  name: a
---
kind: X
metadata: {}
---
a: [
=== specs.yaml
images:
- paths: a
=== settings.env
A=1
A=2
=== patch.yaml
kind: X
metadata:
  labels: {}
=== replacements.yaml
- source: [a]
=== transformer.yaml
apiVersion: example.com/v1
kind: Program
metadata: {name: p}
=== base/kustomization.yaml
resources:
- ../shared
patchesStrategicMerge:
- broken.yaml
secretGenerator:
- name: s
  literals: [secret]
=== base/broken.yaml
kind: X
 metadata: {}
=== shared/kustomization.yaml
resources:
- ../elsewhere.yaml
- same.yaml
=== shared/same.yaml
kind: X
metadata: {name: one}
---
kind: X
metadata: {name: one}
=== elsewhere.yaml
kind: X
metadata: {name: e}
=== component/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
crds:
- none.json
";

#[test]
fn a_tree_with_many_mistakes_tells_exactly_those() {
    check_all(
        TREE,
        &[
            "kustomization.yaml:25: invalid Kustomization: json: cannot unmarshal number into Go struct field",
            "kustomization.yaml:28: invalid Kustomization: json: unknown field \"namePrefx\"",
            "shared/kustomization.yaml:2: accumulating resources from '../elsewhere.yaml': security; file 'elsewhere.yaml' is",
            "shared/same.yaml:4: may not add resource with an already registered id: X.[noVer].[noGrp]/one.[noNs]; also in shared/same.yaml:1 (through \
             kustomization.yaml, base/kustomization.yaml, shared/kustomization.yaml, and in one other way)",
            "base/kustomization.yaml:7: loading KV pairs: literal source number 1: invalid literal source",
            "base/broken.yaml:2: MalformedYAMLError: yaml: mapping values are not allowed in this context (through \
             kustomization.yaml, base/kustomization.yaml)",
            "kustomization.yaml:4: accumulating resources from 'missing.yaml'",
            "objects.yaml:5: missing metadata.name in object",
            "objects.yaml:9: MalformedYAMLError: yaml: did not find expected node content",
            "specs.yaml:2: json: unknown field \"paths\"; did you mean \"path\"? (through kustomization.yaml)",
            "settings.env:2: loading KV pairs: configmap settings illegally repeats the key `A` (through kustomization.yaml)",
            "kustomization.yaml:14: loading KV pairs: file source lost.txt: ",
            "component/kustomization.yaml:4: open component/none.json: no such file or directory (through kustomization.yaml, \
             component/kustomization.yaml)",
            "patch.yaml:1: unable to parse SM or JSON patch from [path: \"patch.yaml\"]: missing metadata.name in object",
            "kustomization.yaml:19: unable to parse SM or JSON patch from [patch]: json: cannot unmarshal number",
            "replacements.yaml:1: json: cannot unmarshal array into Go struct field",
            "transformer.yaml:1: external plugins disabled; unable to load external plugin 'Program'",
        ],
    );
}

#[test]
fn the_order_of_what_is_told_is_always_the_same() {
    let first = crate::errors(TREE);
    for _ in 0..5 {
        assert_eq!(crate::errors(TREE), first);
    }
}

/// Looking for the line of each by reading the files again would take hours.
#[test]
fn very_many_mistakes_are_told_without_end_of_reading() {
    let (mut names, mut patches) = (String::new(), String::new());
    for number in 0..5_000 {
        let _ = writeln!(names, "- gone{number}.yaml");
        let _ = write!(patches, "---\nkind: X\nmetadata: {{name: x{number}}}\n");
    }
    let told = crate::errors(&format!("=== kustomization.yaml\nresources:\n{names}"));
    assert_eq!(told.lines().count(), 5_000);
    assert!(told.contains("kustomization.yaml:5001: accumulating resources from 'gone4999.yaml'"));
    let told = crate::errors(&format!(
        "=== kustomization.yaml\nnamePrefix: p\npatches:\n- path: patches.yaml\n=== patches.yaml\n{patches}"
    ));
    assert_eq!(told.lines().count(), 5_000);
    assert!(
        told.contains("patches.yaml:14999: no resource matches strategic merge patch"),
        "{}",
        &told[told.len() - 300..]
    );
}
