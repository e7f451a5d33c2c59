//! How installs, upgrades, rollbacks, uninstalls and tests are done: each option of the spec.

use std::time::Duration;

use kube::ResourceExt;
use kube::api::Patch;
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{CONFIG, Setting};
use super::hands::{EXTRA, judged, message, said};

/// A Job that nobody ends.
const JOB: &str = "{{ if .Values.job }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: none}]
{{ end }}
";

/// Hooks before each action, one ConfigMap for each.
const HOOKS: &str = "{{ range list \"install\" \"upgrade\" \"rollback\" \"delete\" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $.Release.Name }}-{{ . }}
  annotations: {helm.sh/hook: pre-{{ . }}}
data: {a: hook}
{{ end }}
";

const FILES: [(&str, &str); 4] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/job.yaml", JOB),
    ("app/templates/extra.yaml", EXTRA),
];

/// The spec of a release whose upgrade fails at once and is rolled back.
fn rolled_back(rollback: Value, install: Value) -> Value {
    judged(json!({
        "values": {"job": true, "extra": "x"}, "install": install, "rollback": rollback,
        "upgrade": {"remediation": {"remediateLastFailure": true}},
    }))
}

/// `timeout`, `install.timeout`, `upgrade.timeout`, `disableWait`, `disableWaitForJobs`, HR9, `waitStrategy`: a Job is waited for until it is complete
/// unless nobody wants that, for as long as the action says, or else the release.
#[tokio::test]
async fn what_is_installed_and_upgraded_is_waited_for_unless_nobody_wants_that() {
    let setting = Setting::with(&FILES).await;
    let mut names = Vec::new();
    for (name, options, is_ready) in [
        ("short", json!({"timeout": "1s"}), false),
        ("nowait", json!({"disableWait": true}), true),
        ("nojobs", json!({"disableWaitForJobs": true}), true),
    ] {
        let install = json!({
            "values": {"job": true}, "install": options, "timeout": "1m", "waitStrategy": {"name": "poller"},
        });
        setting.create(&format!("i-{name}"), install).await;
        let later = format!("u-{name}");
        setting
            .create(&later, json!({"upgrade": options, "timeout": "1m"}))
            .await;
        setting.deployed(&later, 1).await;
        setting.change(&later, json!({"values": {"job": true}})).await;
        names.push((name, is_ready));
    }
    setting
        .create("i-own", json!({"values": {"job": true}, "timeout": "1s"}))
        .await;
    for (name, is_ready) in names {
        for (kind, version, reason) in [("i", 1, "InstallFailed"), ("u", 2, "UpgradeFailed")] {
            let name = format!("{kind}-{name}");
            if is_ready {
                setting.deployed(&name, version).await;
                continue;
            }
            let object = setting.ready(&name, "False", reason).await;
            let (told, space) = (message(&object, "Ready"), &setting.bed.namespace);
            let waited = format!("timeout waiting for: [Job/{space}/{name} status: 'InProgress'");
            assert!(told.contains(&waited), "{told}");
        }
    }
    setting.ready("i-own", "False", "InstallFailed").await;
}

/// `rollback.timeout`, `rollback.disableWait`, `rollback.disableWaitForJobs`, `rollback.cleanupOnFail`, `rollback.recreate`, HR9: a rollback waits
/// as an install does, and what a failed one has brought goes where that is asked for.
#[tokio::test]
async fn what_is_rolled_back_is_waited_for_unless_nobody_wants_that() {
    let setting = Setting::with(&FILES).await;
    let at_once = json!({"disableWait": true});
    for (name, rollback) in [
        ("short", json!({"timeout": "1s"})),
        ("clean", json!({"timeout": "1s", "cleanupOnFail": true})),
        ("nowait", json!({"disableWait": true, "recreate": true})),
        ("nojobs", json!({"disableWaitForJobs": true})),
    ] {
        setting.create(name, rolled_back(rollback, at_once.clone())).await;
    }
    for name in ["short", "clean", "nowait", "nojobs"] {
        setting.deployed(name, 1).await;
        let bad = json!({"values": {"job": false, "extra": null, "a": "bad"}});
        setting.change(name, bad).await;
    }
    for name in ["nowait", "nojobs"] {
        let object = setting.stalled(name, "RetriesExceeded").await;
        assert_eq!(
            said(&object, &["Remediated"]),
            ["Remediated=True RollbackSucceeded"]
        );
        setting.value(name, Some("one")).await;
        setting.value(&format!("{name}-extra"), Some("x")).await;
    }
    let failed = ["Remediated=False RollbackFailed", "Ready=False RollbackFailed"];
    setting.until_said("short", &failed).await;
    setting.value("short-extra", Some("x")).await;
    setting.until_said("clean", &failed).await;
    setting.value("clean-extra", None).await;
    setting.value("clean", Some("one")).await;
}

