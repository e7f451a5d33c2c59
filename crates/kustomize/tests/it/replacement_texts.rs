//! Replacements in texts that are YAML themselves.

use crate::check;

#[test]
fn texts_of_several_lines_between_brackets_are_indented_once_more_for_each() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
replacements:
- sourceValue: "a\nb"
  targets:
  - select: {kind: ConfigMap}
    fieldPaths: [data.yaml.a.b, data.yaml.list.0.c.0.d, data.yaml.plain]
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data:
  yaml: |
    a: {b: 'one'}
    list:
    - {c: [{d: 'x'}]}
    plain: 'y'
"#,
        "apiVersion: v1\ndata:\n  yaml: |-\n    a: {b: 'a\n\n        b'}\n    list:\n    - {c: [{d: 'a\n\n            b'}]}\n    plain: 'a\n\n      b'\nkind: ConfigMap\nmetadata:\n  name: cfg\n",
    );
}
