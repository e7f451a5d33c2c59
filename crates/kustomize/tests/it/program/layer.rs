//! Kustomizations.

use super::dice::Dice;
use super::object::labels;
use super::scalar::{quoted, string};
use super::{edit, plugin};

/// What a kustomization stands on.
pub(super) struct Layer<'l> {
    pub(super) resources: &'l [&'l str],
    pub(super) components: &'l [&'l str],
    pub(super) is_base: bool,
    pub(super) is_component: bool,
}

impl<'l> Layer<'l> {
    pub(super) fn base(resources: &'l [&'l str]) -> Layer<'l> {
        Layer {
            is_base: true,
            ..Layer::over(resources, &[])
        }
    }

    pub(super) fn over(resources: &'l [&'l str], components: &'l [&'l str]) -> Layer<'l> {
        Layer {
            resources,
            components,
            is_base: false,
            is_component: false,
        }
    }

    pub(super) fn component(resources: &'l [&'l str], components: &'l [&'l str]) -> Layer<'l> {
        Layer {
            is_component: true,
            ..Layer::over(resources, components)
        }
    }
}

/// The fields of a kustomization, each a text of its own.
pub(super) fn fields(dice: &mut Dice, layer: &Layer<'_>) -> Vec<String> {
    let mut all = Vec::new();
    if layer.is_component {
        all.push("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n".to_owned());
    }
    if !layer.resources.is_empty() {
        let field = if dice.chance(4) { "bases" } else { "resources" };
        all.push(format!("{field}: [{}]\n", layer.resources.join(", ")));
    }
    if !layer.components.is_empty() {
        all.push(format!("components: [{}]\n", layer.components.join(", ")));
    }
    for (percent, make) in FIELDS {
        if dice.chance(percent) {
            all.push(make(dice));
        }
    }
    all.extend(generators(dice, layer));
    all
}

type Make = fn(&mut Dice) -> String;

const FIELDS: [(usize, Make); 24] = [
    (35, |dice| {
        format!("namePrefix: {}\n", dice.pick(&["p-", "'1'", "q-", "\"\""]))
    }),
    (25, |dice| {
        format!("nameSuffix: {}\n", dice.pick(&["-s", "-t", "'.x'"]))
    }),
    (30, |dice| {
        format!("namespace: {}\n", dice.pick(&["n1", "n2", "'5'"]))
    }),
    (35, |dice| {
        let entry = |dice: &mut Dice| {
            format!(
                "{{pairs: {{{}}}{}{}}}",
                labels(dice),
                dice.pick(&[
                    "",
                    ", includeSelectors: true",
                    ", includeTemplates: true",
                    ", includeSelectors: true"
                ]),
                dice.pick(&[
                    "",
                    "",
                    ", fields: [{path: spec/mine, create: true}]",
                    ", fields: [{path: spec/x, kind: Odd}]"
                ])
            )
        };
        format!("labels: [{}]\n", dice.list(2, entry))
    }),
    (15, |dice| format!("commonLabels: {{{}}}\n", labels(dice))),
    (25, |dice| {
        let pairs: Vec<String> = dice
            .some(&["a", "z", "c.d/e"], 50)
            .into_iter()
            .map(|key| format!("{key}: {}", string(dice)))
            .collect();
        format!("commonAnnotations: {{{}}}\n", pairs.join(", "))
    }),
    (30, |dice| {
        let entry = |dice: &mut Dice| {
            format!(
                "{{name: {}, {}}}",
                dice.pick(&["i", "nginx", "reg/i", "r.io:5000/a/i", ".*i", "'n[g]inx'"]),
                dice.pick(&[
                    "newTag: \"9\"",
                    "newName: ngx",
                    "digest: sha256:2",
                    "newName: r/x, newTag: v1",
                    "newTag: v2, digest: sha256:3",
                    "tagSuffix: -dev"
                ])
            )
        };
        let field = if dice.chance(4) { "imageTags" } else { "images" };
        format!("{field}: [{}]\n", dice.list(3, entry))
    }),
    (15, |dice| {
        format!(
            "replicas: [{{name: {}, count: {}}}]\n",
            dice.pick(&["d", "d", "st", "odd"]),
            dice.below(9)
        )
    }),
    (12, |dice| {
        format!(
            "buildMetadata: [{}]\n",
            dice.some(
                &["originAnnotations", "transformerAnnotations", "managedByLabel"],
                50
            )
            .join(", ")
        )
    }),
    (15, |dice| {
        dice.pick(&["sortOptions: {order: fifo}\n", "sortOptions: {order: legacy}\n", "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Deployment, Odd], orderLast: [Namespace]}}\n"]).to_owned()
    }),
    (40, |dice| {
        format!(
            "replacements:\n{}",
            (0..1 + dice.below(2))
                .map(|_| edit::replacement(dice))
                .collect::<String>()
        )
    }),
    (45, |dice| {
        format!(
            "patches:\n{}",
            (0..1 + dice.below(3))
                .map(|_| edit::patch(dice))
                .collect::<String>()
        )
    }),
    (8, |dice| {
        let patch = match dice.below(4) {
            0 => "p.yaml".to_owned(),
            1 => "more-p.yaml".to_owned(),
            2 => quoted(&edit::lines(dice)),
            _ => quoted(&edit::strategic(dice)),
        };
        format!("patchesStrategicMerge:\n- {patch}\n")
    }),
    (8, |dice| {
        format!(
            "patchesJson6902:\n- {{target: {}, {}}}\n",
            edit::named_target(dice),
            if dice.chance(30) {
                "path: j.yaml".to_owned()
            } else {
                format!("patch: {}", quoted(&edit::operations(dice)))
            }
        )
    }),
    (15, edit::vars),
    (10, |dice| {
        format!(
            "configurations: [{}]\n",
            dice.pick(&[
                "specs.yaml",
                "more-specs.yaml",
                "last-specs.yaml",
                "last-specs.yaml, more-specs.yaml"
            ])
        )
    }),
    (12, |dice| {
        format!("transformers:\n- {}\n", quoted(&plugin::transformer(dice)))
    }),
    (5, |dice| {
        format!(
            "transformers: [{}]\n",
            dice.pick(&["t.yaml", "plugs", "t.yaml, plugs"])
        )
    }),
    (6, |dice| {
        format!("generators:\n- {}\n", quoted(&plugin::generator(dice)))
    }),
    (3, |_| "generators: [g.yaml]\n".to_owned()),
    (3, |dice| {
        format!("validators:\n- {}\n", quoted(&plugin::validator(dice)))
    }),
    (5, |_| "crds: [crd.json]\n".to_owned()),
    (4, |dice| {
        format!(
            "openapi: {{path: {}}}\n",
            dice.pick(&["schema.json", "schema.yaml"])
        )
    }),
    (8, |dice| {
        format!(
            "generatorOptions: {{{}{}}}\n",
            dice.pick(&[
                "disableNameSuffixHash: true",
                "labels: {g: h}",
                "annotations: {g: 'y'}"
            ]),
            dice.pick(&["", ", immutable: true"])
        )
    }),
];

