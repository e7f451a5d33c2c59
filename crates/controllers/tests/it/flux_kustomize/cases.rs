//! The Kustomizations that are compared.

use serde_json::{Value, json};

/// Files by path.
pub(super) type Files = Vec<(String, String)>;

/// One Kustomization with the files of its source: as it is made, and as both are changed.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) spec: Value,
    pub(super) files: Files,
    /// A merge patch of the spec.
    pub(super) then: Value,
    pub(super) then_files: Files,
}

impl Case {
    fn then(mut self, spec: Value) -> Self {
        self.then = spec;
        self
    }

    fn then_files(mut self, files: &[(&str, String)]) -> Self {
        self.then_files = owned(files);
        self
    }
}

fn owned(files: &[(&str, String)]) -> Files {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.clone()))
        .collect()
}

/// A Kustomization whose objects are in a namespace of its own.
fn case(name: &str, files: &[(&str, String)], more: Value) -> Case {
    let mut spec = json!({
        "interval": "1h", "retryInterval": "1h", "timeout": "31s", "prune": true, "targetNamespace": name,
        "sourceRef": {"kind": "GitRepository", "name": name},
    });
    spec.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Case {
        name: name.to_owned(),
        spec,
        files: owned(files),
        then: json!({}),
        then_files: owned(files),
    }
}

fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {value}\n")
}

fn deployment(name: &str, replicas: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: {replicas}\n  selector:\n    \
         matchLabels: {{app: {name}}}\n  template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      \
         - name: c\n        image: i:1\n        ports: [{{containerPort: 80}}]\n"
    )
}

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    let mut all = applied();
    all.extend(refused());
    all.extend(waiting());
    all
}

