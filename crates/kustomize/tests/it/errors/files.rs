//! Mistakes in the files that a kustomization names: each is told by the line of its own file.

use super::check_all;

#[test]
fn patches_are_told_by_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- path: broken.yaml
- path: two.yaml
- target: {kind: X}
  path: operations.yaml
- target: {kind: X}
  path: list.json
- patch: |

    kind: X
    metadata: {name: gone}
- patch: |-
    # nothing that is one
    kind: X
- target: {kind: X}
  patch: |-
    - {op: add, path: /x, value: 1}
    - {op: remove, path: /none}
=== a.yaml
kind: X
metadata: {name: a}
=== broken.yaml
kind: X
metadata:
  name: a
  labels: [
=== two.yaml
kind: X
metadata: {name: a}
---
kind: X
metadata: {name: other}
=== operations.yaml
- op: test
  path: /kind
  value: X
- text
=== list.json
[
  {op: remove}
]
",
        &[
            "broken.yaml:5: unable to parse SM or JSON patch from [path: \"broken.yaml\"]: MalformedYAMLError: yaml: did not \
             find expected node content (through kustomization.yaml)",
            "operations.yaml:4: unable to parse SM or JSON patch from [path: \"operations.yaml\"]: json: cannot unmarshal string",
            "list.json:2: unable to parse SM or JSON patch from [path: \"list.json\"]: ",
            "kustomization.yaml:15: unable to parse SM or JSON patch from [patch]: missing metadata.name in object",
            "two.yaml:4: no resource matches strategic merge patch \"X.[noVer].[noGrp]/other.[noNs]\"",
            "kustomization.yaml:11: no resource matches strategic merge patch \"X.[noVer].[noGrp]/gone.[noNs]\"",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- path: two.yaml
- target: {kind: X}
  path: operations.yaml
- patch: |

    kind: X
    metadata: {name: gone}
- target: {kind: '('}
  patch: '- {op: remove, path: /x}'
=== a.yaml
kind: X
metadata: {name: a}
=== two.yaml
kind: X
metadata: {name: a}
---
# Comments are no part of an object.
kind: X
metadata: {name: other}
---
kind: X
metadata: {name: another}
=== operations.yaml
- op: test
  path: /kind
  value: X
- op: remove
  path: /none
",
        &[
            "two.yaml:5: no resource matches strategic merge patch \"X.[noVer].[noGrp]/other.[noNs]\"",
            "two.yaml:8: no resource matches strategic merge patch \"X.[noVer].[noGrp]/another.[noNs]\"",
            "operations.yaml:4: error in remove for path: '/none': ",
            "kustomization.yaml:8: no resource matches strategic merge patch \"X.[noVer].[noGrp]/gone.[noNs]\"",
            "kustomization.yaml:10: ",
        ],
    );
}

#[test]
fn all_mistakes_of_a_selector_are_told_with_their_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target:
    kind: X
    name: '('
    namespace: '['
    labelSelector: 'a in'
  patch: |-
    kind: X
    metadata: {name: a}
replacements:
- sourceValue: x
  targets:
  - select:
      kind: X
      name: '*'
    reject:
    - kind: X
      namespace: '('
- path: r.yaml
=== a.yaml
kind: X
metadata: {name: a}
=== r.yaml
- sourceValue: x
  targets: []
- sourceValue: x
  targets:
  - fieldPaths: [a]
",
        &[
            "kustomization.yaml:5: ",
            "kustomization.yaml:6: ",
            "kustomization.yaml:7: ",
            "kustomization.yaml:16: error creating target selector: ",
            "kustomization.yaml:19: error creating target selector: ",
            "r.yaml:5: target must specify resources to select (through kustomization.yaml)",
        ],
    );
}

#[test]
fn replacements_are_told_by_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- path: list.yaml
- path: one.yaml
- source:
    kind: X
    name: a
    fieldPath: no.such
  targets:
  - select: {kind: X}
    fieldPaths:
    - kind
