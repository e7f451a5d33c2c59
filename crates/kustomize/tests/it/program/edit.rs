//! Patches, replacements and vars.

use super::dice::Dice;
use super::object::{WORKLOADS, labels, pod};
use super::scalar::{block, is_for_patches, patched, quoted, string};

/// A strategic merge patch for a workload.
pub(super) fn strategic(dice: &mut Dice) -> String {
    let (version, kind, name) = dice.pick(&[
        WORKLOADS[0],
        WORKLOADS[0],
        WORKLOADS[1],
        WORKLOADS[2],
        WORKLOADS[3],
    ]);
    let annotations = dice.maybe(40, |dice| {
        let pairs: Vec<String> = dice
            .some(&["a", "b", "z"], 50)
            .into_iter()
            .map(|key| {
                format!(
                    "{key}: {}",
                    if dice.chance(25) {
                        "null".to_owned()
                    } else {
                        string(dice)
                    }
                )
            })
            .collect();
        format!(", annotations: {{{}}}", pairs.join(", "))
    });
    let own = dice.maybe(40, |dice| format!(", labels: {{{}}}", patched_labels(dice)));
    let spec = pod(dice, true);
    let inner = format!(
        "{{{}spec: {spec}}}",
        dice.maybe(40, |dice| format!(
            "metadata: {{labels: {{{}}}}}, ",
            patched_labels(dice)
        ))
    );
    let spec = match kind {
        "Pod" => spec,
        "CronJob" => format!(
            "{{jobTemplate: {{spec: {{template: {inner}}}}}, x: {}}}",
            patched(dice)
        ),
        _ => format!(
            "{{replicas: {}, template: {inner}{}{}}}",
            dice.below(5),
            dice.maybe(40, |dice| format!(", x: {}", patched(dice))),
            dice.maybe(20, |dice| format!(
                ", selector: {{matchLabels: {{{}}}}}",
                patched_labels(dice)
            ))
        ),
    };
    let directive = dice.maybe(4, |dice| {
        format!(", $patch: {}", dice.pick(&["delete", "merge", "replace"]))
    });
    format!(
        "{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}{own}{annotations}}}, spec: {spec}{directive}}}"
    )
}

fn patched_labels(dice: &mut Dice) -> String {
    if dice.chance(60) {
        labels(dice)
    } else {
        format!(
            "{}: {}",
            dice.pick(&["a", "app", "l"]),
            dice.pick(&["null", "5", "true", "\"7\"", "x"])
        )
    }
}

/// Operations on a workload, as JSON.
pub(super) fn operations(dice: &mut Dice) -> String {
    let mut all = Vec::new();
    for _ in 0..1 + dice.below(2) {
        let json = dice.pick(&[
            "1.50",
            "\"1\"",
            "[1, {\"a\": null}]",
            "{\"b\": 1, \"a\": 2}",
            "\"yes\"",
            "12345678901234567890",
            "1e3",
            "null",
            "\"a\\nb\"",
        ]);
        all.push(match dice.below(9) {
            0 => format!("{{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": {json}}}"),
            1 => "{\"op\": \"remove\", \"path\": \"/spec/x\"}".to_owned(),
            2 => "{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 7}".to_owned(),
            3 => "{\"op\": \"copy\", \"from\": \"/spec/x\", \"path\": \"/spec/w\"}".to_owned(),
            4 => "{\"op\": \"move\", \"from\": \"/spec/x\", \"path\": \"/spec/ww\"}".to_owned(),
            5 => "{\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0\", \"value\": {\"name\": \"n\"}}".to_owned(),
            6 => "{\"op\": \"add\", \"path\": \"/spec/template/spec/containers/-\", \"value\": {\"name\": \"n\"}}".to_owned(),
            7 => format!("{{\"op\": \"add\", \"path\": \"/metadata/{}\", \"value\": \"j\"}}", dice.pick(&["labels/l", "annotations/a", "name", "namespace"])),
            _ => format!("{{\"op\": \"add\", \"path\": \"/spec/new\", \"value\": {json}}}"),
        });
    }
    format!("[{}]", all.join(", "))
}

pub(super) fn named_target(dice: &mut Dice) -> String {
    let (version, kind, name) = dice.pick(&WORKLOADS);
    match version.split_once('/') {
        Some((group, version)) => {
            format!("{{group: {group}, version: {version}, kind: {kind}, name: {name}}}")
        }
        None => format!("{{version: {version}, kind: {kind}, name: {name}}}"),
    }
}

pub(super) fn target(dice: &mut Dice) -> String {
    dice.pick(&[
        "{kind: Deployment}",
        "{kind: Deployment}",
        "{kind: StatefulSet}",
        "{kind: Deployment|StatefulSet}",
        "{name: d}",
        "{name: .*d}",
        "{labelSelector: a=b}",
        "{labelSelector: 'l in (a, b)'}",
        "{annotationSelector: a=b}",
        "{kind: Deployment, namespace: n1}",
        "{group: apps}",
        "{}",
    ])
    .to_owned()
}

