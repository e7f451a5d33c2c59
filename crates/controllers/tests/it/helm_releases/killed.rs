//! Ended at any moment, a release goes on: nothing is stuck, and nothing is lost.
//!
//! `SLUICE_KILL_SEED` repeats a run's choices and `SLUICE_KILLS` sets how often the controllers are ended.

use std::time::Duration;

use serde_json::json;

use super::bed::Setting;

const KILLS: u64 = 10;

/// How long controllers run before they are ended, in milliseconds: long enough for a release, or for one and its rollback.
const LONGEST_RUN: u64 = 600;

const CONFIG: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: {{ .Values.a | quote }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ if .Values.bad }}Bad_Name{{ else }}{{ .Release.Name }}-other{{ end }}
data:
  a: {{ .Values.a | quote }}
";

const HOOK: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,pre-rollback
    helm.sh/hook-delete-policy: before-hook-creation
data:
  a: {{ .Values.a | quote }}
";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[tokio::test]
async fn ended_at_any_moment_a_release_converges() {
    let seed = number("SLUICE_KILL_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
    eprintln!("SLUICE_KILL_SEED={seed} repeats the choices of this run");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut setting = Setting::with(&[
        ("app/values.yaml", "a: \"0\"\nbad: false\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/hook.yaml", HOOK),
    ])
    .await;
    let forever = json!({"remediation": {"retries": -1}});
    setting
        .create("web", json!({"install": forever, "upgrade": forever}))
        .await;
    for kill in 0..number("SLUICE_KILLS").unwrap_or(KILLS) {
        tokio::time::sleep(Duration::from_millis(random.u64(..LONGEST_RUN))).await;
        setting.bed.kill();
        let values = json!({"a": kill.to_string(), "bad": random.u8(..4) == 0});
        setting
            .bed
            .patch("web", json!({"spec": {"values": values}}))
            .await;
        setting.start();
    }
    setting
        .bed
        .patch("web", json!({"spec": {"values": {"a": "last", "bad": false}}}))
        .await;
    let object = setting
        .bed
        .until("web", |object| {
            let status = object.status.as_ref();
            let is_current =
                status.is_some_and(|status| status.observed_generation == object.metadata.generation);
            let ready = crate::sources::bed::condition(object, "Ready");
            is_current && ready.is_some_and(|ready| ready.status.to_string() == "True")
        })
        .await;
    for name in ["web", "web-other", "web-hook"] {
        setting.value(name, Some("last")).await;
    }
    let latest = object.status.unwrap().history[0].clone();
    let records = setting.records("web").await;
    let with = |wanted: &str| records.iter().filter(|(_, status)| status == wanted).count();
    assert_eq!(with("deployed"), 1, "{records:?}");
    assert!(
        records.iter().all(|(_, status)| !status.starts_with("pending")),
        "{records:?}"
    );
    assert!(
        records.contains(&(latest.version.to_string(), "deployed".to_owned())),
        "{records:?}"
    );
    assert!(
        records.len() <= 6,
        "no more records are kept than asked for: {records:?}"
    );
    setting.bed.api.delete("web", &Default::default()).await.unwrap();
    setting.bed.gone("web").await;
    setting.value("web", None).await;
    setting.value("web-other", None).await;
    assert!(setting.records("web").await.is_empty());
}