- sourceValue: v
  targets:
  - select:
      kind: X
    fieldPaths:
    - metadata.name
    - nowhere.one
    - nowhere.two
=== a.yaml
kind: X
metadata: {name: a}
=== list.yaml
- sourceValue: v
  targets: []
- source: {kind: Z}
  targets:
  - select: {kind: X, name: '('}
=== one.yaml
source: {kind: X, fieldPath: kind}
targets:
- select: {kind: X}
  fieldPaths: [there.is.none]
",
        &[
            "list.yaml:3: nothing selected by Z.",
            "list.yaml:5: error creating target selector: ",
            "one.yaml:4: unable to find field \"there.is.none\" in replacement target",
            "kustomization.yaml:8: fieldPath `no.such` is missing",
            "kustomization.yaml:19: unable to find field \"nowhere.one\"",
            "kustomization.yaml:20: unable to find field \"nowhere.two\"",
        ],
    );
    check_all(
        r"
=== kustomization.yaml
namePrefix: x
replacements:
- path: types.yaml
- path: text.yaml
- path: broken.yaml
=== types.yaml
- source: {kind: [1]}
  targets:
  - select: a
- sourceValue: [v]
=== text.yaml
none
=== broken.yaml
a: b
c: }
",
        &[
            "types.yaml:1: json: cannot unmarshal array",
            "types.yaml:3: json: cannot unmarshal string",
            "types.yaml:4: json: cannot unmarshal array",
            "text.yaml:1: unsupported replacement type encountered within replacement path: string",
            "broken.yaml:2: yaml: did not find expected node content",
        ],
    );
}