/// An entry of `patches`.
pub(super) fn patch(dice: &mut Dice) -> String {
    let options = |dice: &mut Dice, target: &str| {
        // A generated object of another kind has another hash than with kustomize; see the README.
        let choices: &[&str] = if target.contains("kind") {
            &[
                "allowNameChange: true",
                "allowKindChange: true",
                "allowNameChange: true, allowKindChange: true",
            ]
        } else {
            &["allowNameChange: true"]
        };
        dice.maybe(12, |dice| format!(", options: {{{}}}", dice.pick(choices)))
    };
    let target = target(dice);
    let (own, selected) = (options(dice, "kind"), options(dice, &target));
    match dice.below(8) {
        0 | 1 => format!("- {{patch: {}{own}}}\n", quoted(&strategic(dice))),
        2 => format!(
            "- {{target: {target}, patch: {}{selected}}}\n",
            quoted(&strategic(dice))
        ),
        3 => format!("- {{path: {}{own}}}\n", dice.pick(&["p.yaml", "more-p.yaml"])),
        4 => format!("- {{target: {target}, path: p.yaml{selected}}}\n"),
        5 => format!("- {{patch: {}{own}}}\n", quoted(&lines(dice))),
        6 => format!("- {{target: {target}, path: j.yaml}}\n"),
        _ => format!("- {{target: {target}, patch: {}}}\n", quoted(&operations(dice))),
    }
}

/// A strategic merge patch without brackets around it.
pub(super) fn lines(dice: &mut Dice) -> String {
    let (version, kind, name) = dice.pick(&[WORKLOADS[0], WORKLOADS[0], WORKLOADS[1]]);
    let mut text = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n");
    if dice.chance(30) {
        text.push_str(&format!(
            "  annotations:\n    a: {}\n    # of b\n    b: null\n",
            string(dice)
        ));
    }
    text.push_str("spec:\n");
    if dice.chance(60) {
        text.push_str(&format!("  x: {}\n", patched_block(dice, 4)));
    }
    if dice.chance(30) {
        text.push_str(&format!(
            "  list:\n  - name: q\n    v: {}\n  - {}\n",
            patched(dice),
            patched(dice)
        ));
    }
    text.push_str("  template:\n    spec:\n      containers:\n");
    for name in ["b", "a", "n"] {
        if !dice.chance(60) {
            continue;
        }
        text.push_str(&format!("      - name: {name} # of {name}\n"));
        if dice.chance(30) {
            text.push_str(dice.pick(&[
                "        $patch: delete\n",
                "        $patch: replace\n",
                "        image: null\n",
                "        image: i:7\n",
            ]));
        }
        if dice.chance(40) {
            text.push_str(&format!(
                "        env:\n        - name: X\n          value: {}\n        - {{name: Z, value: q}}\n",
                string(dice)
            ));
        }
        if dice.chance(30) {
            text.push_str(dice.pick(&[
                "        ports:\n        - containerPort: 80\n          name: p\n",
                "        ports:\n        - containerPort: 80\n          protocol: TCP\n        - containerPort: 83\n          protocol: UDP\n",
                "        args:\n        - |\n          x\n          y\n        - 'q'\n",
                "        $setElementOrder/env:\n        - name: Z\n        - name: X\n",
                "        $deleteFromPrimitiveList/args: [a]\n",
                "        volumeMounts:\n        - $patch: replace\n        - mountPath: /z\n          name: v\n",
            ]));
        }
    }
    if text.ends_with("containers:\n") {
        text.push_str("      - name: a\n        tty: yes\n");
    }
    if dice.chance(20) {
        text.push_str(dice.pick(&[
            "      $retainKeys: [containers]\n",
            "      nodeSelector:\n        $patch: replace\n        q: r\n",
            "      volumes:\n      - name: v\n        $retainKeys: [name, emptyDir]\n        emptyDir: {}\n",
            "  strategy:\n    $retainKeys:\n    - type\n    type: Recreate\n",
        ]));
    }
    text
}

fn patched_block(dice: &mut Dice, indent: usize) -> String {
    loop {
        let text = block(dice, indent);
        if is_for_patches(&text) {
            return text;
        }
    }
}

const SOURCES: [&str; 14] = [
    "kind: Secret, name: sec, fieldPath: data.k",
    "kind: Service, name: svc",
    "kind: Service, fieldPath: spec.v",
    "kind: Service, fieldPath: spec.ports.0.port",
    "kind: ConfigMap, name: cm, fieldPath: data.k",
    "kind: Deployment, fieldPath: spec.x",
    "kind: Deployment, fieldPath: metadata.labels.l",
    "kind: Deployment, fieldPath: metadata.labels",
    "kind: Deployment, name: d",
    "kind: Deployment, fieldPath: metadata.namespace",
    "kind: ConfigMap, name: cfg, fieldPath: data.one",
    "kind: Odd, fieldPath: spec",
    "kind: Deployment, fieldPath: 'spec.template.spec.containers.[name=a].image'",
    "kind: StatefulSet, fieldPath: spec.replicas",
];

