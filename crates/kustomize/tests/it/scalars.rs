//! How values are read and printed.

use crate::check;

#[test]
fn values_are_printed_as_go_prints_them() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  date: 2020-01-01
  time: 2020-01-01T10:20:30.5Z
  oct: 0777
  new-oct: 0o17
  hex: 0x1F
  under: 1_000
  yes: yes
  on: on
  y: y
  t: True
  float: 1234567.5
  big: 18446744073709551615
  b20: 1e20
  b21: 1e21
  small: 0.00001
  base60: 12:30:45
  bin: !!binary aGVsbG8=
  nul:
  tilde: ~
  text: "1e3"
  long: aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp qqqq rrrr ssss
  long-single: "aaaa bbbb: cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp qqqq ssss"
  long-double: "aaaa\tbbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo  pppp qqqq ssss"
  tab: "a\tb"
  emoji: "hi 😀 there é"
  spaces: "a\n  b \nc"
  lead: "  two\nlines"
  keep: "x\n\n"
  block: |
    one
      two

    three
  strip: |-
    a
    b
  empty: ""
  dash: "- x"
  colon: "a: b"
  hash: "a #b"
  quote: it's
  a10: 1
  a9: 1
  aB: 2
  ab: 3
  a-b: 4
  "? odd": 1
  ! tagged: !custom x
list: [[a, b], [], [{x: 1, y: [1]}], {}]
"#,
        r#"
apiVersion: v1
data:
  '? odd': 1
  a-b: 4
  a9: 1
  a10: 1
  aB: 2
  ab: 3
  b20: 1e+20
  b21: 1e+21
  base60: "12:30:45"
  big: 18446744073709551615
  bin: hello
  block: |
    one
      two

    three
  colon: 'a: b'
  dash: '- x'
  date: "2020-01-01T00:00:00Z"
  emoji: "hi \U0001F600 there é"
  empty: ""
  float: 1.2345675e+06
  hash: 'a #b'
  hex: 31
  keep: |+
    x

  lead: |2-
      two
    lines
  long: aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo
    pppp qqqq rrrr ssss
  long-double: "aaaa\tbbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm
    nnnn oooo  pppp qqqq ssss"
  long-single: 'aaaa bbbb: cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm
    nnnn oooo pppp qqqq ssss'
  new-oct: 15
  nul: null
  oct: 511
  "on": "on"
  quote: it's
  small: 1e-05
  spaces: "a\n  b \nc"
  strip: |-
    a
    b
  t: true
  tab: "a\tb"
  tagged: x
  text: "1e3"
  tilde: null
  time: "2020-01-01T10:20:30.5Z"
  under: 1000
  "y": "y"
  "yes": "yes"
kind: ConfigMap
list:
- - a
  - b
- []
- - x: 1
    "y":
    - 1
- {}
metadata:
  name: a
"#,
    );
}

#[test]
fn long_keys_get_a_line_of_their_own() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: v
  ? "a\nb"
  : [1, 2]
"#,
        r#"
apiVersion: v1
data:
  ? |-
    a
    b
  : - 1
    - 2
  ? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
  : v
kind: ConfigMap
metadata:
  name: a
"#,
    );
}

/// The writer of go-yaml looks at the wrong place of a folded text, and kustomize lets it write every object. Annotations are set
/// anew before that.
#[test]
fn folded_texts_get_the_empty_lines_that_they_get_from_kustomize() {
    check(
        r"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations:
    folded: >-
      one
        two
data:
  folded: >-
    one
      two
    three
    four
  kept: >+
    one

  literal: |-
    one
      two
",
        r"
apiVersion: v1
data:
  folded: |-
    one

      two
    three four
  kept: |+
    one


  literal: |-
    one
      two
kind: ConfigMap
metadata:
  annotations:
    folded: |-
      one
        two
  name: a
",
    );
}

/// How a text is written stays with the field: kustomize folds whatever it writes over a folded one, and nothing else.
#[test]
fn what_is_written_over_a_folded_text_is_folded() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml, b.json]
patches:
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a}
    data:
      folded: |
        a
          b
      tagged: "a\n  b"
      number: 5
      literal: >
        a
          b
      quoted: >
        a
          b
      plain: >
        a
          b
      new: >
        a
          b
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
    data:
      new: >
        a
          b
labels:
- pairs: {label: "a\n  b"}
  fields: [{path: data}]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  folded: >-
    one line
  tagged: !!str >
    one line
  number: >-
    4
  label: >-
    one line
  literal: |
    one line
  quoted: 'one line'
  plain: one line
=== b.json
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"label": "one line"}}
"#,
        r#"
apiVersion: v1
data:
  folded: |
    a

      b
  label: |-
    a

      b
  literal: |
    a
      b
  new: |-
    a

      b
  number: "5"
  plain: |
    a
      b
  quoted: |
    a
      b
  tagged: |-
    a

      b
kind: ConfigMap
metadata:
  labels:
    label: |-
      a

        b
  name: a