#[test]
fn field_specs_schemas_and_plugins_are_told_by_their_own_lines() {
    check_all(
        r"
=== kustomization.yaml
openapi:
  path: schema.json
configurations:
- wrong.yaml
- conflict.yaml
- broken.yaml
crds:
- broken.json
transformers:
- plugins.yaml
- |-
  # inline
  apiVersion: builtin
  kind: NoTransformer
  metadata: {name: n}
=== schema.json
{
  a: [
}
=== wrong.yaml
namePrefix:
- path: a
  kinds: b
nameReference:
- kind: 5
=== conflict.yaml
commonAnnotations: []
namePrefix:
- path: metadata/name
  create: true
=== broken.yaml
a:
 - b
- c
=== broken.json
{
  ]
=== plugins.yaml
apiVersion: builtin
kind: PrefixTransformer
metadata: {name: p}
---
apiVersion: builtin
kind: LabelTransformer
metadata: {name: l}
labels:
  a: b
  c: {}
fieldSpecs: x
---
apiVersion: example.com/v1
kind: Program
metadata: {name: q}
",
        &[
            "schema.json:3: invalid schema file: yaml: ",
            "wrong.yaml:3: json: unknown field \"kinds\"",
            "wrong.yaml:5: json: cannot unmarshal number",
            "conflict.yaml:2: failed to merge NamePrefix fieldSpec: conflicting fieldspecs",
            "broken.yaml:3: yaml: ",
            "broken.json:2: yaml: ",
            "kustomization.yaml:13: unable to load builtin NoTransformer",
            "plugins.yaml:1: fieldSpecs is not expected to be nil",
            "plugins.yaml:11: plugin LabelTransformer.builtin.[noGrp]/l.[noNs] fails configuration: json: cannot unmarshal string",
            "plugins.yaml:10: plugin LabelTransformer.builtin.[noGrp]/l.[noNs] fails configuration: json: cannot unmarshal object",
            "plugins.yaml:13: external plugins disabled; unable to load external plugin 'Program'",
        ],
    );
}

#[test]
fn all_sources_of_a_generator_are_told_with_their_lines() {
    check_all(
        "
=== kustomization.yaml
configMapGenerator:
- files:
  - gone.txt
  - a=b=c
  - ok.txt
  - ok.txt
  envs:
  - lost.env
  - some.env
  literals:
  - none
  - A=1
secretGenerator:
- name: [s]
  files: [also-gone.txt]
- name: t
  type: 5
  literals: [x]
=== ok.txt
=== some.env
# comment
A=2
B=3
B=4
",
        &[
            "kustomization.yaml:14: invalid Kustomization: json: cannot unmarshal array",
            "kustomization.yaml:17: invalid Kustomization: json: cannot unmarshal number",
            "kustomization.yaml:2: a configmap must have a name",
            "kustomization.yaml:8: loading KV pairs: env source file lost.env: ",
            "some.env:4: loading KV pairs: configmap  illegally repeats the key `B` (through kustomization.yaml)",
            "kustomization.yaml:11: loading KV pairs: literal source number 1: invalid literal source",
            "kustomization.yaml:12: loading KV pairs: configmap  illegally repeats the key `A`",
            "kustomization.yaml:3: loading KV pairs: file source gone.txt: ",
            "kustomization.yaml:4: loading KV pairs: file source a=b=c: ",
            "kustomization.yaml:6: loading KV pairs: configmap  illegally repeats the key `ok.txt`",
        ],
    );
}

/// Patches and replacements may be those of Secrets.
#[test]
fn no_text_of_a_patch_or_a_value_is_told() {
    let told = crate::errors(
        r"
=== kustomization.yaml
resources: [a.yaml]
patchesJson6902:
- target: {kind: Secret, name: a}
  patch: 'hunter2: ['
patchesStrategicMerge:
- |-
  kind: Secret
  stringData: {a: hunter2}
=== a.yaml
kind: Secret
metadata: {name: a}
stringData: {a: hunter2}
",
    );
    assert!(!told.contains("hunter2") && told.lines().count() == 2, "{told}");
    let told = crate::errors(
        r"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: Secret, fieldPath: stringData.a, options: {delimiter: '/', index: 3}}
  targets: [{select: {kind: Secret}, fieldPaths: [x]}]
=== a.yaml
kind: Secret
metadata: {name: a}
stringData: {a: hunter2}
",
    );
    assert_eq!(
        told,
        "kustomization.yaml:3: options.index 3 is out of bounds for value"
    );
}

#[test]
fn texts_in_another_encoding_are_read_or_told_with_their_line() {
    let utf16 = |text: &str| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    let options = kustomize::Options::default();
    let mut tree = kustomize::Memory::new();
    tree.insert("kustomization.yaml", utf16("resources: [a.yaml]\n"));
    tree.insert("a.yaml", utf16("kind: X\nmetadata: {name: ä}\n"));
    let output = kustomize::build(&tree, "", &options).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        output.to_yaml().expect("it is like any other"),
        "kind: X\nmetadata:\n  name: ä\n"
    );
    tree.insert(
        "kustomization.yaml",
        "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
    );
    tree.insert("a.yaml", &b"kind: X\nmetadata: {name: \xe9}\n"[..]);
    tree.insert("p.yaml", &b"kind: X\nmetadata:\n  name: \xe9\n"[..]);
    let told = kustomize::build(&tree, "", &options)
        .expect_err("both are Latin 1")
        .to_string();
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with("a.yaml:2: MalformedYAMLError: yaml: it is neither UTF-8 nor UTF-16"),
        "{told}"
    );
    assert!(
        lines[1].starts_with(
            "kustomization.yaml:2: failed to get the patch file from path(p.yaml): p.yaml:3: yaml: it is"
        ),
        "{told}"
    );
}

#[test]
fn a_base_without_a_kustomization_is_told_where_it_is_named() {
    check_all(
        r"
=== kustomization.yaml
resources:
- one
- two
components:
- three
=== one/a.yaml
=== two/kustomization.yaml
=== two/Kustomization
=== three/a.yaml
",
        &[
            "kustomization.yaml:2: accumulating resources from 'one': unable to find one of 'kustomization.yaml', \
             'kustomization.yml' or 'Kustomization' in directory 'one'",
            "kustomization.yaml:3: accumulating resources from 'two': Found multiple kustomization files under: two",
            "kustomization.yaml:5: accumulating components: unable to find one of 'kustomization.yaml'",
        ],
    );
}
