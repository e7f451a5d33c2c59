//! Killed at any moment of an install, an upgrade or a rollback, the program comes back and brings each release to its end.
//!
//! `SLUICE_KILL_SEED` repeats a run's choices and `SLUICE_KILLS` sets how often it is killed.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{ListParams, Patch};
use serde_json::json;

use super::bed::Bed;
use super::kill::choices;
use super::release::{chart, create, ready, releases};

const KILLS: usize = 10;
/// How long it may run before it is killed, in milliseconds: long enough for an action or two.
const LONGEST_RUN: u64 = 1_000;
const RELEASES: [&str; 4] = ["one", "two", "three", "four"];

/// Hooks of all actions, and an object that no server takes where the value is `bad`, so that an upgrade to it is rolled back.
const MORE: [(&str, &str); 2] = [
    (
        "app/templates/hook.yaml",
        "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-upgrade,pre-rollback
data:
  a: {{ .Values.a | quote }}
",
    ),
    (
        "app/templates/odd.yaml",
        "{{ if eq .Values.a \"bad\" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}_IS_NO_NAME
{{ end }}
",
    ),
];

async fn set(bed: &Bed, name: &str, value: &str) {
    let patch = Patch::Merge(json!({"spec": {"values": {"a": value}}}));
    let patched = releases(bed).patch(name, &Default::default(), &patch).await;
    patched.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_it_brings_each_release_to_its_end() {
    let (mut random, kills) = choices(KILLS);
    let bed = Bed::start().await;
    let server = chart(&bed).await;
    server.repository("charts").commit("main", "Hooks", MORE);
    let tried_on = json!({
        "install": {"remediation": {"retries": -1}},
        "upgrade": {"remediation": {"retries": 3, "remediateLastFailure": true}},
    });
    for name in RELEASES {
        create(&bed, name, tried_on.clone()).await;
    }
    for kill in 0..kills {
        for _ in 0..random.usize(0..3) {
            let value = match random.u8(..3) {
                0 => "bad".to_owned(),
                _ => format!("{kill}"),
            };
            set(&bed, RELEASES[random.usize(..RELEASES.len())], &value).await;
        }
        let program = bed.program().with_all().start();
        tokio::time::sleep(Duration::from_millis(random.u64(..LONGEST_RUN))).await;
        program.kill();
    }
    for name in RELEASES {
        set(&bed, name, "end").await;
    }
    let program = bed.program().with_all().start();
    for name in RELEASES {
        ready(&bed, name).await;
        let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
        let map = maps.get(name).await.unwrap();
        assert_eq!(map.data.unwrap()["a"], "end", "{name}");
        let statuses = statuses(&bed, name).await;
        assert_eq!(
            statuses.last().map(String::as_str),
            Some("deployed"),
            "{name}: {statuses:?}"
        );
        let deployed = statuses.iter().filter(|status| *status == "deployed").count();
        let is_pending = statuses.iter().any(|status| status.starts_with("pending"));
        assert!(deployed == 1 && !is_pending, "{name}: {statuses:?}");
    }
    program.stop().await;
}

/// The statuses of the records of a release, the oldest first.
async fn statuses(bed: &Bed, release: &str) -> Vec<String> {
    let secrets: Api<Secret> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let selected = ListParams::default().labels(&format!("owner=helm,name={release}"));
    let listed = secrets.list(&selected).await.unwrap().items.into_iter();
    let mut found: Vec<(i64, String)> = listed
        .map(|secret| {
            let labels = secret.metadata.labels.unwrap();
            (labels["version"].parse().unwrap(), labels["status"].clone())
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, status)| status).collect()
}
