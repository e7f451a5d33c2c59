//! How objects are brought to the cluster, and whose they are then.

use api::helm::HelmRelease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::Patch;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::bed::{CONFIG, Setting};
use super::hands::{EXTRA, judged, message, said};

const FILES: [(&str, &str); 3] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/extra.yaml", EXTRA),
];

/// `install.disableOpenAPIValidation`, `upgrade.disableOpenAPIValidation`: fields that a kind does not have are refused by the server, which no option keeps
/// it from; with Helm 4 it is the same.
#[tokio::test]
async fn fields_that_a_kind_does_not_have_are_refused() {
    let odd = "{{ if .Values.odd }}
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  clusterIP: None
  nobodyKnows: 1
{{ end }}
";
    let mut files = FILES.to_vec();
    files.push(("app/templates/odd.yaml", odd));
    let setting = Setting::with(&files).await;
    for off in [false, true] {
        let name = format!("odd-{off}");
        let option = json!({"disableOpenAPIValidation": off});
        setting
            .create(&name, json!({"values": {"odd": true}, "install": option}))
            .await;
        let object = setting.ready(&name, "False", "InstallFailed").await;
        let told = message(&object, "Ready");
        assert!(told.contains("nobodyKnows"), "{told}");
        let later = format!("later-{off}");
        setting.create(&later, json!({"upgrade": option})).await;
        setting.deployed(&later, 1).await;
        setting.change(&later, json!({"values": {"odd": true}})).await;
        setting.ready(&later, "False", "UpgradeFailed").await;
    }
}

/// HR7, `install.disableTakeOwnership`, `upgrade.disableTakeOwnership`, `bad:owner`: objects that are there already become part of a release, also those
/// of another one; where that is not wanted, it is told before anything is stored.
#[tokio::test]
async fn objects_of_others_are_taken_over_unless_nobody_wants_that() {
    let setting = Setting::with(&FILES).await;
    let space = setting.bed.namespace.clone();
    let marked = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "before"},
        "metadata": {"name": "owned", "labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {
            "meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": space,
        }},
    });
    setting.put(marked.clone()).await;
    setting.put_value("taken", "before").await;
    setting.put_value("late-extra", "before").await;
    let off = json!({"install": {"disableTakeOwnership": true}, "upgrade": {"disableTakeOwnership": true}});
    setting.create("owned", off.clone()).await;
    setting.create("late", off).await;
    setting.create("taken", json!({})).await;
    setting.deployed("taken", 1).await;
    setting.value("taken", Some("one")).await;
    let map = setting.config_maps().get("taken").await.unwrap();
    assert_eq!(map.annotations()["meta.helm.sh/release-name"], "taken");
    let managers = map
        .managed_fields()
        .iter()
        .map(|field| field.manager.clone().unwrap());
    assert!(managers.into_iter().any(|manager| manager == "helm-controller"));

    let object = setting.ready("owned", "False", "InstallFailed").await;
    let told = message(&object, "Ready");
    let wanted = format!(
        "ConfigMap \"owned\" in namespace \"{space}\" exists and cannot be imported into the current release: invalid ownership metadata; annotation \
         validation error: key \"meta.helm.sh/release-name\" must equal \"owned\": current value is \"other\""
    );
    assert!(told.contains(&wanted), "{told}");
    assert!(
        setting.records("owned").await.is_empty(),
        "nothing is stored of it"
    );
    setting.value("owned", Some("before")).await;

    setting.deployed("late", 1).await;
    setting.change("late", json!({"values": {"extra": "x"}})).await;
    let object = setting.ready("late", "False", "UpgradeFailed").await;
    assert!(
        message(&object, "Ready").contains("late-extra"),
        "{}",
        message(&object, "Ready")
    );
    assert_eq!(setting.records("late").await.len(), 1);
    setting.value("late-extra", Some("before")).await;
    setting
        .change("late", json!({"upgrade": {"disableTakeOwnership": false}}))
        .await;
    setting.deployed("late", 2).await;
    setting.value("late-extra", Some("x")).await;
}

