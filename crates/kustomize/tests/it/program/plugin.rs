//! Generators, transformers and validators of the built-in kinds.

use super::dice::Dice;
use super::edit::{inline_replacement, lines, named_target, operations, strategic, target};
use super::object::labels;
use super::scalar::{TIME, any, quoted, string};

type Make = fn(&mut Dice) -> String;

const TRANSFORMERS: [Make; 16] = [
    |dice| {
        format!(
            "kind: LabelTransformer, labels: {{{}}}, fieldSpecs: [{{path: metadata/labels, create: true}}, {{path: spec/mine, create: true}}]",
            labels(dice)
        )
    },
    |dice| {
        format!(
            "kind: AnnotationsTransformer, annotations: {{t: {}}}, fieldSpecs: [{{path: metadata/annotations, create: true}}, {{path: spec/template/metadata/annotations, kind: Deployment, create: true}}]",
            string(dice)
        )
    },
    |_| "kind: PrefixTransformer, prefix: tp-, fieldSpecs: [{path: metadata/name}]".to_owned(),
    |_| {
        "kind: SuffixTransformer, suffix: -ts, fieldSpecs: [{path: metadata/name}, {path: spec/x, kind: Deployment}]".to_owned()
    },
    |_| {
        "kind: PrefixSuffixTransformer, prefix: ps-, suffix: -ps, fieldSpecs: [{path: metadata/name}]"
            .to_owned()
    },
    |dice| {
        let subjects = dice.pick(&[
            "",
            "setRoleBindingSubjects: allServiceAccounts, ",
            "setRoleBindingSubjects: none, ",
            "unsetOnly: true, ",
        ]);
        let specs = dice.pick(&[
            "[{path: metadata/namespace, create: true}]",
            "[{path: spec/ns, create: true, kind: Odd}]",
            "[]",
        ]);
        format!(
            "kind: NamespaceTransformer, metadata: {{name: t, namespace: n3}}, {subjects}fieldSpecs: {specs}"
        )
    },
    |dice| {
        format!(
            "kind: PatchTransformer, target: {}, patch: {}",
            target(dice),
            quoted(&operations(dice))
        )
    },
    |dice| {
        format!(
            "kind: PatchTransformer, {}patch: {}",
            dice.pick(&["", "target: {kind: Deployment}, "]),
            quoted(&lines(dice))
        )
    },
    |dice| {
        format!(
            "kind: PatchJson6902Transformer, target: {}, {}",
            named_target(dice),
            dice.pick(&[
                "path: j.yaml",
                "jsonOp: '[{\"op\": \"add\", \"path\": \"/spec/w\", \"value\": 1.50}]'"
            ])
        )
    },
    |dice| {
        format!(
            "kind: PatchStrategicMergeTransformer, {}",
            match dice.below(3) {
                0 => "paths: [p.yaml]".to_owned(),
                1 => "paths: [more-p.yaml]".to_owned(),
                _ => format!("patches: {}", quoted(&strategic(dice))),
            }
        )
    },
    |dice| {
        format!(
            "kind: ImageTagTransformer, imageTag: {{name: i, {}}}, fieldSpecs: [{{path: spec/template/spec/containers/image}}]",
            dice.pick(&["newTag: t9", "newName: n/n", "digest: sha256:9", "tagSuffix: -q"])
        )
    },
    |dice| {
        format!(
            "kind: ReplicaCountTransformer, replica: {{name: {}, count: {}}}, fieldSpecs: [{{path: spec/replicas, create: true, kind: {}}}]",
            dice.pick(&["d", "st", "odd"]),
            dice.below(9),
            dice.pick(&["Deployment", "StatefulSet", "Odd"])
        )
    },
    |_| "kind: HashTransformer".to_owned(),
    |dice| {
        format!(
            "kind: ValueAddTransformer, value: {}, {}",
            any(dice)
                .replace(TIME, "2001")
                .replace("12345678901234567890", "7"),
            value_targets(dice)
        )
    },
    |dice| {
        format!(
            "kind: ValueAddTransformer, {}{}",
            dice.pick(&["value: '', ", "value: ' ', ", ""]),
            value_targets(dice)
        )
    },
    |dice| {
        format!(
            "kind: ReplacementTransformer, replacements: {}",
            replacements(dice)
        )
    },
];

