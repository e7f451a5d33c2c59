//! How what is applied is built from the files of a source and from the spec.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use controllers::kustomizations::Settings;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// What is in the builder's tests: encrypted by the real sops for this key.
const KEY: &str = include_str!("../../../../builder/tests/data/sops/age.agekey");
const ENCRYPTED: &str = include_str!("../../../../builder/tests/data/sops/secret.yaml");
const INNER: &str = include_str!("../../../../builder/tests/data/sops/inner.yaml");
const TOKEN: &str = include_str!("../../../../builder/tests/data/sops/token");
const ENV: &str = include_str!("../../../../builder/tests/data/sops/vars.env");

fn deployment(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  nobody: knows\nspec:\n  replicas: 1\n  selector:\n    \
         matchLabels: {{app: {name}}}\n  template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      \
         - name: c\n        image: registry.example/app:1\n        ports: [{{containerPort: 80}}]\n"
    )
}

fn labels(object: &impl ResourceExt) -> Value {
    json!(object.labels())
}

async fn ready(setting: &Setting, name: &str) {
    setting.bed.ready(name, "True", "ReconciliationSucceeded").await;
}

/// Why a Kustomization is not ready.
async fn refused(setting: &Setting, name: &str, reason: &str) -> String {
    let object = setting.bed.ready(name, "False", reason).await;
    condition(&object, "Ready").unwrap().message
}

/// K1, K3: a folder without a kustomization has one made of all that is in it, whatever its kind; folders with one of their own are
/// taken as a whole. What is no object makes the build fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_without_a_kustomization_is_all_that_is_in_it() {
    let setting = Setting::with(&[
        ("all/one.yaml", &config_map("one", "1")),
        ("all/deep/two.yml", &config_map("two", "1")),
        (
            "all/own/kustomization.yaml",
            "resources: [three.yaml]\nnamePrefix: own-\n",
        ),
        ("all/own/three.yaml", &config_map("three", "1")),
        ("all/own/not-named.yaml", &config_map("not-named", "1")),
        ("all/notes.txt", "nothing"),
        ("none/notes.txt", "nothing"),
        ("odd/values.yaml", "replicas: 3\n"),
    ])
    .await;
    setting.create("all", json!({"path": "./all"})).await;
    setting.create("none", json!({"path": "none"})).await;
    setting.create("odd", json!({"path": "./odd/"})).await;
    ready(&setting, "all").await;
    for name in ["one", "two", "own-three"] {
        setting.value(name, Some("1")).await;
    }
    setting.value("not-named", None).await;
    let none = setting.bed.ready("none", "True", "ReconciliationSucceeded").await;
    let inventory = none.status.unwrap().inventory;
    assert!(inventory.is_none_or(|inventory| inventory.entries.is_empty()));
    let message = refused(&setting, "odd", "BuildFailed").await;
    assert!(message.contains("values.yaml"), "{message}");
}

/// K4, K5: components, replacements, generators and patches with `$patch: delete` and names that are expressions work; plugins do not, and with
/// `--no-remote-bases` nothing is fetched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_kustomize_can_do_works_but_for_plugins_and_what_is_elsewhere() {
    let settings = Settings {
        no_remote_bases: true,
        ..Settings::default()
    };
    let overlay = "resources: [one.yaml, two.yaml, gone.yaml]
components: [../component]
configMapGenerator:
- name: made
  literals: [a=made]
  options: {disableNameSuffixHash: true}
replacements:
- source: {kind: ConfigMap, name: one, fieldPath: data.a}
  targets: [{select: {kind: ConfigMap, name: two}, fieldPaths: [data.a]}]
patches:
- patch: |-
    $patch: delete
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: not-looked-at}
  target: {kind: ConfigMap, name: go.*}
