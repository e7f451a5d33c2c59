//! The files that stand beside each kustomization.

use super::dice::Dice;
use super::{edit, plugin};

/// Their names and their documents.
pub(super) fn files(dice: &mut Dice) -> Vec<(&'static str, Vec<String>)> {
    let transformers = (0..1 + dice.below(2))
        .map(|_| format!("{}\n", plugin::transformer(dice)))
        .collect();
    let mut all = vec![
        ("p.yaml", vec![edit::strategic(dice)]),
        (
            "more-p.yaml",
            vec![edit::lines(dice), format!("{}\n", edit::strategic(dice))],
        ),
        ("j.yaml", vec![operations_as_yaml(dice)]),
        ("reps.yaml", vec![replacements_file(dice)]),
        ("t.yaml", transformers),
        ("g.yaml", vec![plugin::generator(dice)]),
        (
            "plugs/kustomization.yaml",
            vec!["resources: [t.yaml]\nnamePrefix: plug-\n".to_owned()],
        ),
        ("plugs/t.yaml", vec![plugin::transformer(dice)]),
        ("plugs/p.yaml", vec![edit::strategic(dice)]),
    ];
    for (name, text) in FIXED {
        all.push((name, vec![text.to_owned()]));
    }
    all
}

fn operations_as_yaml(dice: &mut Dice) -> String {
    dice.pick(&[
        "- op: add\n  path: /spec/x\n  value: 1.50\n",
        "- op: replace\n  path: /spec/x\n  value:\n    b: yes\n    a: 0777\n",
        "# all of it\n- op: test\n  path: /spec/replicas\n  value: 1\n- {op: remove, path: /spec/replicas}\n",
        "- op: add\n  path: /metadata/annotations\n  value:\n    j: 'true'\n    k: |\n      x\n      y\n",
        "- op: add\n  path: /metadata/labels/a~1b\n  value: '1'\n",
        "[{op: add, path: /spec/template/spec/containers/0/image, value: \"i:9\"}]\n",
        "- op: copy\n  from: /spec/template\n  path: /spec/other\n- op: move\n  from: /spec/x\n  path: /spec/other/x\n",
        "- op: replace\n  path: /metadata/name\n  value: renamed\n",
        "- op: add\n  path: /spec/x\n  value: 2001-12-14\n",
    ])
    .to_owned()
}

fn replacements_file(dice: &mut Dice) -> String {
    let entry = edit::inline_replacement(dice);
    if dice.chance(50) {
        return entry;
    }
    // One alone is not in a list.
    let mut lines = entry.lines();
    let first = lines.next().unwrap_or_default().replacen("- ", "", 1);
    let rest: Vec<&str> = lines
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    format!("{first}\n{}\n", rest.join("\n"))
}

const FIXED: [(&str, &str); 10] = [
    ("f.txt", "line\nmore\n"),
    ("x.env", "E=1\n# c\nF=a b\n"),
    ("y.env", "\u{feff}G= x \r\n\r\n  H=\"q\"\nI=\n"),
    ("specs.yaml", SPECS),
    ("more-specs.yaml", MORE_SPECS),
    ("last-specs.yaml", LAST_SPECS),
    (
        "value-targets.yaml",
        "targets: [{selector: {kind: Odd}, fieldPath: spec/va}, {fieldPath: metadata/annotations/vt}]\n",
    ),
    ("crd.json", CRD),
    ("schema.json", SCHEMA),
    (
        "schema.yaml",
        "definitions:\n  v1.Odd:\n    x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Odd}]\n    properties: {spec: {properties: {a: {type: array, items: {type: object}, x-kubernetes-patch-merge-key: name, x-kubernetes-patch-strategy: merge}}}}\n",
    ),
];

/// A file of `configurations`.
const SPECS: &str = "\
varReference:
- {path: spec/x}
- {path: metadata/labels}
- {path: spec/template/metadata/annotations}
- {path: data}
nameReference:
- {kind: ConfigMap, fieldSpecs: [{path: spec/x, kind: Odd}, {path: spec/a, kind: Odd}]}
commonLabels:
- {path: spec/mine, create: true, kind: Odd}
";

/// Another one.
const MORE_SPECS: &str = "\
namePrefix:
- {path: metadata/annotations/a}
- {path: metadata/name}
images:
- {path: spec/x, kind: Deployment}
namespace:
- {path: spec/ns, create: true, kind: Odd}
commonAnnotations:
- {path: spec/x, kind: Odd}
replicas:
- {path: spec/count, create: true, kind: Odd}
";

/// And one more.
const LAST_SPECS: &str = "\
nameReference:
- kind: Deployment
  group: apps
  fieldSpecs:
  - {path: spec/a/name, kind: Odd}
  - {path: metadata/annotations/a}
- {kind: Odd, fieldSpecs: [{path: spec/x, kind: Deployment}, {path: metadata/labels/l}]}
nameSuffix:
- {path: metadata/labels/l, kind: Deployment}
labels:
- {path: spec/more, create: true, kind: Odd}
templateLabels:
- {path: spec/t, create: true, kind: Odd}
commonLabels:
- {path: spec/template/metadata/labels, create: true, kind: Odd, group: example.com}
";

/// What a custom resource's definition tells of its fields.
const CRD: &str = r#"{
  "example.com/v1.Odd": {
    "Schema": {
      "x-kubernetes-annotations": "",
      "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": "k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta"},
        "spec": {"$ref": "example.com/v1.OddSpec"}
      }
    },
    "Dependencies": ["example.com/v1.OddSpec"]
  },
  "example.com/v1.OddSpec": {
    "Schema": {
      "properties": {
        "x": {"type": "string", "x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "Secret"},
        "a": {"type": "object", "x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "Service", "x-kubernetes-object-ref-name-key": "name"},
        "b": {"x-kubernetes-label-selector": "", "type": "object"},
        "c": {"x-kubernetes-identity": "", "type": "string"}
      }
    }
  }
}
"#;

/// Which lists of a custom resource are merged.
const SCHEMA: &str = r##"{
  "definitions": {
    "v1.Odd": {
      "type": "object",
      "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Odd"}],
      "properties": {
        "spec": {"$ref": "#/definitions/v1.OddSpec"}
      }
    },
    "v1.OddSpec": {
      "properties": {
        "list": {
          "type": "array",
          "x-kubernetes-patch-merge-key": "name",
          "x-kubernetes-patch-strategy": "merge",
          "items": {"type": "object"}
        }
      }
    },
    "v1.Deployment": {
      "x-kubernetes-group-version-kind": [{"group": "apps", "version": "v1", "kind": "Deployment"}],
      "properties": {
        "spec": {"properties": {"list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object"}}}}
      }
    }
  }
}
"##;