fn value_targets(dice: &mut Dice) -> String {
    if dice.chance(15) {
        return "targetFilePath: value-targets.yaml".to_owned();
    }
    let entry = |dice: &mut Dice| {
        let position = dice.maybe(30, |dice| format!(", filePathPosition: {}", dice.below(4)));
        let select = dice.pick(&[
            "selector: {kind: Deployment}, ",
            "selector: {kind: Deployment|Odd}, ",
            "selector: {name: d}, ",
            "selector: {labelSelector: a=b}, ",
            "",
        ]);
        let path = dice.pick(&[
            "metadata/annotations/va",
            "metadata/annotations/a",
            "spec/va/deep",
            "metadata/name",
            "metadata/namespace",
            "spec/x",
            "spec/v",
            "data/k",
            "spec",
            "spec/template/spec/containers/0/image",
            "spec/template/spec/containers/[name=a]/image",
            "spec/template/spec/containers/[name=n]/env/[name=X]/value",
            "spec/template/spec/containers/-/args/[=q]",
            "spec//x",
        ]);
        format!("{{{select}fieldPath: {path}{position}}}")
    };
    let first = entry(dice);
    let second = dice.maybe(30, |dice| format!(", {}", entry(dice)));
    format!("targets: [{first}{second}]")
}

fn replacements(dice: &mut Dice) -> String {
    if dice.chance(30) {
        "[{path: reps.yaml}]".to_owned()
    } else {
        // JSON can stand between brackets as it is.
        let text = inline_replacement(dice);
        yaml::parse(text.as_bytes()).map_or_else(|_| "[]".to_owned(), |value| model::json::to_string(&value))
    }
}

const GENERATORS: [Make; 3] = [
    |dice| {
        let options = dice.pick(&[
            "",
            ", options: {disableNameSuffixHash: true}",
            ", behavior: merge",
            ", options: {labels: {o: p}}",
            ", options: {immutable: true, annotations: {o: 'y'}}",
        ]);
        let namespace = dice.pick(&["", "", ", namespace: n1"]);
        let name = dice.pick(&["pg", "pg", "cm"]);
        format!("kind: ConfigMapGenerator, metadata: {{name: {name}{namespace}}}, literals: [k=pv]{options}")
    },
    |dice| {
        let from = dice.pick(&[
            "envs: [x.env]",
            "files: [bin.dat]",
            "files: [a=f.txt], literals: [k=1]",
            "env: x.env",
        ]);
        let kind = dice.pick(&["", ", type: kubernetes.io/tls", ", type: Opaque"]);
        format!("kind: SecretGenerator, metadata: {{name: sg}}, {from}{kind}")
    },
    |dice| {
        let more = dice.pick(&["", ", namespace: n1"]);
        let cloud = dice.pick(&["gke", "gke", "aws"]);
        format!(
            "kind: IAMPolicyGenerator, cloud: {cloud}, kubernetesService: {{name: k{more}}}, serviceAccount: {{name: s, projectId: p}}"
        )
    },
];

/// The object that a plugin is, between brackets or not.
fn object(dice: &mut Dice, body: &str) -> String {
    let named = if body.contains("metadata: {name") {
        ""
    } else {
        ", metadata: {name: t}"
    };
    let annotated = dice.chance(10) && !named.is_empty();
    let named = if annotated {
        ", metadata: {name: u, annotations: {config.kubernetes.io/local-config: 'true'}}"
    } else {
        named
    };
    format!("{{apiVersion: builtin, {body}{named}}}")
}

/// A transformer.
pub(super) fn transformer(dice: &mut Dice) -> String {
    let body = dice.pick(&TRANSFORMERS)(dice);
    object(dice, &body)
}

/// A generator.
pub(super) fn generator(dice: &mut Dice) -> String {
    let body = dice.pick(&GENERATORS)(dice);
    object(dice, &body)
}

/// A transformer that may leave all as it is.
pub(super) fn validator(dice: &mut Dice) -> String {
    let body = dice.pick(&[
        "kind: LabelTransformer, labels: {}",
        "kind: ImageTagTransformer, imageTag: {name: none, newTag: '1'}, fieldSpecs: [{path: spec/template/spec/containers/image}]",
        "kind: AnnotationsTransformer, annotations: {a: b}, fieldSpecs: [{path: metadata/annotations, create: true}]",
        "kind: PatchTransformer, target: {kind: Odd}, patch: '[{\"op\": \"test\", \"path\": \"/metadata/name\", \"value\": \"odd\"}]'",
    ]);
    object(dice, body)
}