fn generators(dice: &mut Dice, layer: &Layer<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let behavior = if layer.is_base {
        "create"
    } else {
        dice.pick(&["merge", "replace", "create", "merge"])
    };
    if dice.chance(if layer.is_base { 60 } else { 30 }) {
        let name = if layer.is_base || behavior != "create" {
            "cm"
        } else {
            "new"
        };
        all.push(format!(
            "configMapGenerator:\n- {{name: {name}, behavior: {behavior}, {}{}{}}}\n",
            sources(dice),
            options(dice),
            dice.maybe(5, |_| ", namespace: n1".to_owned())
        ));
    }
    if dice.chance(if layer.is_base { 40 } else { 20 }) {
        let name = if layer.is_base || behavior != "create" {
            "gs"
        } else {
            "news"
        };
        all.push(format!(
            "secretGenerator:\n- {{name: {name}, behavior: {behavior}, {}{}{}}}\n",
            sources(dice),
            options(dice),
            dice.maybe(20, |dice| format!(
                ", type: {}",
                dice.pick(&["Opaque", "kubernetes.io/tls", "\"5\""])
            ))
        ));
    }
    all
}

fn sources(dice: &mut Dice) -> String {
    let literal = |dice: &mut Dice, key: &str| {
        quoted(&format!(
            "{key}={}",
            dice.pick(&[
                "v/w", "1", "x y", "'q'", "\"d\"", "a=b", "", "é\n", "$(V)", "0777"
            ])
        ))
    };
    let mut literals = vec![literal(dice, "k")];
    if dice.chance(50) {
        literals.push(literal(dice, "q"));
    }
    format!(
        "literals: [{}]{}{}{}",
        literals.join(", "),
        dice.maybe(25, |dice| format!(
            ", files: [{}]",
            dice.pick(&["f.txt", "key=f.txt", "bin.dat", "f.txt, bin.dat"])
        )),
        dice.maybe(20, |dice| format!(
            ", envs: [{}]",
            dice.pick(&["x.env", "x.env", "y.env", "y.env, x.env"])
        )),
        dice.maybe(4, |_| ", env: y.env".to_owned())
    )
}

fn options(dice: &mut Dice) -> String {
    dice.maybe(30, |dice| {
        format!(
            ", options: {{{}}}",
            dice.pick(&[
                "disableNameSuffixHash: true",
                "labels: {o: p}",
                "annotations: {a: b}, immutable: true",
                "labels: {a: x}, disableNameSuffixHash: false"
            ])
        )
    })
}