---
apiVersion: v1
data:
  label: |-
    a
      b
  new: |-
    a
      b
kind: ConfigMap
metadata:
  labels:
    label: |-
      a
        b
  name: b
"#,
    );
}

#[test]
fn what_is_left_out_between_brackets_is_an_empty_string_but_deletes_in_patches() {
    check(
        r"
=== kustomization.yaml
resources: [a.yaml, b.yaml]
patches:
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
    data: {gone: , new: {deep: }}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {a: , b: {c: }, list: [d: ], shared: &s , again: *s, written: null}
block:
  a:
  list:
  -
=== b.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {a: , b: {c: }, gone: x, list: [d: ], written: null}
",
        r#"
apiVersion: v1
block:
  a: null
  list:
  - null
data:
  a: ""
  again: ""
  b:
    c: ""
  list:
  - d: ""
  shared: ""
  written: null
kind: ConfigMap
metadata:
  name: a
---
apiVersion: v1
data:
  b: {}
  list:
  - d: ""
  new: {}
  written: null
kind: ConfigMap
metadata:
  name: b
"#,
    );
}

/// kustomize decodes such a list, and writes its elements as JSON, which it reads again.
#[test]
fn elements_of_lists_of_a_kind_are_written_as_json_first() {
    let list = r"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
kind: XList
items:
- kind: X
  metadata: {name: a, annotations: {x: 1.10, big: 12345678901234567890, z: 0x1f, t: 2001-12-14t21:59:43.10-05:00}}
  spec: {t: 2001-12-14t21:59:43.10-05:00, none: , s: !!str 5, float: 0.00000012}
  block:
    t: 2001-12-14t21:59:43.10-05:00
    d: 2001-12-14
    none:
    folded: >
      a

        b
      c
";
    check(
        list,
        r#"
block:
  d: "2001-12-14T00:00:00Z"
  folded: |
    a

      b
    c
  none: null
  t: "2001-12-14T21:59:43.1-05:00"
kind: X
metadata:
  annotations:
    big: "12345678901234567890"
    t: "2001-12-14T21:59:43.1-05:00"
    x: "1.1"
    z: "31"
  name: a
spec:
  float: 1.2e-07
  none: null
  s: "5"
  t: "2001-12-14T21:59:43.1-05:00"
"#,
    );
    let error = crate::errors(&list.replace("!!str 5", ".inf"));
    assert!(error.contains("json: unsupported value: +Inf"), "{error}");
}

/// go-yaml needs quotes for them between brackets, where all of a JSON object is until a JSON patch makes it anew.
#[test]
fn times_and_nothing_at_all_that_are_put_into_json_are_texts() {
    let files = r#"
=== kustomization.yaml
resources: [from.yaml, to.yaml, to.json]
replacements:
- source: {kind: From, fieldPath: spec.time}
  targets: [{select: {kind: To}, fieldPaths: [spec.time], options: {create: true}}]
- source: {kind: From, fieldPath: spec.none}
  targets: [{select: {kind: To}, fieldPaths: [spec.none], options: {create: true}}]
=== from.yaml
kind: From
metadata: {name: from}
spec:
  time: 2001-12-14t21:59:43.10-05:00
  none: ""
=== to.yaml
kind: ToList
items:
- kind: To
  metadata: {name: element}
---
kind: To
metadata: {name: block}
=== to.json
{"kind": "To", "metadata": {"name": "json"}}
"#;
    let from =
        "kind: From\nmetadata:\n  name: from\nspec:\n  none: \"\"\n  time: \"2001-12-14T21:59:43.1-05:00\"\n";
    let to = |name: &str, new: &str, none: &str, time: &str| {
        format!(
            "---\nkind: To\nmetadata:\n  name: {name}\n{new}spec:\n  none: {none}\n  time: \"{time}-05:00\"\n"
        )
    };
    let block = ("null", "2001-12-14T21:59:43.1");
    let json = ("\"\"", "2001-12-14t21:59:43.10");
    let wanted = |new: &str, json: (&str, &str)| {
        let others = [("block", block), ("element", json), ("json", json)];
        let others = others.map(|(name, (none, time))| to(name, new, none, time));
        format!("{from}{}", others.concat())
    };
    check(files, &wanted("", json));
    let patches =
        "patches:\n- target: {kind: To}\n  patch: '- {op: add, path: /new, value: 1}'\nreplacements:\n";
    check(
        &files.replacen("replacements:\n", patches, 1),
        &wanted("new: 1\n", block),
    );
}

/// kyaml takes a key `<<` away also where it is in quotes; and annotations are texts.
#[test]
fn keys_like_those_that_merge_go_and_annotations_stay_texts() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {k: .inf, l: .nan, m: -.Inf}
data: {"<<": x, a: b, c: d}
"<<": {z: [1, {"<<": y}]}
"#,
        r#"
apiVersion: v1
data:
  a: b
  c: d
kind: ConfigMap
metadata:
  annotations:
    k: ".inf"
    l: ".nan"
    m: "-.Inf"
  name: a
"#,
    );
}
