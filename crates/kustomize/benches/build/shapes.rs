//! Kustomizations with as many rules of one sort as objects: what takes quadratic time where each rule looks at each object.

use std::fmt::Write as _;

/// The sorts of rules.
pub(crate) const SHAPES: [&str; 7] = [
    "images",
    "replicas",
    "vars",
    "replacements",
    "patches",
    "targets",
    "patchesJson6902",
];

/// Files of an overlay with so many rules for so many objects.
pub(crate) fn files(shape: &str, count: usize) -> Vec<(String, String)> {
    let mut base = String::new();
    for at in 0..count {
        let _ = write!(
            base,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app{at}\nspec:\n  replicas: 1\n  template:\n    \
             spec:\n      containers:\n      - name: app\n        image: registry.example.com/app{at}:v1\n        env:\n        - \
             {{name: OWN, value: $(VAR{at})}}\n"
        );
    }
    let mut overlay = format!(
        "resources: [../base]\n{}:\n",
        if shape == "targets" { "patches" } else { shape }
    );
    for at in 0..count {
        let target = format!("target: {{kind: Deployment, name: app{at}}}");
        let operations = format!("- {{op: replace, path: /spec/replicas, value: {at}}}");
        let _ = match shape {
            "images" => writeln!(overlay, "- {{name: registry.example.com/app{at}, newTag: v{at}}}"),
            "replicas" => writeln!(overlay, "- {{name: app{at}, count: {at}}}"),
            "vars" => writeln!(
                overlay,
                "- {{name: VAR{at}, objref: {{apiVersion: apps/v1, kind: Deployment, name: app{at}}}}}"
            ),
            "replacements" => writeln!(
                overlay,
                "- source: {{kind: Deployment, name: app{at}}}\n  targets:\n  - select: {{kind: Deployment, name: app{at}}}\n    \
                 fieldPaths: ['spec.template.spec.containers.[name=app].env.[name=OWN].value']"
            ),
            "patches" => writeln!(
                overlay,
                "- patch: '{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: app{at}}}, spec: {{replicas: {at}}}}}'"
            ),
            "targets" => writeln!(overlay, "- {target}\n  patch: '{operations}'"),
            _ => writeln!(
                overlay,
                "- target: {{group: apps, version: v1, kind: Deployment, name: app{at}}}\n  patch: '{operations}'"
            ),
        };
    }
    vec![
        ("base/app.yaml".to_owned(), base),
        (
            "base/kustomization.yaml".to_owned(),
            "resources: [app.yaml]\n".to_owned(),
        ),
        ("overlay/kustomization.yaml".to_owned(), overlay),
    ]
}
