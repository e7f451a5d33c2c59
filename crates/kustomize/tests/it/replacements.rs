//! Replacements.

use crate::{check, with_a};

/// What values are copied from, and where they go.
const SOURCE_AND_WEB: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: src
data: {host: "db.example.com:5432", n: "7", list: [x, y]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.0
"#;

#[test]
fn a_value_goes_to_fields_of_other_objects() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, name: src, fieldPath: data.n}
  targets:
  - select: {kind: Deployment}
    fieldPaths: [spec.replicas, "spec.template.spec.containers.[name=web].env.0.value"]
    options: {create: true}
"#,
            SOURCE_AND_WEB,
        ),
        r#"
apiVersion: v1
data:
  host: db.example.com:5432
  list:
  - x
  - "y"
  "n": "7"
kind: ConfigMap
metadata:
  name: src
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 7
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - env:
        - value: 7
        image: nginx:1.0
        name: web
"#,
    );
}

#[test]
fn parts_of_texts_are_cut_and_put_in() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, name: src, fieldPath: data.host, options: {delimiter: ":", index: 0}}
  targets:
  - select: {name: web}
    fieldPaths: ["spec.template.spec.containers.*.image"]
    options: {delimiter: ":", index: 1}
- sourceValue: fixed
  targets:
  - select: {kind: Deploy.*}
    reject: [{name: nothing}]
    fieldPaths: ["metadata.annotations.[a.b/c]"]
    options: {create: true}
"#,
            SOURCE_AND_WEB,
        ),
        r#"
apiVersion: v1
data:
  host: db.example.com:5432
  list:
  - x
  - "y"
  "n": "7"
kind: ConfigMap
metadata:
  name: src
---
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    a.b/c: fixed
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: nginx:db.example.com
        name: web
"#,
    );
}

#[test]
fn whole_lists_are_copied() {
    check(
        &with_a(
            r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, name: src, fieldPath: data.list}
  targets:
  - select: {kind: Deployment}
    fieldPaths: [spec.template.spec.containers.0.args]
    options: {create: true}
"#,
            SOURCE_AND_WEB,
        ),
        r#"
apiVersion: v1
data:
  host: db.example.com:5432
  list:
  - x
  - "y"
  "n": "7"
kind: ConfigMap
metadata:
  name: src
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - args:
        - x
        - "y"
        image: nginx:1.0
        name: web
"#,
    );
}

#[test]
fn values_reach_into_json_in_a_text() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, name: a, fieldPath: data.v}
  targets:
  - select: {name: a}
    fieldPaths: [data.json.x.y]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  v: new
  json: '{"x": {"y": "old", "z": [1]}}'
"#,
        r#"
apiVersion: v1
data:
  json: '{"x":{"y":"new","z":[1]}}'
  v: new
kind: ConfigMap
metadata:
  name: a
"#,
    );
}

#[test]
fn a_value_that_is_written_over_where_it_comes_from_is_copied_as_it_is_then() {
    let text = "\
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: ConfigMap, fieldPath: data.a}
  targets:
  - {select: {kind: ConfigMap}, fieldPaths: [data.a], options: {delimiter: '-', index: 1}}
  - {select: {kind: ConfigMap}, fieldPaths: [data.b]}
=== a.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: x, b: y}}
";
    let want = "\
apiVersion: v1
data:
  a: x-x
  b: x-x
kind: ConfigMap
metadata:
  name: c
";
    check(text, want);
}

#[test]
fn a_text_that_a_transformer_has_set_means_what_a_number_in_its_place_looks_like() {
    let text = "\
=== kustomization.yaml
resources: [a.yaml]
images: [{name: i, newTag: '9'}]
replacements:
- source: {kind: Service, fieldPath: spec.port, options: {delimiter: /, index: 0}}
  targets: [{select: {kind: Pod}, fieldPaths: [spec.containers.*.image]}]
=== a.yaml
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {port: 80}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{image: i}, {image: j}, {image: 'i'}]}}
";
    let want = "\
apiVersion: v1
kind: Service
metadata:
  name: s
spec:
  port: 80