/// RS2, trap19, `install.serverSideApply`, `upgrade.serverSideApply`, `rollback.serverSideApply`: a record says how it was applied, and what follows goes on in the
/// same way unless somebody says otherwise.
#[tokio::test]
async fn releases_go_on_in_the_way_in_which_they_began() {
    let setting = Setting::with(&FILES).await;
    setting.create("server", judged(json!({}))).await;
    let client = json!({"install": {"serverSideApply": false}, "upgrade": {"remediation": {"remediateLastFailure": true}}});
    setting.create("client", judged(client)).await;
    for (name, method) in [("server", "ssa"), ("client", "csa")] {
        setting.deployed(name, 1).await;
        setting.change(name, json!({"values": {"a": "two"}})).await;
        setting.deployed(name, 2).await;
        for version in [1, 2] {
            let record = setting.record(name, version).await;
            assert_eq!(record.apply_method, method, "{name}.v{version}");
        }
    }
    setting
        .change(
            "server",
            json!({"values": {"a": "three"}, "upgrade": {"serverSideApply": "disabled"}}),
        )
        .await;
    setting.deployed("server", 3).await;
    assert_eq!(setting.record("server", 3).await.apply_method, "csa");
    let bad = json!({"values": {"a": "bad"}, "upgrade": {"serverSideApply": "enabled"}});
    setting.change("client", bad).await;
    setting.stalled("client", "RetriesExceeded").await;
    assert_eq!(setting.record("client", 3).await.apply_method, "ssa");
    assert_eq!(
        setting.record("client", 4).await.apply_method,
        "csa",
        "as the one that is brought back"
    );
    setting.value("client", Some("two")).await;
    setting
        .change(
            "client",
            json!({"values": {"a": "bad again"}, "rollback": {"serverSideApply": "enabled"}}),
        )
        .await;
    let rolled_back = |object: &HelmRelease| object.status.as_ref().unwrap().history[0].version == 6;
    setting.bed.until("client", rolled_back).await;
    assert_eq!(setting.record("client", 6).await.apply_method, "ssa");
}

/// RS2, trap19: a field that a chart does not set any more goes, and one that somebody else has added stays, whichever way the releases before and after it are
/// applied; where the server applies, the fields are those of the controller.
#[tokio::test]
async fn fields_that_a_chart_does_not_set_any_more_go_whichever_way_it_is_applied() {
    let marked = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  annotations:\n    always: chart\n{{- with .Values.mark }}\n    mark: {{ . }}\n{{- end }}\ndata: {a: x}\n";
    let setting = Setting::with(&[("app/templates/config.yaml", marked)]).await;
    let ways = [("ssa", true, "enabled"), ("csa", false, "disabled")];
    for (first, installs, _) in ways {
        for (second, _, upgrades) in ways {
            let name = format!("{first}-{second}");
            let spec = json!({
                "values": {"mark": "once"}, "install": {"serverSideApply": installs}, "upgrade": {"serverSideApply": upgrades},
            });
            setting.create(&name, spec).await;
            setting.deployed(&name, 1).await;
            let maps = setting.config_maps();
            let other = Patch::Merge(json!({"metadata": {"annotations": {"other": "somebody"}}}));
            let by = kube::api::PatchParams {
                field_manager: Some("somebody".to_owned()),
                ..Default::default()
            };
            let patched = maps.patch(&name, &by, &other);
            assert_eq!(patched.await.unwrap().annotations()["mark"], "once");
            setting.change(&name, json!({"values": {"mark": null}})).await;
            setting.deployed(&name, 2).await;
            let map = maps.get(&name).await.unwrap();
            let left: Vec<_> = ["always", "mark", "other"]
                .into_iter()
                .filter(|key| map.annotations().contains_key(*key))
                .collect();
            assert_eq!(left, ["always", "other"], "{name}");
            assert_eq!(setting.record(&name, 2).await.apply_method, second, "{name}");
            let fields = map.managed_fields();
            let is_applied = fields.iter().any(|field| {
                field.manager.as_deref() == Some("helm-controller")
                    && field.operation.as_deref() == Some("Apply")
            });
            assert!(is_applied || second == "csa", "{fields:?}");
        }
    }
}

