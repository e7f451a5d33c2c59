//! Trees and specs that flux and ours build.

use super::{Case, PLAIN};

pub(super) const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  a: b\n";

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1.0
        envFrom: [{configMapRef: {name: config}}]
        ports: [{containerPort: 80}]
";

const VARIABLES: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: config-${cluster:=none}
data:
  plain: ${cluster}
  quoted: \"${number}\"
  default: ${missing:-d}
  nested: ${missing:=${cluster}-x}
  empty: a${missing}b
  upper: ${cluster^^}
  part: ${cluster:1:2}
  replaced: ${cluster/e/E}
  escaped: $${cluster}
  shell: $cluster
  long: 12345678901234567890
  multi: |
    first ${cluster}
    second
";

/// The encrypted values in here are none.
const ENCRYPTED: &str = "apiVersion: v1
kind: Secret
metadata: {name: encrypted}
type: Opaque
data: {token: 'ENC[AES256_GCM,data:x]'}
stringData: {word: 'ENC[AES256_GCM,data:y]'}
sops:
  mac: ENC[AES256_GCM,data:z]
  version: 3.9.0
";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "no kustomization file",
        files: &[
            ("b.yaml", CONFIG),
            ("a.yml", WEB),
            (
                "deep/er/c.yaml",
                "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
            ),
            ("notes.txt", "none"),
        ],
        ..PLAIN
    },
    Case {
        name: "a directory with a kustomization among files",
        files: &[
            ("z.yaml", CONFIG),
            (
                "own/kustomization.yaml",
                "resources: [web.yaml]\nnamePrefix: own-\n",
            ),
            ("own/web.yaml", WEB),
            ("own/other.yaml", "not: [used"),
        ],
        ..PLAIN
    },
    Case {
        name: "nested kustomizations and bases elsewhere",
        files: &[
            (
                "apps/prod/kustomization.yaml",
                "resources: [../base, extra.yaml]\nlabels: [{pairs: {env: prod}, includeSelectors: true}]\n",
            ),
            (
                "apps/prod/extra.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n",
            ),
            (
                "apps/base/kustomization.yaml",
                "resources: [web.yaml]\nconfigMapGenerator: [{name: config, literals: [a=b]}]\n",
            ),
            ("apps/base/web.yaml", WEB),
        ],
        path: "apps/prod",
        ..PLAIN
    },
    Case {
        name: "files outside of the kustomization",
        files: &[
            (
                "app/kustomization.yaml",
                "resources: [../shared/web.yaml]\nconfigMapGenerator: [{name: c, files: [../shared/web.yaml]}]\n",
            ),
            ("shared/web.yaml", WEB),
        ],
        path: "app",
        ..PLAIN
    },
    Case {
        name: "an empty directory",
        path: "empty",
        ..PLAIN
    },
    Case {
        name: "an empty directory with everything set",
        spec: "{namePrefix: a-, nameSuffix: -b, targetNamespace: c, commonMetadata: {labels: {d: e}}, postBuild: {substitute: {x: 'y'}}}",
        path: "empty",
        ..PLAIN
    },
    Case {
        name: "an empty kustomization file",
        files: &[("kustomization.yaml", "")],
        ..PLAIN
    },
    Case {
        name: "a kustomization file without resources",
        files: &[(
            "kustomization.yml",
            "configMapGenerator: [{name: c, literals: [a=b]}]\n",
        )],
        ..PLAIN
    },
    Case {
        name: "a kustomization file with nothing but components",
        files: &[
            ("kustomization.yaml", "components: [part]\n"),
            (
                "part/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\n",
            ),
            ("part/a.yaml", CONFIG),
        ],
        ..PLAIN
    },
    Case {
        name: "a lenient kustomization file",
        files: &[
            (
                "Kustomization",
                "resources: [web.yaml]\nunknown: 1\ncommonAnnotations: {port: 8080, flag: true, half: 0.5}\nimages: [{name: nginx, newTag: 1.10}]\n",
            ),
            ("web.yaml", WEB),
        ],
        ..PLAIN
    },
    Case {
        name: "a merge patch",
        spec: r#"{patches: [{patch: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"}]}"#,
        files: &[("a.yaml", WEB)],
        ..PLAIN
    },
    Case {
        name: "patches after those of the file",
        spec: r#"{patches: [{patch: "- {op: replace, path: /data/a, value: spec}\n", target: {kind: ConfigMap, name: con.*, labelSelector: 'x!=y'}}]}"#,
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml, b.yaml]\npatches: [{path: p.yaml}]\n",
            ),
            ("a.yaml", CONFIG),
            ("b.yaml", WEB),
            (
                "p.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: file, more: file}\n",
            ),
        ],
        ..PLAIN
    },
    Case {
        name: "a patch that deletes",
        spec: r#"{patches: [{patch: "$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n"}]}"#,
        files: &[("a.yaml", CONFIG), ("b.yaml", WEB)],
        ..PLAIN
    },
    Case {
        name: "a patch for nothing is refused",
        spec: r#"{patches: [{patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n"}]}"#,
        files: &[("a.yaml", CONFIG)],
        ..PLAIN
    },
    Case {
        name: "images",
        spec: "{images: [{name: nginx, newName: example.com/web, newTag: v2}]}",
        files: &[("a.yaml", WEB)],
        ..PLAIN
    },
    Case {
        name: "images merged with those of the file",
        spec: "{images: [{name: nginx, newTag: v2}, {name: busybox, newTag: v3}]}",
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml]\nimages: [{name: nginx, newName: mine, digest: 'sha256:00'}]\n",
            ),
            ("a.yaml", WEB),
        ],
        ..PLAIN
    },
    Case {
        name: "a digest",
        spec: "{images: [{name: nginx, digest: 'sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3'}]}",
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml]\nimages: [{name: nginx, newTag: old}]\n",
            ),
            ("a.yaml", WEB),
        ],
        ..PLAIN
    },
    Case {
        name: "components",
        spec: "{components: [../part, ../gone], ignoreMissingComponents: true}",
        files: &[
            ("app/a.yaml", CONFIG),
            (
                "part/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {part: 'true'}\n",
            ),
        ],
        path: "app",
        ..PLAIN
    },
    Case {
        name: "a missing component is refused",
        spec: "{components: [../gone]}",
        files: &[("app/a.yaml", CONFIG)],
        path: "app",
        ..PLAIN
    },
    Case {
        name: "a remote component is refused",
        spec: "{components: ['https://example.com/org/repo']}",
        files: &[("a.yaml", CONFIG)],
        ..PLAIN
    },
    Case {
        name: "prefix and suffix",
        spec: "{namePrefix: before-, nameSuffix: -after}",
        files: &[("a.yaml", CONFIG), ("b.yaml", WEB)],
        ..PLAIN
    },
    Case {
        name: "prefix, suffix and namespace over those of the file",
        spec: "{namePrefix: before-, nameSuffix: -after, targetNamespace: target}",
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml, b.yaml]\nnamePrefix: x-\nnameSuffix: -x\nnamespace: x\n",
            ),
            ("a.yaml", CONFIG),
            ("b.yaml", WEB),
        ],
        ..PLAIN
    },
    Case {
        name: "target namespace",
        spec: "{targetNamespace: target}",
        files: &[
            ("a.yaml", CONFIG),
            (
                "b.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nsubjects: [{kind: ServiceAccount, name: default, namespace: x}]\n",
            ),
        ],
        ..PLAIN
    },
    Case {
        name: "common metadata",
        spec: "{commonMetadata: {labels: {team: a, kustomize.toolkit.fluxcd.io/name: mine}, annotations: {note: 'yes'}}}",
        files: &[("a.yaml", CONFIG), ("b.yaml", WEB)],
        ..PLAIN
    },
    Case {
        name: "build metadata",
        spec: "{buildMetadata: [originAnnotations, transformerAnnotations], namePrefix: x-}",
        files: &[
            ("kustomization.yaml", "resources: [base, a.yaml]\n"),
            (
                "base/kustomization.yaml",
                "resources: [web.yaml]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n",
            ),
            ("base/web.yaml", WEB),
            ("a.yaml", CONFIG),
        ],
        ..PLAIN
    },
    Case {
        name: "variables",
        spec: "{postBuild: {substitute: {cluster: test, number: '8080'}}}",
        files: &[("a.yaml", VARIABLES)],
        ..PLAIN
    },
    Case {
        name: "variables of more than one line",
        spec: r#"{postBuild: {substitute: {cluster: "te\nst\n", number: "1"}}}"#,
        files: &[("a.yaml", VARIABLES)],
        ..PLAIN
    },
    Case {
        name: "no variables",
        spec: "{postBuild: {substitute: {}}}",
        files: &[("a.yaml", VARIABLES)],
        ..PLAIN
    },
    Case {
        name: "no variables, but always",
        spec: "{postBuild: {substituteStrategy: Always}}",
        files: &[("a.yaml", VARIABLES)],
        ..PLAIN
    },
    Case {
        name: "variables of a cluster that is not asked",
        spec: "{postBuild: {substitute: {cluster: x}, substituteFrom: [{kind: ConfigMap, name: gone}]}}",
        files: &[("a.yaml", VARIABLES)],
        ..PLAIN
    },
    Case {
        name: "a missing variable in strict mode is refused",
        spec: "{postBuild: {substitute: {cluster: x, number: '1'}}}",
        files: &[("a.yaml", VARIABLES)],
        flags: &["--strict-substitute"],
        ..PLAIN
    },
    Case {
        name: "defaults in strict mode",
        spec: "{postBuild: {substitute: {cluster: x}}}",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '${cluster} ${other:=d} ${more:-${cluster}}'}\n",
        )],
        flags: &["--strict-substitute"],
        ..PLAIN
    },
    Case {
        name: "a bad name of a variable is refused",
        spec: "{postBuild: {substitute: {not-good: x}}}",
        files: &[("a.yaml", CONFIG)],
        ..PLAIN
    },
    Case {
        name: "a malformed variable is refused",
        spec: "{postBuild: {substitute: {x: 'y'}}}",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '${a-b}'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "objects that opt out of substitution",
        spec: "{postBuild: {substitute: {x: 'y'}}}",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}\ndata: {v: '${a-b} ${x}'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}}\ndata: {v: '${x}'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {kustomize.toolkit.fluxcd.io/substitute: enabled}}\ndata: {v: '${x}'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "objects that get the same name are refused",
        spec: "{postBuild: {substitute: {x: config}}}",
        files: &[
            ("a.yaml", CONFIG),
            (
                "b.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${x}'}\n",
            ),
        ],
        ..PLAIN
    },
    Case {
        name: "a value that breaks the YAML is refused",
        spec: "{postBuild: {substitute: {x: '{a: ['}}}",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '${x}'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "numbers after substitution",
        spec: "{postBuild: {substitute: {x: '1'}}}",
        files: &[(
            "a.yaml",
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {big: 9007199254740993, bigger: 1234567890123456789, half: 0.5, ten: 1e3, long: 0.1234567890123456789, no: null, list: [], map: {}, text: '1e3', port: '${x}'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "numbers without substitution",
        files: &[(
            "a.yaml",
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {big: 9007199254740993, half: 0.50, ten: 1e3, octal: 0777, no: null, on: yes, text: '1e3', time: 2001-01-01}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "bad YAML is refused",
        files: &[("a.yaml", CONFIG), ("b.yaml", "a: [\n")],
        ..PLAIN
    },
    Case {
        name: "YAML that is no manifest is refused",
        files: &[("a.yaml", CONFIG), ("values.yaml", "replicas: 1\n")],
        ..PLAIN
    },
    Case {
        name: "a kustomization file that is a list is refused",
        files: &[("kustomization.yaml", "- a\n")],
        ..PLAIN
    },
    Case {
        name: "a resource that is not there is refused",
        files: &[("kustomization.yaml", "resources: [gone.yaml]\n")],
        ..PLAIN
    },
    Case {
        name: "a chart is refused",
        files: &[(
            "kustomization.yaml",
            "helmCharts: [{name: web, repo: 'https://example.com'}]\n",
        )],
        ..PLAIN
    },
    Case {
        name: "an encrypted secret is masked",
        files: &[("a.yaml", ENCRYPTED)],
        ..PLAIN
    },
    Case {
        name: "an encrypted pull secret is masked",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: pull}\ntype: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: 'ENC[x]'}\nstringData: {.dockerconfigjson: 'ENC[x]'}\nsops: {mac: 'ENC[z]'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "encrypted files in secrets are masked",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {file.yaml: c29wczogRU5DW3hd, open: b3Blbg==}\nstringData: {file: 'sops ENC[x]', port: '8080', on: 'true', empty: '', text: 'a: b', lines: \"1\\n2\\n\"}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "a secret with empty data",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {}\nstringData: {}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "a secret that is no base64 is refused",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: '%%%'}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "generated secrets",
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml]\nsecretGenerator: [{name: s, literals: [a=b, c=sops ENC], type: example.com/x}]\n",
            ),
            ("a.yaml", CONFIG),
        ],
        ..PLAIN
    },
    Case {
        name: "generated secrets whose values are folded",
        files: &[
            (
                "kustomization.yaml",
                "resources: [a.yaml]\nsecretGenerator: [{name: s, files: [long]}]\n",
            ),
            (
                "long",
                "0123456789012345678901234567890123456789012345678901234567890123456789",
            ),
            ("a.yaml", CONFIG),
        ],
        ..PLAIN
    },
    Case {
        name: "numbers and booleans where the spec has texts",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: 'is ${x}, ${y}, ${z}.'}\n",
        )],
        spec: "{targetNamespace: 123, commonMetadata: {labels: {d: 1}, annotations: {e: true}}, postBuild: {substitute: {x: 3, y: true, z: 1.10}}}",
        ..PLAIN
    },
    Case {
        name: "lists and kustomizations",
        files: &[
            (
                "a.yaml",
                "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
            ),
            (
                "b.yaml",
                "apiVersion: example.com/v1\nkind: Things\nmetadata: {name: t}\nitems: [{apiVersion: v1, kind: Thing, metadata: {name: u}}]\n",
            ),
            (
                "c.yaml",
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: k}\n",
            ),
            (
                "d.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\nspec: {path: ./x}\n",
            ),
            ("e.yaml", "# nothing\n"),
        ],
        ..PLAIN
    },
    Case {
        name: "labels that are no texts",
        spec: "{commonMetadata: {annotations: {a: b}}}",
        files: &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {one: 1, two: x}}\n",
        )],
        ..PLAIN
    },
    Case {
        name: "ignored paths",
        files: &[
            ("a.yaml", CONFIG),
            ("skip/b.yaml", WEB),
            (
                "more.yaml",
                "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
            ),
            (".sourceignore", "/more.yaml\n"),
            (
                "cloudbuild.yaml",
                "apiVersion: v1\nkind: Service\nmetadata: {name: t}\n",
            ),
        ],
        flags: &["--ignore-paths=skip/**,gone"],
        ..PLAIN
    },
    Case {
        name: "ignored resources of a kustomization file",
        files: &[
            ("kustomization.yaml", "resources: [a.yaml, skip, b.yaml]\n"),
            ("a.yaml", CONFIG),
            ("b.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"),
            ("skip/kustomization.yaml", "resources: [web.yaml]\n"),
            ("skip/web.yaml", WEB),
        ],
        flags: &["--ignore-paths", "skip/,b.yaml"],
        ..PLAIN
    },
    Case {
        name: "Kustomizations among the manifests",
        files: &[
            (
                "clusters/app.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: inner, namespace: team}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: repo}, namePrefix: inner-, postBuild: {substitute: {x: 'y'}}}\n",
            ),
            ("clusters/more.yaml", CONFIG),
            (
                "apps/a.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deep}\ndata: {v: '${x}'}\n",
            ),
            (
                "apps/deeper.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: deeper, namespace: team}\nspec: {path: last, sourceRef: {kind: GitRepository, name: repo, namespace: team}}\n",
            ),
            ("last/z.yaml", WEB),
        ],
        path: "clusters",
        flags: &["--recursive", "--local-sources=GitRepository/team/repo=tree"],
        ..PLAIN
    },
    Case {
        name: "a source that is nowhere is refused",
        files: &[(
            "a.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: inner, namespace: team}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: repo}}\n",
        )],
        flags: &["--recursive"],
        ..PLAIN
    },
];