fn applied() -> Vec<Case> {
    let one = || config_map("one", "\"1\"");
    let two = || config_map("two", "\"1\"");
    let both = || [("one.yaml", one()), ("two.yaml", two())];
    let kustomization = "resources: [one.yaml]\nnamePrefix: file-\n".to_owned();
    vec![
        case("plain", &both(), json!({})).then_files(&[("one.yaml", config_map("one", "\"2\""))]),
        case("unchanged", &both(), json!({})),
        case("empty", &[("readme.md", "x".to_owned())], json!({})),
        case("no-prune", &both(), json!({"prune": false})).then_files(&[("one.yaml", one())]),
        case(
            "path",
            &[("a/one.yaml", one()), ("b/two.yaml", two())],
            json!({"path": "./a"}),
        )
        .then(json!({"path": "./b"})),
        case(
            "prefix",
            &[("one.yaml", one())],
            json!({"namePrefix": "p-", "nameSuffix": "-s"}),
        ),
        case(
            "overlay",
            &[("one.yaml", one()), ("kustomization.yaml", kustomization)],
            json!({"namePrefix": "own-"}),
        ),
        case(
            "metadata",
            &[("one.yaml", one())],
            json!({"commonMetadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}}),
        ),
        case(
            "patches",
            &[("d.yaml", deployment("d", "1"))],
            json!({"patches": [{"patch": "- op: replace\n  path: /spec/replicas\n  value: 3\n", "target": {"kind": "Deployment"}}]}),
        ),
        case(
            "images",
            &[("d.yaml", deployment("d", "1"))],
            json!({"images": [{"name": "i", "newTag": "2"}]}),
        ),
        case(
            "variables",
            &[("one.yaml", config_map("one", "\"${a} ${b:=c}\""))],
            json!({"postBuild": {"substitute": {"a": "x"}}}),
        ),
        case(
            "many",
            &[("all.yaml", [one(), two(), deployment("d", "0")].join("---\n"))],
            json!({}),
        ),
        case("suspended-later", &[("one.yaml", one())], json!({})).then(json!({"suspend": true})),
        case("suspended", &[("one.yaml", one())], json!({"suspend": true})),
        case("later", &[("one.yaml", one())], json!({"suspend": true})).then(json!({"suspend": false})),
        case(
            "force",
            &[("d.yaml", deployment("d", "1"))],
            json!({"force": true}),
        )
        .then_files(&[("d.yaml", deployment("d", "1").replace("app: d", "app: e"))]),
        case(
            "ssa-markers",
            &[
                (
                    "one.yaml",
                    one().replace(
                        "  name: one\n",
                        "  name: one\n  annotations:\n    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n",
                    ),
                ),
                (
                    "two.yaml",
                    two().replace(
                        "  name: two\n",
                        "  name: two\n  annotations:\n    kustomize.toolkit.fluxcd.io/reconcile: disabled\n",
                    ),
                ),
            ],
            json!({}),
        ),
        case(
            "keep",
            &[
                (
                    "one.yaml",
                    one().replace(
                        "  name: one\n",
                        "  name: one\n  labels:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n",
                    ),
                ),
                ("two.yaml", two()),
            ],
            json!({}),
        )
        .then_files(&[("two.yaml", two())]),
        case(
            "account",
            &[("one.yaml", one())],
            json!({"serviceAccountName": "default"}),
        ),
    ]
}

fn refused() -> Vec<Case> {
    let one = || ("one.yaml", config_map("one", "\"1\""));
    let unknown = "apiVersion: nobody.test/v1\nkind: Nothing\nmetadata:\n  name: it\n".to_owned();
    let immutable = || deployment("d", "1").replace("app: d", "app: e");
    vec![
        case("broken-yaml", &[("one.yaml", "a: [\n".to_owned())], json!({})).then_files(&[one()]),
        case("no-object", &[("one.yaml", "a: b\n".to_owned())], json!({})),
        case(
            "missing-file",
            &[("kustomization.yaml", "resources: [x.yaml]\n".to_owned())],
            json!({}),
        ),
        case("breaks", &[one()], json!({})).then_files(&[("one.yaml", "a: [\n".to_owned())]),
        case("no-path", &[one()], json!({"path": "./nowhere"})).then(json!({"path": "./"})),
        case(
            "no-source",
            &[one()],
            json!({"sourceRef": {"kind": "GitRepository", "name": "nowhere"}}),
        ),
        case(
            "unknown-kind",
            &[("one.yaml", unknown), ("two.yaml", config_map("two", "\"1\""))],
            json!({}),
        ),
        case("no-namespace", &[one()], json!({"targetNamespace": "nowhere"})),
        case("invalid", &[("one.yaml", config_map("one", "{b: c}"))], json!({})),
        case(
            "bad-name",
            &[("one.yaml", config_map("One_Two", "\"1\""))],
            json!({}),
        ),
        case("immutable", &[("d.yaml", deployment("d", "1"))], json!({}))
            .then_files(&[("d.yaml", immutable())]),
        case(
            "no-variables",
            &[one()],
            json!({"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "nobody"}]}}),
        ),
        case(
            "unset-variable",
            &[("one.yaml", config_map("one", "\"${x}\""))],
            json!({"postBuild": {"substitute": {"a": "b"}}}),
        ),
        case(
            "no-keys",
            &[one()],
            json!({"decryption": {"provider": "sops", "secretRef": {"name": "nobody"}}}),
        ),
        case(
            "bad-expression",
            &[one()],
            json!({"wait": true, "healthCheckExprs": [{"apiVersion": "v1", "kind": "ConfigMap", "current": "data."}]}),
        ),
        case(
            "bad-patch",
            &[one()],
            json!({"patches": [{"patch": "- op: remove\n  path: /nowhere\n", "target": {"kind": "ConfigMap"}}]}),
        ),
        case("no-account", &[one()], json!({"serviceAccountName": "nobody"})),
        case(
            "no-kubeconfig",
            &[one()],
            json!({"kubeConfig": {"secretRef": {"name": "nobody"}}}),
        ),
    ]
}

fn waiting() -> Vec<Case> {
    let one = || ("one.yaml", config_map("one", "\"1\""));
    let failing = json!([{"apiVersion": "v1", "kind": "ConfigMap", "current": "data.a == 'good'", "failed": "data.a == 'bad'"}]);
    vec![
        case("waits", &[one()], json!({"wait": true}))
            .then_files(&[("one.yaml", config_map("one", "\"2\""))]),
        case(
            "health-check",
            &[one()],
            json!({"healthChecks": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "one", "namespace": "health-check"}]}),
        ),
        case(
            "unhealthy",
            &[("one.yaml", config_map("one", "bad"))],
            json!({"wait": true, "healthCheckExprs": failing}),
        )
        .then_files(&[("one.yaml", config_map("one", "good"))]),
        case("needs", &[one()], json!({"dependsOn": [{"name": "plain"}]})),
        case(
            "needs-nothing",
            &[one()],
            json!({"dependsOn": [{"name": "nowhere"}]}),
        ),
        case(
            "needs-broken",
            &[one()],
            json!({"dependsOn": [{"name": "broken-yaml"}]}),
        ),
        case(
            "needs-by-expression",
            &[one()],
            json!({"dependsOn": [{"name": "plain", "readyExpr": "dep.metadata.name == 'plain'"}]}),
        ),
        case(
            "needs-bad-expression",
            &[one()],
            json!({"dependsOn": [{"name": "plain", "readyExpr": "dep."}]}),
        ),
    ]
}