/// `install.disableHooks`, `upgrade.disableHooks`, `rollback.disableHooks`, `uninstall.disableHooks`, `uninstall.keepHistory`: hooks run with their
/// action, and do not where nobody wants them.
#[tokio::test]
async fn hooks_are_not_run_where_nobody_wants_them() {
    let mut files = FILES.to_vec();
    files.push(("app/templates/hooks.yaml", HOOKS));
    let setting = Setting::with(&files).await;
    for (name, off) in [("with", false), ("without", true)] {
        let none = json!({"disableHooks": off});
        let spec = json!({
            "install": none, "rollback": none, "uninstall": {"disableHooks": off, "keepHistory": true},
            "upgrade": {"disableHooks": off, "remediation": {"remediateLastFailure": true}},
        });
        setting.create(name, judged(spec)).await;
        setting.deployed(name, 1).await;
        setting.change(name, json!({"values": {"a": "bad"}})).await;
    }
    for (name, hook) in [("with", Some("hook")), ("without", None)] {
        let object = setting.stalled(name, "RetriesExceeded").await;
        assert_eq!(
            said(&object, &["Remediated"]),
            ["Remediated=True RollbackSucceeded"]
        );
        setting.bed.api.delete(name, &Default::default()).await.unwrap();
        setting.bed.gone(name).await;
        for action in ["install", "upgrade", "rollback", "delete"] {
            setting.value(&format!("{name}-{action}"), hook).await;
        }
        let stories = setting.stories(name).await;
        assert_eq!(
            stories.last().unwrap(),
            "3 uninstalled: Uninstallation complete",
            "{stories:?}"
        );
    }
}

/// `uninstall.timeout`, `uninstall.disableWait`, HR8: that objects of a release do not go is told, unless nobody waits for them; the release has gone all the same.
#[tokio::test]
async fn what_is_uninstalled_is_waited_for_unless_nobody_wants_that() {
    let held = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-held\n  finalizers: [sluice.test/held]\ndata: {a: x}\n";
    let setting = Setting::with(&[("app/templates/held.yaml", held)]).await;
    setting
        .create("waits", json!({"uninstall": {"timeout": "1s"}}))
        .await;
    setting
        .create("leaves", json!({"uninstall": {"disableWait": true}}))
        .await;
    for name in ["waits", "leaves"] {
        setting.deployed(name, 1).await;
        setting.bed.api.delete(name, &Default::default()).await.unwrap();
    }
    setting.bed.gone("leaves").await;
    let left = setting.config_maps().get("leaves-held").await.unwrap();
    assert!(left.metadata.deletion_timestamp.is_some());
    setting
        .bed
        .until_event(|event| {
            let text = event.message.as_deref().unwrap_or_default();
            event.reason.as_deref() == Some("UninstallFailed") && text.contains("waits-held")
        })
        .await;
    setting.bed.gone("waits").await;
    assert!(setting.records("waits").await.is_empty());
    let left = setting.config_maps().get("waits-held").await.unwrap();
    assert!(left.metadata.deletion_timestamp.is_some());
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    for name in ["waits-held", "leaves-held"] {
        let freed = setting
            .config_maps()
            .patch(name, &Default::default(), &free)
            .await;
        freed.unwrap();
    }
}

/// `uninstall.deletionPropagation`: what belongs to deleted objects goes with them, or stays.
#[tokio::test]
async fn what_belongs_to_uninstalled_objects_goes_or_stays() {
    let setting = Setting::with(&FILES).await;
    for way in ["background", "foreground", "orphan"] {
        setting
            .create(way, json!({"uninstall": {"deletionPropagation": way}}))
            .await;
        setting.deployed(way, 1).await;
        let owner = setting.config_maps().get(way).await.unwrap();
        let dependent = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "x"},
            "metadata": {"name": format!("of-{way}"), "ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": way, "uid": owner.uid().unwrap()},
            ]},
        });
        setting.put(dependent).await;
        setting.bed.delete(way).await;
        setting.value(way, None).await;
    }
    setting.value("of-background", None).await;
    setting.value("of-foreground", None).await;
    let settled = object_settled(
        setting.config_maps(),
        "of-orphan",
        Duration::from_secs(30),
        |map| match map {
            Some(map) if map.owner_references().is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
    settled.await.unwrap();
}

/// `install.disableSchemaValidation`, `upgrade.disableSchemaValidation`: values that the chart does not allow are refused, unless nobody asks for that.
#[tokio::test]
async fn values_that_the_chart_does_not_allow_are_taken_where_nobody_asks() {
    let mut files = FILES.to_vec();
    let schema = r#"{"properties": {"a": {"type": "string"}}}"#;
    files.push(("app/values.schema.json", schema));
    let setting = Setting::with(&files).await;
    let wrong = json!({"values": {"a": 5}});
    setting.create("refused", wrong.clone()).await;
    let object = setting.ready("refused", "False", "InstallFailed").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains("values don't meet the specifications of the schema(s)"),
        "{told}"
    );
    assert!(
        setting.records("refused").await.is_empty(),
        "nothing is stored of it"
    );
    let off = json!({"disableSchemaValidation": true});
    let taken = json!({"values": {"a": 5}, "install": off, "upgrade": off});
    setting.create("taken", taken).await;
    setting.deployed("taken", 1).await;
    setting.change("taken", json!({"values": {"a": 6}})).await;
    setting.deployed("taken", 2).await;
    setting
        .change(
            "taken",
            json!({"values": {"a": 7}, "upgrade": {"disableSchemaValidation": false}}),
        )
        .await;
    setting.ready("taken", "False", "UpgradeFailed").await;
    setting.value("taken", Some("6")).await;
}

