//! What people get wrong, one thing each: it is told with the reason of the contract, with chart, template and line where there are any, and what runs goes on.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{CHART, CONFIG, Setting};
use super::hands::{judged, message, said};
use crate::sources::bed::condition;

/// Everything that can be wrong about a chart, each asked for by a value.
const MISTAKES: &str = "{{ if eq .Values.mistake \"call\" }}
a: {{ template \"nowhere\" }}
{{ else if eq .Values.mistake \"yaml\" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: [
{{ else if eq .Values.mistake \"fail\" }}
{{ fail \"the chart does not want this\" }}
{{ else if eq .Values.mistake \"kind\" }}
apiVersion: nobody.test/v1
kind: Nothing
metadata:
  name: it
{{ else if eq .Values.mistake \"name\" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: Not_A_Name
{{ else if eq .Values.mistake \"hook\" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: Not_A_Name
  annotations: {helm.sh/hook: pre-upgrade}
{{ else if eq .Values.mistake \"slow\" }}
apiVersion: v1
kind: Pod
metadata:
  name: never
  annotations: {helm.sh/hook: pre-upgrade}
spec:
  restartPolicy: Never
  containers: [{name: c, image: none}]
{{ else if eq .Values.mistake \"large\" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-one
data: {a: {{ randAlphaNum 700000 }}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-two
data: {a: {{ randAlphaNum 700000 }}}
{{ end }}
";

/// What somebody gets wrong.
struct Mistake {
    name: &'static str,
    values: Value,
    /// What the message names.
    told: &'static [&'static str],
    /// Whether a release is stored of it, which has failed.
    is_stored: bool,
}

fn mistakes() -> Vec<Mistake> {
    let mistake = |name, told, is_stored| Mistake {
        name,
        values: json!({"mistake": name}),
        told,
        is_stored,
    };
    let mut all = vec![
        mistake("call", &["app/templates/mistakes.yaml", "nowhere"][..], false),
        mistake("yaml", &["app/templates/mistakes.yaml", "line"], false),
        mistake(
            "fail",
            &["app/templates/mistakes.yaml:", "the chart does not want this"],
            false,
        ),
        mistake(
            "kind",
            &[
                "unable to build kubernetes objects from release manifest",
                "Nothing",
                "nobody.test/v1",
            ],
            false,
        ),
        mistake("name", &["Not_A_Name"], true),
        mistake("hook", &["failed pre-upgrade: ", "Not_A_Name"], true),
        mistake("slow", &["failed pre-upgrade: ", "never"], true),
        mistake(
            "large",
            &["takes ", "bytes packed, and Kubernetes keeps 1048576 at most"],
            false,
        ),
    ];
    all.push(Mistake {
        name: "schema",
        values: json!({"mistake": 5}),
        told: &[
            "values don't meet the specifications of the schema(s) in the following chart(s)",
            "app",
            "/mistake",
        ],
        is_stored: false,
    });
    all
}

/// HR2, HS3, `bad:chart`, `bad:schema`, `bad:hook`, `bad:large`: what fails before a release is stored is tried again and counts against no retries; what leaves one behind
/// counts. Whatever it is, the release before goes on.
#[tokio::test]
async fn each_mistake_is_told_and_the_release_before_goes_on() {
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\nmistake: none\n"),
        (
            "app/values.schema.json",
            r#"{"properties": {"mistake": {"type": "string"}}}"#,
        ),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/mistakes.yaml", MISTAKES),
    ])
    .await;
    let mistakes = mistakes();
    for mistake in &mistakes {
        let spec = json!({"upgrade": {"timeout": "2s", "remediation": {"retries": 0}}});
        setting.create(mistake.name, spec).await;
    }
    for mistake in &mistakes {
        setting.deployed(mistake.name, 1).await;
        setting
            .change(mistake.name, json!({"values": mistake.values}))
            .await;
    }
    for mistake in &mistakes {
        let name = mistake.name;
        let object = setting.ready(name, "False", "UpgradeFailed").await;
        let told = message(&object, "Ready");
        for wanted in mistake.told {
            assert!(told.contains(wanted), "{name}: {wanted:?} is not in {told:?}");
        }
        let begin = format!(
            "Helm upgrade failed for release {}/{name} with chart app@1.0.0+",
            setting.bed.namespace
        );
        assert!(told.starts_with(&begin), "{told}");
        if mistake.is_stored {
            setting.stalled(name, "RetriesExceeded").await;
        } else {
            assert_eq!(said(&object, &["Stalled"]), ["no Stalled"], "{name}");
            assert_eq!(object.status.unwrap().upgrade_failures, None, "{name}");
        }
        let records = setting.records(name).await;
        assert_eq!(records.len(), if mistake.is_stored { 2 } else { 1 }, "{name}");
        assert_eq!(records[0].1, "deployed", "{name}");
        setting.value(name, Some("one")).await;
        setting
            .change(name, json!({"values": {"mistake": "none", "a": "mended"}}))
            .await;
    }
    for mistake in &mistakes {
        setting.value(mistake.name, Some("mended")).await;
        let fine = |object: &api::helm::HelmRelease| said(object, &["Ready"])[0].starts_with("Ready=True");
        setting.bed.until(mistake.name, fine).await;
    }
}

/// `bad:version`, HS3: a chart whose version is none never becomes an artifact; that is told of its HelmChart, and the release before goes on.
#[tokio::test]
async fn a_chart_whose_version_is_none_is_told_and_the_release_before_goes_on() {
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        (
            "other/Chart.yaml",
            &CHART.replace("1.0.0", "not-a-version").replace("app", "other"),
        ),
    ])
    .await;
    setting.create("web", judged(json!({}))).await;
    setting.deployed("web", 1).await;
    setting
        .change("web", json!({"chart": {"spec": {"chart": "other"}}}))
        .await;
    // Whoever looked before the HelmChart had failed looks again when dependencies are asked for the next time.
    let told = object_settled(
        setting.bed.api.clone(),
        "web",
        Duration::from_secs(90),
        |object| {
            let ready = object.and_then(|object| condition(object, "Ready"));
            match ready {
                Some(ready)
                    if ready.reason == "SourceNotReady" && ready.message.contains("not-a-version") =>
                {
                    Ok(ready.message)
                }
                other => Err(format!("{other:?}")),
            }
        },
    );
    let told = told.await.unwrap();
    let name = format!("HelmChart '{0}/{0}-web' is not ready: ", setting.bed.namespace);
    assert!(told.starts_with(&name), "{told}");
    setting.value("web", Some("one")).await;
    setting
        .change("web", json!({"chart": {"spec": {"chart": "app"}}}))
        .await;
    let fine = |object: &api::helm::HelmRelease| said(object, &["Ready"])[0].starts_with("Ready=True");
    let object = setting.bed.until("web", fine).await;
    assert_eq!(object.status.unwrap().history[0].version, 1);
}

/// HS3, `bad:chart`: a storage that cannot be read is told by its Secret, never by what is in it.
#[tokio::test]
async fn a_record_that_cannot_be_read_is_told_by_its_name() {
    let setting = Setting::with(&[
        ("app/templates/config.yaml", CONFIG),
        ("app/values.yaml", "a: one\n"),
    ])
    .await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let patch = kube::api::Patch::Merge(json!({"stringData": {"release": "geheim"}}));
    let by = Default::default();
    setting
        .secrets()
        .patch("sh.helm.release.v1.web.v1", &by, &patch)
        .await
        .unwrap();
    let token = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    setting.bed.patch("web", token).await;
    let object = setting.ready("web", "False", "StateError").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains("sh.helm.release.v1.web.v1") && !told.contains("geheim"),
        "{told}"
    );
    setting.value("web", Some("one")).await;
}
