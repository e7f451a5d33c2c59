//! Kustomization files with all of their fields.

use super::dice::Dice;
use super::object;
use super::shape::{Shape, map, odd, raw, some_of};
use super::words;

type Field = (&'static str, fn(&mut Dice) -> Shape);

const FIELDS: [Field; 32] = [
    ("namePrefix", |dice| words::name(dice).into()),
    ("nameSuffix", |dice| words::name(dice).into()),
    ("namespace", |dice| words::name(dice).into()),
    ("commonLabels", object::labels),
    ("labels", |dice| list(dice, 2, label)),
    ("commonAnnotations", object::labels),
    ("patches", |dice| list(dice, 3, patch)),
    ("patchesStrategicMerge", |dice| {
        list(dice, 2, |dice| {
            if dice.one_in(2) {
                object::patch(dice).into()
            } else {
                path(dice)
            }
        })
    }),
    ("patchesJson6902", |dice| list(dice, 2, patch)),
    ("images", |dice| list(dice, 2, image)),
    ("imageTags", |dice| list(dice, 1, image)),
    ("replacements", |dice| list(dice, 3, replacement)),
    ("replicas", |dice| list(dice, 2, replica)),
    ("vars", vars),
    ("sortOptions", sort_options),
    ("components", |dice| list(dice, 2, component)),
    ("bases", |dice| {
        list(
            dice,
            1,
            |dice| if dice.tame { "a.yaml".into() } else { path(dice) },
        )
    }),
    ("crds", |dice| list(dice, 1, |_| "crds.json".into())),
    ("configurations", |dice| list(dice, 1, |_| "specs.yaml".into())),
    ("openapi", |dice| {
        if dice.one_in(5) {
            odd(dice)
        } else {
            map([("path", "openapi.json".into())])
        }
    }),
    ("configMapGenerator", |dice| list(dice, 3, generator)),
    ("secretGenerator", |dice| list(dice, 2, generator)),
    ("generatorOptions", generator_options),
    ("helmCharts", |dice| list(dice, 2, chart)),
    ("helmGlobals", |dice| map([("chartHome", path(dice))])),
    ("helmChartInflationGenerator", |dice| {
        list(dice, 1, |dice| {
            map([("chartName", path(dice)), ("values", path(dice))])
        })
    }),
    ("generators", |dice| {
        list(dice, 1, |dice| plugin(dice, &GENERATORS))
    }),
    ("transformers", |dice| {
        list(dice, 2, |dice| plugin(dice, &TRANSFORMERS))
    }),
    ("validators", |dice| {
        list(dice, 1, |dice| plugin(dice, &TRANSFORMERS))
    }),
    ("buildMetadata", |dice| {
        list(dice, 2, |dice| {
            dice.pick(&[
                "originAnnotations",
                "transformerAnnotations",
                "managedByLabel",
                "x",
            ])
            .into()
        })
    }),
    ("metadata", |dice| map([("name", words::name(dice).into())])),
    ("nothing", odd),
];

const GENERATORS: [&str; 4] = [
    "ConfigMapGenerator",
    "SecretGenerator",
    "HelmChartInflationGenerator",
    "IAMPolicyGenerator",
];

const TRANSFORMERS: [&str; 15] = [
    "AnnotationsTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PrefixTransformer",
    "SuffixTransformer",
    "PrefixSuffixTransformer",
    "ImageTagTransformer",
    "ReplicaCountTransformer",
    "PatchTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "ReplacementTransformer",
    "ValueAddTransformer",
    "HashTransformer",
    "Odd",
];

/// A kustomization or component; with mistakes or without, but then with some of `bases`.
pub(super) fn file(kind: &str, bases: &[&str], dice: &mut Dice) -> String {
    let mut pairs = vec![("kind".to_owned(), kind.into())];
    if kind == "Component" {
        pairs.push(("apiVersion".to_owned(), "kustomize.config.k8s.io/v1alpha1".into()));
    }
    let mut resources: Vec<Shape> = vec!["a.yaml".into()];
    if dice.tame {
        resources.extend(
            bases
                .iter()
                .filter(|_| dice.one_in(2))
                .map(|base| Shape::from(*base)),
        );
    } else {
        resources.extend(dice.some(2, path));
    }
    if dice.wrong_in(3) {
        resources.push(object::object(dice).print(dice).into());
    }
    pairs.push(("resources".to_owned(), Shape::List(resources)));
    for _ in 0..dice.below(5) {
        let known = FIELDS.len() - usize::from(!dice.wrong_in(20));
        let (name, value) = dice.pick(&FIELDS[..known]);
        if pairs.iter().all(|(known, _)| known != name) {
            pairs.push((name.to_owned(), value(dice)));
        }
    }
    let mut shape = Shape::Map(pairs);
    if dice.wrong_in(5) {
        shape.disturb(dice);
    }
    shape.print(dice)
}

fn list(dice: &mut Dice, most: usize, item: impl FnMut(&mut Dice) -> Shape) -> Shape {
    Shape::List(dice.some(most, item))
}

fn component(dice: &mut Dice) -> Shape {
    if dice.tame { "../c".into() } else { path(dice) }
}

fn path(dice: &mut Dice) -> Shape {
    words::path(dice).into()
}

fn flag(dice: &mut Dice) -> Shape {
    raw(dice.choose(2, &["true", "false", "yes"]))
}

fn number(dice: &mut Dice) -> Shape {
    raw(dice.choose(
        3,
        &[
            "0",
            "1",
            "2",
            "-1",
            "-9223372036854775808",
            "9223372036854775807",
            "99999",
            "1.5",
        ],
    ))
}

fn field_specs(dice: &mut Dice) -> Shape {
    list(dice, 2, |dice| {
        let kind = words::kind(dice).1;
        let pairs = [
            ("kind", kind.into()),
            ("path", words::spec_path(dice).into()),
            ("create", flag(dice)),
        ];
        some_of(dice, pairs)
    })
}

fn label(dice: &mut Dice) -> Shape {
    let pairs = [
        ("pairs", object::labels(dice)),
        ("includeSelectors", flag(dice)),
        ("includeTemplates", flag(dice)),
        ("fields", field_specs(dice)),
    ];
    some_of(dice, pairs)
}

fn selector(dice: &mut Dice) -> Shape {
    if dice.one_in(3) {
        return map([("kind", words::kind(dice).1.into())]);
    }
    let pairs = [
        (
            "kind",
            if dice.one_in(2) {
                words::expression(dice)
            } else {
                words::kind(dice).1.to_owned()
            }
            .into(),
        ),
        ("name", words::expression(dice).into()),
        ("namespace", words::expression(dice).into()),
        ("group", words::expression(dice).into()),
        ("labelSelector", words::label_selector(dice).into()),
        ("annotationSelector", words::label_selector(dice).into()),
    ];
    let Shape::Map(mut pairs) = some_of(dice, pairs) else {
        unreachable!("it is a map")
    };
    pairs.truncate(1 + dice.below(2));
    Shape::Map(pairs)
}

fn patch(dice: &mut Dice) -> Shape {
    let options = map([("allowNameChange", flag(dice)), ("allowKindChange", flag(dice))]);
    let text = if dice.one_in(2) {
        object::patch(dice)
    } else {
        object::json_patch(dice)
    };
    match dice.below(5) {
        0 => some_of(
            dice,
            [
                ("path", "p.yaml".into()),
                ("patch", text.into()),
                ("options", options),
            ],
        ),
        1 => map([("path", "p.yaml".into()), ("target", selector(dice))]),
        2 => map([
            ("patch", text.into()),
            ("target", selector(dice)),
            ("options", options),
        ]),
        _ => map([("patch", text.into()), ("target", selector(dice))]),
    }
}

fn image(dice: &mut Dice) -> Shape {
    let pairs = [
        (
            "name",
            dice.pick(&["nginx", "a", "", "(", "r.io:5000/a/b"]).into(),
        ),
        ("newName", dice.pick(&["x", "", "x:1", "r.io/y"]).into()),
        ("newTag", dice.pick(&["1", "v2", "", "🦀"]).into()),
        ("digest", dice.pick(&["sha256:00", "x", ""]).into()),
        ("tagSuffix", "-s".into()),
    ];
    some_of(dice, pairs)
}

fn replica(dice: &mut Dice) -> Shape {
    map([("name", words::name(dice).into()), ("count", number(dice))])
}

fn field_options(dice: &mut Dice) -> Shape {
    let pairs = [
        ("delimiter", dice.pick(&["/", ".", "", "🦀", "aa", "\n"]).into()),
        ("index", number(dice)),
        ("create", flag(dice)),
        ("encoding", dice.pick(&["base64", "hex", ""]).into()),
    ];
    some_of(dice, pairs)
}

fn replacement(dice: &mut Dice) -> Shape {
    if dice.wrong_in(8) {
        return map([("path", "p.yaml".into())]);
    }
    let (kind, name) = match dice.known.first() {
        Some((kind, name)) if dice.tame => (*kind, name.clone()),
        _ => (words::kind(dice).1, words::name(dice)),
    };
    let source = [
        ("kind", kind.into()),
        ("name", name.into()),
        ("fieldPath", words::field_path(dice).into()),
        ("options", field_options(dice)),
    ];
    let source = if dice.tame {
        let [kind, name, path, _] = source;
        map([kind, name, path])
    } else {
        some_of(dice, source)
    };
    let targets = list(dice, 3, |dice| {
        let paths = Shape::List(dice.some(3, |dice| words::field_path(dice).into()));
        let pairs = [
            ("select", selector(dice)),
            ("reject", list(dice, 1, selector)),
            ("fieldPaths", paths),
            ("options", field_options(dice)),
        ];
        some_of(dice, pairs)
    });
    if dice.one_in(5) {
        return map([("sourceValue", dice.letters(5).into()), ("targets", targets)]);
    }
    map([("source", source), ("targets", targets)])
}

/// Vars, also such that refer to each other.
fn vars(dice: &mut Dice) -> Shape {
    list(dice, 3, |dice| {
        let (version, kind, name) = match dice.known.first() {
            Some((kind, name)) if dice.tame => ("", *kind, name.clone()),
            _ => {
                let (version, kind) = words::kind(dice);
                (version, kind, words::name(dice))
            }
        };
        let about = map([
            ("apiVersion", version.into()),
            ("kind", kind.into()),
            ("name", name.into()),
        ]);
        let pairs = [
            ("name", dice.pick(&["A", "B", "", "A B", "$(A)"]).into()),
            ("objref", about),
            ("fieldref", map([("fieldPath", words::field_path(dice).into())])),
        ];
        some_of(dice, pairs)
    })
}

fn sort_options(dice: &mut Dice) -> Shape {
    let kinds = list(dice, 3, |dice| words::kind(dice).1.into());
    let order = dice.choose(2, &["legacy", "fifo", "x"]);
    let legacy = some_of(dice, [("orderFirst", kinds.clone()), ("orderLast", kinds)]);
    some_of(dice, [("order", order.into()), ("legacySortOptions", legacy)])
}

fn generator(dice: &mut Dice) -> Shape {
    let most = dice.choose(1, &[1, 3]);
    let literals = list(dice, most, |dice| {
        dice.choose(
            1,
            &["a=b", "a=$(A)", "=", "a", "a==", "x='q'", "", "ä=ö", "a=\"b"],
        )
        .into()
    });
    let files = list(dice, 2, |dice| {
        let path = words::path(dice);
        match dice.below(4) {
            0 => format!("key={path}").into(),
            1 => format!("={path}").into(),
            _ => path.into(),
        }
    });
    let pairs = [
        (
            "name",
            if dice.tame {
                dice.new_name()
            } else {
                words::name(dice)
            }
            .into(),
        ),
        ("namespace", words::name(dice).into()),
        (
            "behavior",
            dice.choose(1, &["create", "merge", "replace", "what"]).into(),
        ),
        ("literals", literals),
        ("files", files),
        ("envs", list(dice, 1, path)),
        ("options", generator_options(dice)),
    ];
    some_of(dice, pairs)
}

fn generator_options(dice: &mut Dice) -> Shape {
    let pairs = [
        ("labels", object::labels(dice)),
        ("annotations", object::labels(dice)),
        ("disableNameSuffixHash", flag(dice)),
        ("immutable", flag(dice)),
    ];
    some_of(dice, pairs)
}

fn chart(dice: &mut Dice) -> Shape {
    let pairs = [
        ("name", words::name(dice).into()),
        ("repo", path(dice)),
        ("valuesFile", path(dice)),
        ("valuesInline", odd(dice)),
        (
            "valuesMerge",
            dice.choose(3, &["merge", "override", "replace", "x"]).into(),
        ),
        ("additionalValuesFiles", list(dice, 1, path)),
    ];
    some_of(dice, pairs)
}

/// A plugin in place: the fields of all of them, as far as they come.
fn plugin(dice: &mut Dice, kinds: &[&'static str]) -> Shape {
    if dice.wrong_in(6) {
        return path(dice);
    }
    let pairs = [
        (
            "metadata",
            map([
                ("name", words::name(dice).into()),
                ("namespace", words::name(dice).into()),
            ]),
        ),
        ("fieldSpecs", field_specs(dice)),
        ("annotations", object::labels(dice)),
        ("labels", object::labels(dice)),
        ("prefix", words::name(dice).into()),
        ("suffix", words::name(dice).into()),
        ("imageTag", image(dice)),
        ("replica", replica(dice)),
        ("patch", object::patch(dice).into()),
        ("jsonOp", object::json_patch(dice).into()),
        ("target", selector(dice)),
        ("paths", list(dice, 1, path)),
        ("replacements", list(dice, 1, replacement)),
        ("value", words::name(dice).into()),
        (
            "targets",
            list(dice, 2, |dice| {
                map([
                    ("selector", selector(dice)),
                    ("fieldPath", words::spec_path(dice).into()),
                ])
            }),
        ),
        ("literals", list(dice, 2, |_| "a=b".into())),
        ("name", words::name(dice).into()),
    ];
    let Shape::Map(mut pairs) = some_of(dice, pairs) else {
        unreachable!("it is a map")
    };
    pairs.push((
        "apiVersion".to_owned(),
        if dice.wrong_in(10) { "v1" } else { "builtin" }.into(),
    ));
    pairs.push(("kind".to_owned(), dice.pick(kinds).into()));
    Shape::Map(pairs).print(dice).into()
}
