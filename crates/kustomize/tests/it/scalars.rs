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
