//! Objects and patches of objects.

use super::dice::Dice;
use super::shape::{Shape, map, odd, raw, some_of};
use super::words;

/// Annotations that mean something to kustomize.
const ANNOTATIONS: [&str; 12] = [
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "config.kubernetes.io/local-config",
    "config.kubernetes.io/origin",
    "kustomize.config.k8s.io/behavior",
    "kustomize.config.k8s.io/needs-hash",
    "a.b/c",
];

/// A file of objects.
pub(super) fn file(dice: &mut Dice) -> String {
    let objects = 1 + dice.below(3);
    let texts: Vec<String> = (0..objects).map(|_| object(dice).print(dice)).collect();
    texts.join("---\n")
}

pub(super) fn object(dice: &mut Dice) -> Shape {
    let (version, kind) = words::kind(dice);
    let name = if dice.tame {
        dice.new_name()
    } else {
        words::name(dice)
    };
    dice.known.push((kind, name.clone()));
    let mut object = map([
        ("apiVersion", version.into()),
        ("kind", kind.into()),
        ("metadata", metadata(name, dice)),
    ]);
    if let Shape::Map(pairs) = &mut object {
        let more = match kind {
            "Deployment" | "StatefulSet" | "CronJob" | "Pod" | "Odd" => vec![("spec", workload(dice))],
            "ConfigMap" | "Secret" => vec![("data", data(dice))],
            "List" | "ConfigMapList" => vec![("items", Shape::List(dice.some(2, object_of_a_list)))],
            "RoleBinding" | "ClusterRoleBinding" => vec![
                ("roleRef", reference("ClusterRole", dice)),
                (
                    "subjects",
                    Shape::List(dice.some(3, |dice| reference("ServiceAccount", dice))),
                ),
            ],
            "Service" => vec![("spec", map([("ports", ports(dice)), ("selector", labels(dice))]))],
            _ if dice.tame => vec![("spec", workload(dice))],
            _ => vec![("spec", odd(dice))],
        };
        pairs.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    if dice.wrong_in(4) {
        object.disturb(dice);
    }
    object
}

fn object_of_a_list(dice: &mut Dice) -> Shape {
    let name = words::name(dice);
    map([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", metadata(name, dice)),
    ])
}

fn metadata(name: String, dice: &mut Dice) -> Shape {
    let mut pairs = vec![("name".to_owned(), name.into())];
    if dice.one_in(3) {
        pairs.push(("namespace".to_owned(), words::name(dice).into()));
    }
    if dice.one_in(3) {
        pairs.push(("labels".to_owned(), labels(dice)));
    }
    if dice.one_in(3) {
        let annotations = dice.some(3, |dice| {
            let value = dice.pick(&[
                "a", "a,b", "", ",,", "true", "merge", "replace", "x,x,x,x", "path: x",
            ]);
            let at = if dice.tame {
                ANNOTATIONS.len() - 1
            } else {
                dice.below(ANNOTATIONS.len())
            };
            (ANNOTATIONS[at].to_owned(), Shape::from(value))
        });
        pairs.push(("annotations".to_owned(), Shape::Map(annotations)));
    }
    Shape::Map(pairs)
}

pub(super) fn labels(dice: &mut Dice) -> Shape {
    Shape::Map(dice.some(2, |dice| {
        let key = dice.choose(3, &["app", "a.b/c", "x", "", "a b"]).to_owned();
        let value = if dice.wrong_in(8) {
            odd(dice)
        } else {
            words::name(dice).into()
        };
        (key, value)
    }))
}

fn data(dice: &mut Dice) -> Shape {
    Shape::Map(dice.some(3, |dice| {
        let value = dice.pick(&[
            "y",
            "$(A)",
            "$(A)$(B)",
            "$$(A)",
            "$(",
            "{\"x\": {\"y\": [1]}}",
            "a: {b: [1, 2]}\nc: d\n",
            "{",
            "x: &a [*a]",
            "1.10",
            "line one\n  line two \n",
            "\ttab",
            "${A}",
        ]);
        (dice.pick(&["x", "deep", "y", "a.json"]).to_owned(), value.into())
    }))
}

fn reference(kind: &str, dice: &mut Dice) -> Shape {
    let pairs = [
        ("apiGroup", "rbac.authorization.k8s.io".into()),
        ("kind", kind.into()),
        ("name", words::name(dice).into()),
        ("namespace", words::name(dice).into()),
    ];
    some_of(dice, pairs)
}

fn ports(dice: &mut Dice) -> Shape {
    Shape::List(dice.some(3, |dice| {
        let pairs = [
            ("name", words::name(dice).into()),
            ("port", raw(dice.choose(2, &["80", "443", "'80'", "null", "-1"]))),
            ("containerPort", raw(dice.pick(&["80", "443", "80.0"]))),
            ("protocol", dice.pick(&["TCP", "UDP", ""]).into()),
        ];
        some_of(dice, pairs)
    }))
}

fn container(dice: &mut Dice) -> Shape {
    let env = Shape::List(dice.some(3, |dice| {
        let value = dice.pick(&["v", "$(A)", "$(B) $(A)", ""]);
        let from = map([(
            "configMapKeyRef",
            map([("name", words::name(dice).into()), ("key", "x".into())]),
        )]);
        let pairs = [
            ("name", words::name(dice).into()),
            ("value", value.into()),
            ("valueFrom", from),
        ];
        some_of(dice, pairs)
    }));
    let image = dice.pick(&[
        "nginx",
        "nginx:1.2",
        "r.io:5000/a/b:c@sha256:00",
        ":",
        "@",
        "a:b:c",
        "",
        "nginx@sha256:1",
    ]);
    let pairs = [
        ("name", words::name(dice).into()),
        ("image", image.into()),
        ("env", env),
        ("ports", ports(dice)),
        (
            "args",
            Shape::List(dice.some(2, |dice| dice.pick(&["$(A)", "--x", "$(NOBODY)"]).into())),
        ),
    ];
    some_of(dice, pairs)
}

fn workload(dice: &mut Dice) -> Shape {
    let volume = map([
        ("name", words::name(dice).into()),
        ("configMap", map([("name", words::name(dice).into())])),
    ]);
    let pod = map([
        ("containers", Shape::List(dice.some(3, container))),
        ("volumes", Shape::List(vec![volume])),
        ("serviceAccountName", words::name(dice).into()),
    ]);
    let pairs = [
        ("replicas", raw(dice.choose(2, &["1", "3", "x", "null", "1.5"]))),
        ("selector", map([("matchLabels", labels(dice))])),
        (
            "template",
            map([("metadata", map([("labels", labels(dice))])), ("spec", pod)]),
        ),
    ];
    some_of(dice, pairs)
}

/// A strategic merge patch.
pub(super) fn patch(dice: &mut Dice) -> String {
    let mut patch = object(dice);
    for _ in 0..dice.below(3) {
        direct(&mut patch, dice);
    }
    patch.print(dice)
}

/// Puts a directive somewhere into a patch.
fn direct(shape: &mut Shape, dice: &mut Dice) {
    match shape {
        Shape::Map(pairs) if dice.one_in(3) || pairs.is_empty() => {
            let key = dice.pick(&[
                "$patch",
                "$patch",
                "$retainKeys",
                "$setElementOrder/containers",
                "$deleteFromPrimitiveList/args",
            ]);
            let value = match key {
                "$patch" => dice.choose(3, &["delete", "replace", "merge", "what", ""]).into(),
                _ if dice.wrong_in(4) => odd(dice),
                _ => Shape::List(dice.some(2, |dice| map([("name", words::name(dice).into())]))),
            };
            pairs.push((key.to_owned(), value));
        }
        Shape::Map(pairs) => {
            let at = dice.below(pairs.len());
            if dice.one_in(8) {
                pairs[at].1 = raw("null");
            } else {
                direct(&mut pairs[at].1, dice);
            }
        }
        Shape::List(items) if !items.is_empty() => {
            let at = dice.below(items.len());
            direct(&mut items[at], dice);
        }
        _ => {}
    }
}

/// A JSON patch. Copies of copies double what is there.
pub(super) fn json_patch(dice: &mut Dice) -> String {
    if dice.tame {
        let path = dice.pick(&["/x", "/metadata/annotations", "/metadata/labels"]);
        let operation = map([
            ("op", "add".into()),
            ("path", path.into()),
            ("value", labels(dice)),
        ]);
        return Shape::List(vec![operation]).print(dice);
    }
    let pointer = |dice: &mut Dice| {
        let pointer = dice.pick(&[
            "/data/x",
            "/data",
            "",
            "/",
            "/a~1b",
            "/spec/replicas",
            "/spec/template/spec/containers/0",
            "/spec/template/spec/containers/-",
            "/spec/template/spec/containers/-1",
            "/spec/template/spec/containers/99999999999999999999",
            "/metadata/name",
            "/metadata",
            "/~2",
            "/kind",
            "/metadata/labels/app",
            "data",
            "/data/x/y/z",
            "/spec/template/spec/containers/01",
        ]);
        Shape::from(pointer)
    };
    let mut operations = dice.some(4, |dice| {
        let op = dice.pick(&["add", "remove", "replace", "move", "copy", "test", "what", ""]);
        let pairs = [
            ("op", op.into()),
            ("path", pointer(dice)),
            ("from", pointer(dice)),
            ("value", odd(dice)),
        ];
        some_of(dice, pairs)
    });
    if dice.one_in(10) {
        let copy = map([
            ("op", "copy".into()),
            ("from", "/metadata".into()),
            ("path", "/metadata/x".into()),
        ]);
        operations.extend(std::iter::repeat_n(copy, dice.below(60)));
    }
    Shape::List(operations).print(dice)
}
