//! Objects that refer to each other, with fields of all sorts.

use super::dice::Dice;
use super::scalar::{any, block, label, string, value};

/// The kinds and names of the workloads that patches are for.
pub(super) const WORKLOADS: [(&str, &str, &str); 4] = [
    ("apps/v1", "Deployment", "d"),
    ("apps/v1", "StatefulSet", "st"),
    ("v1", "Pod", "p"),
    ("batch/v1", "CronJob", "cj"),
];

/// The documents of a file; each workload is there or not.
pub(super) fn documents(dice: &mut Dice) -> Vec<String> {
    let mut all = Vec::new();
    for workload in dice.some(&WORKLOADS, 45) {
        all.push(self::workload(dice, workload));
    }
    for make in dice.some(&OTHERS, 30) {
        all.push(make(dice));
    }
    if all.is_empty() {
        all.push(workload(dice, WORKLOADS[0]));
    }
    all
}

type Make = fn(&mut Dice) -> String;

const OTHERS: [Make; 19] = [
    |dice| {
        let ports = dice.pick(&[
            "[{port: 80}]",
            "[{port: 80, name: web}, {port: 81, name: x, protocol: UDP}]",
        ]);
        format!(
            "apiVersion: v1\nkind: Service\n{}spec:\n  # the ports\n  ports: {ports}\n  selector: {{{}}}\n  v: {}\n",
            metadata(dice, "svc"),
            labels(dice),
            block(dice, 4)
        )
    },
    |dice| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\n{}data:\n  k: v/w\n  one: {}\n  two: {}\n  json: '{}'\n  yaml: |\n{}",
            metadata(dice, "cfg"),
            string(dice),
            block(dice, 4),
            dice.pick(&[
                "{\"a\": {\"b\": 1.50}}",
                "[1, {\"x\": null}]",
                "{\"b\": 1, \"a\": \"<\"}"
            ]),
            yaml(dice)
        )
    },
    |dice| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: sec}}, type: Opaque, data: {{k: cC9xL3I=, e: {}}}}}\n",
            string(dice)
        )
    },
    |dice| format!("apiVersion: v1\nkind: ServiceAccount\n{}", metadata(dice, "sa")),
    |dice| {
        let kind = dice.pick(&["RoleBinding", "ClusterRoleBinding"]);
        let subject = dice.pick(&["sa", "default", "other"]);
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\n{}roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cr}}\nsubjects:\n- {{kind: ServiceAccount, name: {subject}{}}}\n",
            metadata(dice, "rb"),
            dice.pick(&["", ", namespace: n1", ", namespace: default"])
        )
    },
    |dice| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n{}rules: [{{apiGroups: [\"\"], resources: [secrets], verbs: [get], resourceNames: [sec, cm]}}]\n",
            metadata(dice, "cr")
        )
    },
    |dice| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\n{}spec: {{rules: [{{http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: svc, port: {{number: 80}}}}}}}}]}}}}], tls: [{{secretName: sec}}]}}\n",
            metadata(dice, "ing")
        )
    },
    |dice| {
        format!(
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n{}spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: {}}}, minReplicas: 1}}\n",
            metadata(dice, "hpa"),
            dice.pick(&["Deployment, name: d", "StatefulSet, name: st"])
        )
    },
    |dice| {
        let name = dice.pick(&["n1", "n2"]);
        format!("apiVersion: v1\nkind: Namespace\n{}", metadata(dice, name))
    },
    |dice| {
        format!(
            "apiVersion: example.com/v1\nkind: Odd\n{}spec: {}\nstatus:\n  list:\n  - {}\n  - name: a\n    v: {}\n",
            metadata(dice, "odd"),
            value(dice),
            any(dice),
            block(dice, 6)
        )
    },
    |dice| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\n{}spec: {{selector: {{matchLabels: {{{}}}}}}}\n",
            metadata(dice, "pdb"),
            labels(dice)
        )
    },
    |dice| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n{}spec: {{podSelector: {{matchLabels: {{{}}}}}, ingress: [{{from: [{{podSelector: {{matchLabels: {{{}}}}}}}]}}]}}\n",
            metadata(dice, "np"),
            labels(dice),
            labels(dice)
        )
    },
    |dice| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: l1}}, data: {{a: {}}}}}\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: l2}}}}\n",
            string(dice)
        )
    },
    |dice| {
        let version = dice.pick(&["|-\n    x", "&t 1.50", "&t 'yes'", "&t [1, 2]"]);
        let used = if version.starts_with('&') { "*t" } else { "none" };
        format!(
            "apiVersion: v1\nkind: ConfigMap\n{}data: &d\n  a: {version}\n  b: {used}\nmore:\n  <<: *d\n  c: {}\nbinaryData:\n  z: !!binary AAE=\n",
            metadata(dice, "anch"),
            any(dice)
        )
    },
    |dice| {
        format!(
            "apiVersion: v1\nkind: ConfigMapList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: l3}}\n  data: {{a: {}}}\n",
            string(dice)
        )
    },
    |dice| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n{}spec:\n  group: example.com\n  names: {{kind: Odd, plural: odds}}\n  scope: {}\n",
            metadata(dice, "odds.example.com"),
            dice.pick(&["Cluster", "Namespaced"])
        )
    },
    |dice| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n{}webhooks:\n- name: w\n  clientConfig:\n    service: {{name: svc, namespace: {}}}\n    caBundle: !!binary AAE=\n",
            metadata(dice, "vw"),
            dice.pick(&["n1", "default", "system"])
        )
    },
    |dice| {
        format!(
            "apiVersion: v1\nkind: ServiceAccount\n{}secrets:\n- name: sec\nimagePullSecrets:\n- name: {}\n",
            metadata(dice, "sa2"),
            dice.pick(&["gs", "sec"])
        )
    },
    |dice| {
        format!(
            "---\n# first\napiVersion: v1\nkind: Service\n{}spec:\n  type: ExternalName\n  v: {}\n...\n",
            metadata(dice, "svc2"),
            block(dice, 4)
        )
    },
];