---
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - image: 80
  - image: \"80\"
  - image: \"80\"
";
    check(text, want);
}

#[test]
fn a_yaml_text_keeps_how_it_is_written() {
    let text = "\
=== kustomization.yaml
resources: [a.yaml]
replacements:
- sourceValue: two
  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.t.a.b, data.t.new.deep], options: {create: true}}]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  t: |
    # of the document

    # of a
    a:   # at a
        # of b
        b: 'one'   # at b
        # below b

        mode: 0777
        number: 1.50
        flag: yes

    base: &x {k: \"v\"}
    use: *x
    merged:
      <<: *x
    folded: >
      some
      words
    list:
      - x
      # of y
      - y:
        z: ~
    # the end
";
    let want = "\
apiVersion: v1
data:
  t: |-
    # of the document

    # of a
    a: # at a
      # of b
      b: 'two' # at b
      # below b

      mode: 0777
      number: 1.50
      flag: yes
    base: &x {k: \"v\"}
    use: *x
    merged:
      !!merge <<: *x
    folded: >
      some words

    list:
    - x
    # of y
    - y:
      z: ~
      # the end
    new:
      deep: two
kind: ConfigMap
metadata:
  name: c
";
    check(text, want);
}

#[test]
fn a_text_in_a_text_is_looked_into_but_not_changed() {
    let text = "\
=== kustomization.yaml
resources: [a.yaml]
replacements:
- sourceValue: two
  targets: [{select: {kind: Odd}, fieldPaths: ['spec.*.t.a']}]
=== a.yaml
{apiVersion: v1, kind: Odd, metadata: {name: c}, spec: [{t: \"a: one\"}]}
";
    let want = "\
apiVersion: v1
kind: Odd
metadata:
  name: c
spec:
- t: 'a: one'
";
    check(text, want);
}

/// kustomize 5.8 does not split what is in a text.
#[test]
fn a_delimiter_says_nothing_about_a_field_in_a_text() {
    check(
        r#"
=== kustomization.yaml
resources: [r.yaml]
replacements:
- source: {kind: Service, fieldPath: spec.port}
  targets:
  - select: {kind: ConfigMap}
    fieldPaths: [data.text.a, data.text.made, data.json.a, data.b]
    options: {delimiter: "/", index: 5, create: true}
=== r.yaml
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {port: 80}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  text: |
    a: x/y
  json: '{"a": "x/y"}'
  b: x/y
"#,
        r#"apiVersion: v1
data:
  b: x/y/80
  json: '{"a":"80"}'
  text: |-
    a: "80"
    made: 80
kind: ConfigMap
metadata:
  name: c
---
apiVersion: v1
kind: Service
metadata:
  name: s
spec:
  port: 80
"#,
    );
}

#[test]
fn what_is_made_in_null_is_lost() {
    for path in [
        "spec.list.0.x",
        "spec.list.0.0",
        "spec.list.1.a.x",
        "spec.list.1.a.0",
        "spec.list.1.a.[n=b].c",
    ] {
        let text = r#"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: Odd}
  patch: '[{"op": "add", "path": "/spec", "value": {"list": [null, {"a": null}]}}]'
replacements:
- sourceValue: v
  targets: [{select: {kind: Odd}, fieldPaths: ["PATH"], options: {create: true}}]
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
"#;
        check(
            &text.replace("PATH", path),
            "apiVersion: example.com/v1\nkind: Odd\nmetadata:\n  name: o\nspec:\n  list:\n  - null\n  - a: null\n",
        );
    }
}

#[test]
fn what_is_made_in_the_value_itself_is_part_of_it() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- source: {kind: Odd, fieldPath: spec.x}
  targets: [{select: {kind: Odd}, fieldPaths: [spec.x.a], options: {create: true}}]
=== a.yaml
apiVersion: example.com/v1
kind: Odd
metadata: {name: o}
spec: {x: {c: d}}
"#,
        "apiVersion: example.com/v1\nkind: Odd\nmetadata:\n  name: o\nspec:\n  x:\n    a:\n      a: {}\n      c: d\n    c: d\n",
    );
}