/// `upgrade.preserveValues`: the values of the release before stay where nothing else is said, and that is no reason for one more upgrade.
#[tokio::test]
async fn the_values_of_the_release_before_stay_where_that_is_asked_for() {
    let setting = Setting::with(&FILES).await;
    let keeps = json!({"values": {"a": "first", "extra": "x"}, "upgrade": {"preserveValues": true}});
    setting.create("web", keeps).await;
    setting.deployed("web", 1).await;
    setting
        .change("web", json!({"values": {"a": "second", "extra": null}}))
        .await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("second")).await;
    setting.value("web-extra", Some("x")).await;
    let config = setting.record("web", 2).await.config.unwrap();
    assert_eq!(
        serde_json::to_value(&config).unwrap(),
        json!({"a": "second", "extra": "x"})
    );
    let object = setting.ask("web").await;
    assert_eq!(object.status.unwrap().history[0].version, 2);
}

/// `install.replace`: a name that was used before is used again.
#[tokio::test]
async fn a_name_that_was_used_before_is_used_again() {
    let setting = Setting::with(&FILES).await;
    let spec = json!({"install": {"replace": true}, "uninstall": {"keepHistory": true}});
    setting.create("web", spec.clone()).await;
    setting.deployed("web", 1).await;
    setting.bed.delete("web").await;
    assert_eq!(
        setting.stories("web").await,
        ["1 uninstalled: Uninstallation complete"]
    );
    setting.create("web", spec).await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("one")).await;
}

fn pod(name: &str, event: &str) -> String {
    format!(
        "{{{{ if .Values.{name} }}}}\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  annotations: {{helm.sh/hook: {event}}}\nspec:\n  \
         restartPolicy: Never\n  containers: [{{name: c, image: none}}]\n{{{{ end }}}}\n"
    )
}

/// `test.filters`, `test.timeout`, `test.enable`, HR9, RS3: tests are waited for until they have run to their end, those that are asked for, for as long as they may take.
#[tokio::test]
async fn tests_are_waited_for_and_chosen_by_name() {
    let (good, bad, long) = (pod("good", "test"), pod("bad", "test"), pod("long", "test"));
    let mut files = FILES.to_vec();
    files.extend([
        ("app/templates/good.yaml", good.as_str()),
        ("app/templates/bad.yaml", bad.as_str()),
        ("app/templates/long.yaml", long.as_str()),
    ]);
    let setting = Setting::with(&files).await;
    let spec = json!({
        "values": {"good": true, "bad": true}, "timeout": "1m",
        "test": {"enable": true, "filters": [{"name": "bad", "exclude": true}]},
    });
    setting.create("web", spec).await;
    setting.end_pod("good", "Succeeded").await;
    let object = setting.ready("web", "True", "TestSucceeded").await;
    let told = message(&object, "TestSuccess");
    assert!(told.ends_with(": 1 test hook completed successfully"), "{told}");
    let tests = object.status.unwrap().history[0].test_hooks.clone().unwrap();
    assert_eq!(tests.keys().collect::<Vec<_>>(), ["good"]);
    assert!(tests["good"].last_started.is_some() && tests["good"].last_completed.is_some());
    let only = json!({"values": {"a": "two", "good": true}, "test": {"filters": [{"name": "bad"}]}});
    setting.change("web", only).await;
    setting.end_pod("bad", "Failed").await;
    let object = setting.until_said("web", &["TestSuccess=False TestFailed"]).await;
    let tests = object.status.unwrap().history[0].test_hooks.clone().unwrap();
    assert_eq!(tests["bad"].phase.as_deref(), Some("Failed"));
    assert_eq!(tests.len(), 1);
    let long = json!({"values": {"long": true}, "timeout": "1m", "test": {"enable": true, "timeout": "1s"}});
    setting.create("long", long).await;
    let object = setting
        .until_said("long", &["TestSuccess=False TestFailed"])
        .await;
    let told = message(&object, "TestSuccess");
    assert!(told.contains("long"), "{told}");
}
