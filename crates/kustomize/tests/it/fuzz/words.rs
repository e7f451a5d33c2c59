//! The words that kustomizations and objects are made of, right and wrong.

use super::dice::Dice;

/// A name, perhaps one that some object has.
pub(super) fn name(dice: &mut Dice) -> String {
    if dice.tame {
        let at = dice.below(4);
        return dice
            .known
            .get(at)
            .map_or_else(|| "a".to_owned(), |(_, name)| name.clone());
    }
    match dice.below(30) {
        0 => dice.letters(8),
        1 => dice
            .pick(&[
                "", " ", "A", "1", "null", "true", "a/b", "a.b", "$(A)", "a,b", "🦀", "-", "*",
            ])
            .to_owned(),
        2 => "n".repeat(300),
        _ => dice.pick(&["a", "b", "c", "app"]).to_owned(),
    }
}

/// The version and the kind of an object.
pub(super) fn kind(dice: &mut Dice) -> (&'static str, &'static str) {
    dice.choose(
        18,
        &[
            ("v1", "ConfigMap"),
            ("v1", "ConfigMap"),
            ("v1", "Secret"),
            ("apps/v1", "Deployment"),
            ("apps/v1", "Deployment"),
            ("apps/v1", "StatefulSet"),
            ("v1", "Service"),
            ("v1", "Pod"),
            ("v1", "Namespace"),
            ("v1", "ServiceAccount"),
            ("batch/v1", "CronJob"),
            ("rbac.authorization.k8s.io/v1", "RoleBinding"),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
            ("networking.k8s.io/v1", "Ingress"),
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
            ),
            ("example.com/v1", "Odd"),
            ("v1", "List"),
            ("v1", "ConfigMapList"),
            ("", ""),
            ("a/b/c", "X"),
        ],
    )
}

/// A path inside of an object, as replacements and vars write it.
pub(super) fn field_path(dice: &mut Dice) -> String {
    if dice.tame {
        return dice
            .pick(&["metadata.name", "metadata.annotations.x", "kind", "apiVersion"])
            .to_owned();
    }
    match dice.below(12) {
        0 => dice.letters(12),
        1 => dice
            .some(6, |dice| {
                dice.pick(&["a", "*", "[", "]", "=", ".", "\\", "-", "0", "[a=b]", "[=]"])
            })
            .concat(),
        _ => dice
            .pick(&[
                "metadata.name",
                "metadata.namespace",
                "metadata.annotations.[a.b/c]",
                "metadata.annotations.a\\.b/c",
                "metadata",
                "spec",
                "data",
                "data.x",
                "data.deep.x",
                "spec.template.spec.containers.[name=a].image",
                "spec.template.spec.containers.[name=*].image",
                "spec.template.spec.containers.*.env.*.value",
                "spec.template.spec.containers.0.image",
                "spec.template.spec.containers.-.image",
                "spec.template.spec.containers.-1",
                "spec.template.spec.containers.99999999999999999999",
                "spec.template.spec.containers.4000000000",
                "spec.template.spec.containers.[name=a",
                "spec.template.spec.containers.[=a].image",
                "spec.template.spec.containers.[image=(a+)+].image",
                "spec.replicas",
                "spec.replicas.x",
                "kind",
                "apiVersion",
                "",
                ".",
                "..",
                "*",
                "a..b",
                "/spec/x",
                "subjects.[kind=ServiceAccount].namespace",
            ])
            .to_owned(),
    }
}

/// A path inside of an object, as field specs write it.
pub(super) fn spec_path(dice: &mut Dice) -> String {
    let path = dice.choose(
        4,
        &[
            "metadata/name",
            "spec/template/spec/containers[]/image",
            "spec/template/spec/containers/image",
            "data/x",
            "a\\/b/c",
            "",
            "/",
            "[]",
            "a[][]",
            "spec/*/x",
            "metadata/labels",
            "spec//x",
        ],
    );
    path.to_owned()
}

/// An expression for names and kinds.
pub(super) fn expression(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 if !dice.tame => dice.letters(8),
        1 if !dice.tame => dice
            .pick(&[
                "(",
                "[",
                "*",
                "+",
                "a{1000}",
                "((a{100}){100}){100}",
                "(a+)+$",
                "(a|a)*b",
                "(?P<n>a)",
                "(?i)A",
                "\\pL+",
                "\\",
                "^$",
                "a{1,1000}{1,1000}",
                "(?s).*",
                "|",
                "(?:",
                "\\Qa",
                "x*",
                "[^a]",
                "a?????",
            ])
            .to_owned(),
        2 => ".*".to_owned(),
        3 => "a|b|c".to_owned(),
        _ => name(dice),
    }
}

pub(super) fn label_selector(dice: &mut Dice) -> String {
    dice.choose(
        7,
        &[
            "app=a",
            "app==a",
            "app!=a",
            "app",
            "!app",
            "app in (a,b)",
            "app notin (a)",
            "app in (",
            "=",
            ",",
            "a=b=c",
            "()",
            "in",
            "app in ()",
            "app > 1",
            "app=a,",
            "🦀=🦀",
            "a.b/c=d",
            "",
        ],
    )
    .to_owned()
}

/// A path of a file or directory.
pub(super) fn path(dice: &mut Dice) -> String {
    if dice.tame {
        return "x.env".to_owned();
    }
    match dice.below(24) {
        0 => dice.letters(8),
        1 => dice
            .pick(&[
                "../../../etc/passwd",
                "/etc/passwd",
                "..",
                ".",
                "",
                "/",
                "../..",
                "../../..",
                "./././a.yaml",
                "a.yaml/..",
                "a.yaml/x",
                "../private/token.yaml",
                "../private",
                "/private/token.yaml",
                "..//private/token.yaml",
                "b/../../private/token.yaml",
                "\\..\\private",
                "a.yaml\0",
                "~",
                "file:///etc/passwd",
                "../r",
                "../r/../private/token.yaml",
            ])
            .to_owned(),
        2 => dice
            .pick(&[
                "https://example.com/a.yaml",
                "https://github.com/o/r//b?ref=v1",
                "git@github.com:o/r.git",
                "https://github.com/o/r//../x",
                "ssh://git@h/o/r//../../private?ref=..",
                "https://",
                "http://[::1",
                "git::https://x/y.git//z",
                "gh:o/r",
                "https://github.com/o/r//r/b",
                "github.com/o/r?ref=-x",
                "file:///r//b",
            ])
            .to_owned(),
        3 => "../b".to_owned(),
        4 => "b".to_owned(),
        5 => "../c".to_owned(),
        n if n < 14 => "a.yaml".to_owned(),
        n if n < 19 => "p.yaml".to_owned(),
        _ => "x.env".to_owned(),
    }
}