";
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {from: component}\n";
    let setting = Setting::with_settings(
        &[
            ("overlay/kustomization.yaml", overlay),
            ("overlay/one.yaml", &config_map("one", "1")),
            ("overlay/two.yaml", &config_map("two", "2")),
            ("overlay/gone.yaml", &config_map("gone", "1")),
            ("component/kustomization.yaml", component),
            (
                "chart/kustomization.yaml",
                "helmCharts: [{name: x, repo: https://charts.example}]\n",
            ),
            (
                "remote/kustomization.yaml",
                "resources: ['https://example.com/all.yaml']\n",
            ),
        ],
        settings,
    )
    .await;
    for name in ["overlay", "chart", "remote"] {
        setting.create(name, json!({"path": name})).await;
    }
    ready(&setting, "overlay").await;
    setting.value("made", Some("made")).await;
    setting.value("two", Some("1")).await;
    setting.value("gone", None).await;
    let one = setting.config_maps().get("one").await.unwrap();
    assert_eq!(one.annotations()["from"], "component");
    refused(&setting, "chart", "BuildFailed").await;
    let message = refused(&setting, "remote", "BuildFailed").await;
    assert!(message.contains("https://example.com/all.yaml"), "{message}");
}

/// `patches`, `images`, `components`, `namePrefix`, `nameSuffix`, `targetNamespace`, `commonMetadata`: the spec has its say after the files, and those of
/// `commonMetadata` overwrite all labels but those that tell whose an object is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_spec_changes_what_is_built() {
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonLabels: {from: component}\n";
    let setting = Setting::with(&[
        (
            "app/kustomization.yaml",
            "resources: [web.yaml]\nnamePrefix: file-\nimages: [{name: registry.example/app, newTag: '2'}]\n",
        ),
        ("app/web.yaml", &deployment("web")),
        ("component/kustomization.yaml", component),
    ])
    .await;
    let patch = "- op: replace\n  path: /spec/replicas\n  value: 0\n";
    setting
        .create(
            "app",
            json!({
                "path": "./app", "namePrefix": "p-", "nameSuffix": "-s",
                "components": ["../component", "../missing"], "ignoreMissingComponents": true,
                "images": [{"name": "registry.example/app", "newName": "registry.example/other"}],
                "patches": [{"patch": patch, "target": {"kind": "Deployment", "name": "web|nothing"}}],
                "commonMetadata": {
                    "labels": {"team": "a", "kustomize.toolkit.fluxcd.io/name": "other"},
                    "annotations": {"note": "b"},
                },
            }),
        )
        .await;
    ready(&setting, "app").await;
    let api: Api<Deployment> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let live = api.get("p-web-s").await.unwrap();
    let spec = live.spec.as_ref().unwrap();
    assert_eq!(spec.replicas, Some(0));
    let image = spec.template.spec.as_ref().unwrap().containers[0]
        .image
        .as_deref();
    assert_eq!(image, Some("registry.example/other:2"));
    let labels = labels(&live);
    assert_eq!(
        (&labels["team"], &labels["from"]),
        (&json!("a"), &json!("component"))
    );
    assert_eq!(labels["kustomize.toolkit.fluxcd.io/name"], "app");
    assert_eq!(live.annotations()["note"], "b");
}

/// K6, AP1: they are applied by the server, as `kustomize-controller`. Objects of kinds that Kubernetes itself has are applied in the form that it reads: without fields that it does not know, with ports that have a protocol
/// and with the data of Secrets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_normalised_before_they_are_applied() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: words\n  creationTimestamp: null\nstringData:\n  a: b\n";
    let setting = Setting::with(&[("web.yaml", &deployment("web")), ("secret.yaml", secret)]).await;
    setting.create("app", json!({})).await;
    ready(&setting, "app").await;
    let api: Api<Deployment> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let live = api.get("web").await.unwrap();
    let port = &live
        .spec
        .as_ref()
        .unwrap()
        .template
        .spec
        .as_ref()
        .unwrap()
        .containers[0]
        .ports
        .as_ref()
        .unwrap()[0];
    assert_eq!(port.protocol.as_deref(), Some("TCP"));
    let fields = live
        .managed_fields()
        .iter()
        .find(|entry| entry.manager.as_deref() == Some("kustomize-controller"));
    let fields = json!(fields.unwrap().fields_v1);
    let port = &fields["f:spec"]["f:template"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"]["f:ports"];
    assert!(
        port.get("k:{\"containerPort\":80,\"protocol\":\"TCP\"}")
            .is_some(),
        "{fields}"
    );
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let live = secrets.get("words").await.unwrap();
    assert_eq!(live.data.as_ref().unwrap()["a"].0, b"b");
    let fields = live
        .managed_fields()
        .iter()
        .find(|entry| entry.manager.as_deref() == Some("kustomize-controller"));
    let fields = json!(fields.unwrap().fields_v1);
    assert!(
        fields.get("f:stringData").is_none() && fields.get("f:data").is_some(),
        "{fields}"
    );
}