/// `upgrade.force`, `rollback.force`: where the server applies, an object that cannot be changed is not made anew, and stays.
#[tokio::test]
async fn what_cannot_be_changed_is_not_made_anew_on_the_server() {
    let sealed = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-sealed\nimmutable: true\ndata: {a: {{ .Values.a | quote }}}\n";
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/sealed.yaml", sealed),
    ])
    .await;
    let force = json!({"upgrade": {"force": true}, "rollback": {"force": true}});
    setting.create("web", force).await;
    setting.deployed("web", 1).await;
    let before = setting.config_maps().get("web-sealed").await.unwrap();
    setting.change("web", json!({"values": {"a": "two"}})).await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains("web-sealed") && told.contains("immutable"),
        "{told}"
    );
    let after = setting.config_maps().get("web-sealed").await.unwrap();
    assert_eq!(before.uid(), after.uid());
    setting.value("web-sealed", Some("one")).await;
}

/// `upgrade.cleanupOnFail`: what a failed upgrade has brought goes where that is asked for.
#[tokio::test]
async fn what_a_failed_upgrade_has_brought_goes_where_that_is_asked_for() {
    let setting = Setting::with(&FILES).await;
    for (name, cleans) in [("clean", true), ("left", false)] {
        setting
            .create(name, judged(json!({"upgrade": {"cleanupOnFail": cleans}})))
            .await;
        setting.deployed(name, 1).await;
        setting
            .change(name, json!({"values": {"a": "bad", "extra": "x"}}))
            .await;
        setting.stalled(name, "RetriesExceeded").await;
    }
    setting.value("clean-extra", None).await;
    setting.value("left-extra", Some("x")).await;
}

pub(super) fn definition(group: &str, plural: &str, versions: &[&str]) -> String {
    let kind = format!("{}{}", plural[..1].to_uppercase(), &plural[1..plural.len() - 1]);
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let schema = json!({"openAPIV3Schema": {"type": "object"}});
            json!({"name": name, "served": true, "storage": at == 0, "schema": schema})
        })
        .collect();
    let names = json!({"kind": kind, "plural": plural, "singular": plural[..plural.len() - 1], "listKind": format!("{kind}List")});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
    })
    .to_string()
}

type Definitions =
    Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition>;

async fn versions(definitions: &Definitions, name: &str) -> Vec<String> {
    let found = definitions.get_opt(name).await.unwrap();
    let versions = found.map(|found| found.spec.versions).unwrap_or_default();
    versions.into_iter().map(|version| version.name).collect()
}