const PATHS: [&str; 27] = [
    "spec.x",
    "spec.template.spec.containers.*.image",
    "spec.template.spec.containers.[name=a].env.[name=X].value",
    "metadata.annotations.a",
    "spec.new.deep",
    "spec.template.spec.containers.0.args.0",
    "spec.x.a",
    "metadata.annotations.c\\.d/e",
    "metadata.annotations.[c.d/e]",
    "metadata.labels.l",
    "metadata.name",
    "metadata.namespace",
    "spec.template.metadata.labels.l",
    "spec.selector.matchLabels.l",
    "spec.replicas",
    "spec.template.spec.containers.[image=i.*].name",
    "spec.list.0",
    "spec.list.[name=q].v",
    "spec.template.spec.containers.-.image",
    "data.k",
    "data.one",
    "data.json.a.b",
    "data.yaml.a.b",
    "data.yaml.list.0",
    "data.yaml.new",
    "spec.x.b.c",
    "data.new",
];

/// An entry of `replacements`.
pub(super) fn replacement(dice: &mut Dice) -> String {
    if dice.chance(8) {
        return "- path: reps.yaml\n".to_owned();
    }
    inline_replacement(dice)
}

/// An entry of `replacements` that is not in a file of its own.
pub(super) fn inline_replacement(dice: &mut Dice) -> String {
    let source = if dice.chance(20) {
        // An empty text that is put between brackets differs, as the README says.
        match string(dice).as_str() {
            "''" | "\"\"" => "sourceValue: full".to_owned(),
            text => format!("sourceValue: {text}"),
        }
    } else {
        let options = if dice.chance(30) {
            format!(
                ", options: {{delimiter: '{}', index: {}}}",
                dice.pick(&["/", "-", ":", "."]),
                dice.below(3)
            )
        } else {
            String::new()
        };
        format!("source: {{{}{options}}}", dice.pick(&SOURCES))
    };
    let targets: Vec<String> = (0..1 + dice.below(2))
        .map(|_| {
            let select = dice.pick(&[
                "kind: Deployment",
                "kind: Deployment",
                "kind: StatefulSet",
                "kind: ConfigMap, name: cfg",
                "kind: ConfigMap",
                "name: d",
                "kind: Odd",
                "labelSelector: l=a",
                "kind: '.*t'",
            ]);
            let reject = dice.maybe(15, |dice| {
                format!(
                    ", reject: [{{{}}}]",
                    dice.pick(&["name: d", "kind: StatefulSet", "labelSelector: a=b", "name: x"])
                )
            });
            let paths: Vec<String> = (0..1 + dice.below(2))
                .map(|_| quoted(dice.pick(&PATHS)))
                .collect();
            let options = dice.pick(&[
                "",
                ", options: {create: true}",
                ", options: {create: true}",
                ", options: {delimiter: /, index: 0}",
                ", options: {delimiter: '-', index: 1}",
                ", options: {delimiter: ':', index: -1}",
                ", options: {delimiter: '/', index: 5, create: true}",
            ]);
            format!(
                "  - {{select: {{{select}}}{reject}, fieldPaths: [{}]{options}}}\n",
                paths.join(", ")
            )
        })
        .collect();
    format!("- {source}\n  targets:\n{}", targets.concat())
}

/// The field `vars`.
pub(super) fn vars(dice: &mut Dice) -> String {
    let mut all = String::new();
    for name in dice.some(&["V", "W"], 70) {
        let (object, path) = dice.pick(&[
            ("apiVersion: v1, kind: Service, name: svc", ""),
            ("apiVersion: apps/v1, kind: Deployment, name: d", ""),
            (
                "apiVersion: apps/v1, kind: Deployment, name: d",
                "metadata.namespace",
            ),
            ("apiVersion: apps/v1, kind: Deployment, name: d", "spec.x"),
            ("apiVersion: apps/v1, kind: Deployment, name: d", "spec.replicas"),
            ("apiVersion: v1, kind: ConfigMap, name: cm", "data.k"),
            (
                "apiVersion: apps/v1, kind: Deployment, name: d",
                "spec.template.spec.containers[0].name",
            ),
            ("apiVersion: v1, kind: Secret, name: sec", "data[k]"),
            ("kind: Deployment, group: apps, version: v1, name: d", ""),
        ]);
        let path = if path.is_empty() {
            String::new()
        } else {
            format!(", fieldref: {{fieldPath: '{path}'}}")
        };
        all.push_str(&format!("- {{name: {name}, objref: {{{object}}}{path}}}\n"));
    }
    if all.is_empty() {
        "vars: []\n".to_owned()
    } else {
        format!("vars:\n{all}")
    }
}