/// VS1, VS2, VS3: later sources of variables win over earlier ones and those of the spec over all; lines end nowhere in them; one with a bad name fails the
/// build, and so does a source that is not there, unless it is optional.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_come_from_the_spec_config_maps_and_secrets() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "${a} ${b} ${c} ${d}"))]).await;
    let first: ConfigMap = serde_json::from_value(json!({
        "metadata": {"name": "first"}, "data": {"a": "first", "b": "first", "c": "first", "d": "li\nnes\n"},
    }))
    .unwrap();
    setting
        .config_maps()
        .create(&Default::default(), &first)
        .await
        .unwrap();
    setting
        .bed
        .secret("second", "Opaque", json!({"b": "second", "c": "second"}))
        .await;
    setting.bed.secret("bad", "Opaque", json!({"a-b": "x"})).await;
    let from = |names: &[(&str, &str, bool)]| {
        let sources = names
            .iter()
            .map(|(kind, name, optional)| json!({"kind": kind, "name": name, "optional": optional}));
        json!({"postBuild": {"substitute": {"c": "spec"}, "substituteFrom": sources.collect::<Vec<_>>()}})
    };
    let good = [
        ("ConfigMap", "first", false),
        ("Secret", "second", false),
        ("Secret", "nobody", true),
    ];
    setting.create("good", from(&good)).await;
    ready(&setting, "good").await;
    setting.value("one", Some("first second spec lines")).await;
    setting
        .create("missing", from(&[("ConfigMap", "nobody", false)]))
        .await;
    let message = refused(&setting, "missing", "BuildFailed").await;
    assert!(message.contains("nobody"), "{message}");
    setting.create("bad", from(&[("Secret", "bad", false)])).await;
    let message = refused(&setting, "bad", "BuildFailed").await;
    assert!(message.contains("a-b"), "{message}");
}

/// VS4, VS5, VS6, VS7, VS8, VS9: what is put in place of variables, where nothing is, and what fails the build.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_are_substituted_as_flux_does_it() {
    let opted_out = config_map("out", "${unset} ${").replace(
        "metadata:\n",
        "metadata:\n  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n",
    );
    let setting = Setting::with(&[
        // VS6: the forms; VS7: `:?` is a default too; VS8: what is escaped.
        (
            "forms/one.yaml",
            &config_map(
                "one",
                "${v^^} ${v:1:2} ${v#a} ${v/b/x} ${#v} ${w:=d} ${w:?e} $${v} $v",
            ),
        ),
        ("forms/out.yaml", &opted_out),
        ("none/two.yaml", &config_map("two", "${v} ${w:=d}")),
        ("always/three.yaml", &config_map("three", "${w:=d}")),
        ("unset/four.yaml", &config_map("four", "${w}")),
        ("broken/five.yaml", &config_map("five", "${v")),
        ("dash/six.yaml", &config_map("six", "${w-d}")),
    ])
    .await;
    let with = |path: &str| json!({"path": path, "postBuild": {"substitute": {"v": "abc"}}});
    for path in ["forms", "unset", "broken", "dash"] {
        setting.create(path, with(path)).await;
    }
    setting
        .create("none", json!({"path": "none", "postBuild": {}}))
        .await;
    let always = json!({"path": "always", "postBuild": {"substituteStrategy": "Always"}});
    setting.create("always", always).await;
    for path in ["forms", "none", "always"] {
        ready(&setting, path).await;
    }
    setting.value("one", Some("ABC bc bc axc 3 d e ${v} $v")).await;
    setting.value("out", Some("${unset} ${")).await;
    setting.value("two", Some("${v} ${w:=d}")).await;
    setting.value("three", Some("d")).await;
    let message = refused(&setting, "unset", "BuildFailed").await;
    assert!(message.contains("variable not set (strict mode)"), "{message}");
    for path in ["broken", "dash"] {
        refused(&setting, path, "BuildFailed").await;
    }
}