/// A text of YAML in a block.
fn yaml(dice: &mut Dice) -> String {
    dice.pick(&[
        "    a:\n      b: 1.50\n      c: 0777\n    list:\n    - x\n    - y: yes\n",
        "    # head\n    a:\n      b: one # line\n    list: [x, {y: \"q\"}]\n",
        "    a: {b: 'one'}\n    list:\n      - x\n      - >\n        folded\n        text\n",
        "    base: &x {k: v}\n    a:\n      b: 2\n    use: *x\n",
        "    a:\n      b: |\n        lines\n        more\n    list: []\n",
    ])
    .to_owned()
}

/// Annotations that kustomize keeps for itself.
const INTERNAL: [&str; 8] = [
    "internal.config.kubernetes.io/previousNames: old, internal.config.kubernetes.io/previousNamespaces: default, \
     internal.config.kubernetes.io/previousKinds: ConfigMap",
    "internal.config.kubernetes.io/prefixes: p-",
    "internal.config.kubernetes.io/suffixes: -s",
    "internal.config.kubernetes.io/generatorBehavior: merge",
    "config.kubernetes.io/local-config: 'true'",
    "config.kubernetes.io/index: '0'",
    "config.kubernetes.io/path: x.yaml",
    "internal.config.kubernetes.io/index: '1'",
];

/// The metadata of an object, as a block.
fn metadata(dice: &mut Dice, name: &str) -> String {
    let mut text = format!("metadata:\n  name: {name}\n");
    if dice.chance(15) {
        text.push_str(dice.pick(&[
            "  namespace: n1\n",
            "  namespace: default\n",
            "  namespace: 'n2'\n",
        ]));
    }
    if dice.chance(35) {
        text.push_str(&format!("  labels: {{{}}}\n", labels(dice)));
    }
    if dice.chance(35) {
        let mut pairs: Vec<String> = dice
            .some(&["a", "b", "c.d/e", "z"], 40)
            .into_iter()
            .map(|key| format!("{key}: {}", string(dice)))
            .collect();
        if dice.chance(6) {
            pairs.push(dice.pick(&INTERNAL).to_owned());
        }
        text.push_str(&format!("  annotations: {{{}}}\n", pairs.join(", ")));
    }
    text
}

pub(super) fn labels(dice: &mut Dice) -> String {
    let pairs: Vec<String> = dice
        .some(&["a", "app", "l", "q.r/s"], 40)
        .into_iter()
        .map(|key| format!("{key}: {}", label(dice)))
        .collect();
    pairs.join(", ")
}

fn workload(dice: &mut Dice, (version, kind, name): (&str, &str, &str)) -> String {
    let head = format!("apiVersion: {version}\nkind: {kind}\n{}", metadata(dice, name));
    let spec = pod(dice, false);
    let template = format!(
        "{{metadata: {{{}}}, spec: {spec}}}",
        dice.maybe(50, |dice| format!("labels: {{{}}}", labels(dice)))
    );
    let more = format!(
        "  x: {}\n  {}: {}\n",
        block(dice, 4),
        dice.pick(&["yy", "z"]),
        block(dice, 4)
    );
    match kind {
        "Pod" => format!("{head}spec: {spec}\n"),
        "CronJob" => format!("{head}spec:\n  jobTemplate: {{spec: {{template: {template}}}}}\n{more}"),
        _ => {
            let selector = dice.maybe(60, |dice| {
                format!("  selector: {{matchLabels: {{{}}}}}\n", labels(dice))
            });
            let claims = match kind {
                "StatefulSet" => dice.maybe(50, |dice| {
                    format!(
                        "  volumeClaimTemplates: [{{metadata: {{name: c{}}}}}]\n",
                        dice.maybe(50, |dice| format!(", labels: {{{}}}", labels(dice)))
                    )
                }),
                _ => String::new(),
            };
            format!(
                "{head}spec:\n  replicas: {}\n{selector}{claims}  template: {template}\n{more}",
                dice.below(4)
            )
        }
    }
}