/// HR10, RS6, trap2, `install.crds`, `install.skipCRDs`, `upgrade.crds`: definitions in `crds/` are made with an install, new ones also with an upgrade that says
/// nothing; they are changed only where that is asked for and never deleted. `skipCRDs` has no effect.
#[tokio::test]
async fn definitions_are_made_changed_and_never_deleted() {
    let server = Setting::with(&FILES).await;
    let group = format!("{}.sluice.test", server.bed.namespace);
    let definitions: Definitions = Api::all(server.bed.cluster.client());
    let [olds, news, skips] = ["olds", "news", "skips"].map(|plural| format!("{plural}.{group}"));
    for name in [&olds, &news, &skips] {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        server.bed.cluster.delete_at_end(path);
    }
    let first = definition(&group, "olds", &["v1"]);
    server.commit(&[("app/crds/old.yaml", &first)]).await;
    let with_files = |object: &HelmRelease| {
        let inventory = object
            .status
            .as_ref()
            .and_then(|status| status.inventory.as_ref());
        inventory.is_some_and(|inventory| inventory.entries.len() == 2)
    };
    server.create("web", json!({"install": {"skipCRDs": true}})).await;
    let object = server
        .bed
        .until("web", |object| {
            with_files(object) && said(object, &["Ready"])[0].starts_with("Ready=True")
        })
        .await;
    let status = object.status.unwrap();
    // The release may have been installed from the chart before the commit.
    let installed = status.history[0].version;
    let listed = status.inventory.unwrap().entries;
    assert!(listed.iter().any(|entry| *entry.id.0.name == *olds), "{listed:?}");
    assert_eq!(versions(&definitions, &olds).await, ["v1"]);
    let labels = definitions.get(&olds).await.unwrap().metadata.labels.unwrap();
    assert_eq!(labels["helm.toolkit.fluxcd.io/name"], "web");
    assert_eq!(labels["helm.toolkit.fluxcd.io/namespace"], server.bed.namespace);

    let second = definition(&group, "olds", &["v1", "v2"]);
    let new = definition(&group, "news", &["v1"]);
    server
        .commit(&[("app/crds/old.yaml", &second), ("app/crds/new.yaml", &new)])
        .await;
    let upgraded = |version: i64| {
        move |object: &HelmRelease| {
            let latest = object.status.as_ref().and_then(|status| status.history.first());
            latest.is_some_and(|latest| latest.version >= version && latest.status == "deployed")
        }
    };
    let object = server.bed.until("web", upgraded(installed + 1)).await;
    assert_eq!(versions(&definitions, &news).await, ["v1"], "new ones are made");
    assert_eq!(
        versions(&definitions, &olds).await,
        ["v1"],
        "those that are there are left"
    );
    let next = object.status.unwrap().history[0].version + 1;
    server
        .change(
            "web",
            json!({"upgrade": {"crds": "CreateReplace"}, "values": {"a": "two"}}),
        )
        .await;
    server.bed.until("web", upgraded(next)).await;
    assert_eq!(versions(&definitions, &olds).await, ["v1", "v2"]);
    let none = json!({"install": {"crds": "Skip"}, "upgrade": {"crds": "Skip"}});
    let skipped = definition(&group, "skips", &["v1"]);
    server.change("web", none.clone()).await;
    server.commit(&[("app/crds/skip.yaml", &skipped)]).await;
    server.create("skips", none).await;
    server.bed.until("skips", upgraded(1)).await;
    server.bed.until("web", upgraded(next + 1)).await;
    assert!(versions(&definitions, &skips).await.is_empty());
    server.bed.delete("web").await;
    assert_eq!(versions(&definitions, &olds).await.len(), 2, "they stay");
    for name in [&olds, &news] {
        definitions.delete(name, &Default::default()).await.unwrap();
    }
}

/// `install.createNamespace`, `bad:forbidden`: the namespace is made where that is asked for, and only if it is another one; without it the install fails,
/// which is told by its name.
#[tokio::test]
async fn the_namespace_is_made_where_that_is_asked_for() {
    let setting = Setting::with(&FILES).await;
    let cluster = &setting.bed.cluster;
    let (made, missing) = (cluster.name("made"), cluster.name("missing"));
    cluster.delete_at_end(format!("/api/v1/namespaces/{made}"));
    let target = |name: &str, creates: bool| {
        let release = if creates { "web" } else { "never" };
        json!({"targetNamespace": name, "releaseName": release, "install": {"createNamespace": creates}})
    };
    setting.create("made", target(&made, true)).await;
    setting.create("missing", target(&missing, false)).await;
    setting.deployed("made", 1).await;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), &made);
    maps.get("web").await.unwrap();
    let object = setting.ready("missing", "False", "InstallFailed").await;
    assert!(
        message(&object, "Ready").contains(&missing),
        "{}",
        message(&object, "Ready")
    );
    setting.bed.delete("made").await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let left = namespaces.get(&made).await.unwrap();
    assert_eq!(left.labels()["name"], made, "it stays");
}