/// SO1, SO4, SO5, SO6, SO7: whole objects, values of Secrets and files of generators are decrypted, also if kustomize has changed them since, which their MAC would not
/// allow. SO8, K8: what cannot be decrypted is told, and no value of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_sops_has_encrypted_is_applied_plain() {
    let encoded = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(INNER)
    };
    let values =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: values}}\ndata: {{a.json: {encoded}}}\n");
    let made = "resources: [secret.yaml, values.yaml]
secretGenerator:
- name: made
  files: [token]
  envs: [vars.env]
  options: {disableNameSuffixHash: true}
commonLabels: {team: a}
";
    let files = [
        ("kustomization.yaml", made),
        ("secret.yaml", ENCRYPTED),
        ("values.yaml", &values),
        ("token", TOKEN),
        ("vars.env", ENV),
        ("plain/secret.yaml", ENCRYPTED),
    ];
    let setting = Setting::with(&files).await;
    setting
        .bed
        .secret("keys", "Opaque", json!({"age.agekey": KEY}))
        .await;
    setting.bed.secret("empty", "Opaque", json!({"other": "x"})).await;
    let by = |name: &str| json!({"decryption": {"provider": "sops", "secretRef": {"name": name}}});
    let variables = json!({"postBuild": {"substitute": {"greeting": "hello"}}});
    let mut good = by("keys");
    good.as_object_mut()
        .unwrap()
        .extend(variables.as_object().unwrap().clone());
    setting.create("good", good).await;
    ready(&setting, "good").await;
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let value = async |name: &str, key: &str| {
        let data = secrets.get(name).await.unwrap().data.unwrap();
        String::from_utf8(data[key].0.clone()).unwrap()
    };
    assert_eq!(value("whole", "word").await, "hello from a Secret");
    assert_eq!(value("values", "a.json").await, "{\n\t\"token\": \"inner\"\n}\n");
    assert_eq!(value("made", "TOKEN").await, "s3cr3t");
    assert_eq!(value("made", "token").await, "plain bytes\n");
    setting.create("wrong", by("empty")).await;
    let message = refused(&setting, "wrong", "BuildFailed").await;
    assert!(
        message.contains("age1cksxcwt006k3307rkuwdcmtn8d67dz23rez09l387fn8tjxafcqsws754h"),
        "{message}"
    );
    setting.create("plain", json!({"path": "plain"})).await;
    let message = refused(&setting, "plain", "ReconciliationFailed").await;
    assert!(
        message.contains("whole") && !message.contains("ENC["),
        "{message}"
    );
}

/// SO2: the Secret of `--sops-age-secret` has the keys of those that name none; whoever names a Secret has the keys of that one alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keys_of_the_controller_are_for_those_that_name_none() {
    let global = format!("keys-{}", std::process::id());
    let settings = Settings {
        sops_age_secret: Some(("default".to_owned(), global.clone())),
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[("secret.yaml", ENCRYPTED)], settings).await;
    let secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), "default");
    let keys = json!({"metadata": {"name": global}, "stringData": {"age.agekey": KEY}});
    let keys = serde_json::from_value(keys).unwrap();
    secrets.create(&Default::default(), &keys).await.unwrap();
    setting.bed.secret("empty", "Opaque", json!({"other": "x"})).await;
    setting
        .create("by-none", json!({"decryption": {"provider": "sops"}}))
        .await;
    ready(&setting, "by-none").await;
    let own_secrets: Api<Secret> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let data = own_secrets.get("whole").await.unwrap().data.unwrap();
    assert!(!data["word"].0.starts_with(b"ENC["));
    let by = json!({"decryption": {"provider": "sops", "secretRef": {"name": "empty"}}});
    setting.create("by-its-own", by).await;
    refused(&setting, "by-its-own", "BuildFailed").await;
}