/// The spec of a pod in flow style, of an object or of a patch.
pub(super) fn pod(dice: &mut Dice, patch: bool) -> String {
    let mut fields = vec![format!("containers: {}", containers(dice, patch))];
    if dice.chance(30) {
        fields.push(format!("initContainers: {}", containers(dice, patch)));
    }
    if dice.chance(40) {
        let volumes: Vec<String> = dice
            .some(&["v", "w", "x"], 60)
            .into_iter()
            .map(|name| {
                let source = match dice.below(if patch { 6 } else { 4 }) {
                    0 => "emptyDir: {}",
                    1 => "configMap: {name: cm}",
                    2 => "secret: {secretName: sec}",
                    3 => "projected: {sources: [{configMap: {name: cm}}]}",
                    4 => "$patch: delete",
                    _ => "configMap: null",
                };
                format!("{{name: {name}, {source}}}")
            })
            .collect();
        fields.push(format!("volumes: [{}]", volumes.join(", ")));
    }
    if dice.chance(20) {
        fields.push("tolerations: [{key: a}]".to_owned());
    }
    if dice.chance(20) {
        fields.push(format!(
            "imagePullSecrets: [{{name: {}}}]",
            dice.pick(&["sec", "q"])
        ));
    }
    if dice.chance(20) {
        fields.push(format!("serviceAccountName: {}", dice.pick(&["sa", "other"])));
    }
    if dice.chance(15) {
        let selector = if patch {
            dice.pick(&["{c: d, $patch: replace}", "null", "{a: null}"])
        } else {
            dice.pick(&["{a: b}", "{}", "null"])
        };
        fields.push(format!("nodeSelector: {selector}"));
    }
    format!("{{{}}}", fields.join(", "))
}

fn containers(dice: &mut Dice, patch: bool) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in dice.some(&["a", "b", "c"], 50) {
        if patch && dice.chance(12) {
            all.push(format!(
                "{{name: {name}, $patch: {}}}",
                dice.pick(&["delete", "replace", "merge"])
            ));
            continue;
        }
        all.push(container(dice, name, patch));
    }
    if patch && dice.chance(6) {
        all.push("{$patch: replace}".to_owned());
    }
    format!("[{}]", all.join(", "))
}

fn container(dice: &mut Dice, name: &str, patch: bool) -> String {
    let mut fields = vec![format!("name: {name}")];
    if dice.chance(50) {
        fields.push(format!(
            "image: {}",
            dice.pick(&[
                "i",
                "i:1",
                "reg/i@sha256:1",
                "nginx",
                "'nginx:1.2'",
                "r.io:5000/a/i:x"
            ])
        ));
    }
    if dice.chance(50) {
        let env: Vec<String> = dice
            .some(&["X", "Y", "Z"], 50)
            .into_iter()
            .map(|name| match dice.below(if patch { 4 } else { 3 }) {
                0 => format!("{{name: {name}, valueFrom: {{configMapKeyRef: {{name: cm, key: k}}}}}}"),
                1 => format!(
                    "{{name: {name}, valueFrom: {{secretKeyRef: {{name: {}, key: k}}}}}}",
                    dice.pick(&["sec", "gs"])
                ),
                2 => format!("{{name: {name}, value: {}}}", string(dice)),
                _ => format!("{{name: {name}, $patch: delete}}"),
            })
            .collect();
        fields.push(format!("env: [{}]", env.join(", ")));
    }
    if dice.chance(25) {
        let ports: Vec<String> = dice
            .some(&[80, 81, 82], 50)
            .into_iter()
            .map(|port| {
                format!(
                    "{{containerPort: {port}{}}}",
                    dice.pick(&["", ", protocol: UDP", ", protocol: TCP", ", name: web"])
                )
            })
            .collect();
        fields.push(format!("ports: [{}]", ports.join(", ")));
    }
    if dice.chance(25) {
        let mounts: Vec<String> = dice
            .some(&["a", "b", "c"], 50)
            .into_iter()
            .map(|path| format!("{{mountPath: /{path}, name: {}}}", dice.pick(&["v", "w"])))
            .collect();
        fields.push(format!("volumeMounts: [{}]", mounts.join(", ")));
    }
    if dice.chance(25) {
        let none = if patch { "null" } else { "[]" };
        fields.push(format!(
            "args: {}",
            dice.pick(&["[a, b]", "[$(V)]", none, "[\"$(W)-x\"]", "[1, true]"])
        ));
    }
    if dice.chance(15) {
        fields.push("envFrom: [{configMapRef: {name: cm}}]".to_owned());
    }
    format!("{{{}}}", fields.join(", "))
}
