//! Releases of a tenant that take much, or that name what is not theirs.

use std::time::Duration;

use api::source::{ExternalArtifactSpec, HelmChartSpec};
use controllers::helm_releases::Settings;
use kube::api::Patch;
use serde_json::{Value, json};
use testkit::http::{Fault, Reply, Request, Server};

use crate::helm_releases::bed::{CONFIG, Setting};
use crate::sources::bed::condition;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// More than there are workers, and fewer than a namespace may have slow ones.
const SLOW: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charts_of_slow_servers_hold_up_no_others() {
    let settings = Settings {
        external_artifact: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    let server: Server<fn(&Request) -> Reply> = Server::serve(|_| Reply::text("late"));
    server.fail(Fault::hang().forever());
    let source = json!({"sourceRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "own"}});
    setting
        .bed
        .create_other::<ExternalArtifactSpec>("slow", source)
        .await;
    let artifact = json!({
        "path": "app.tgz", "url": format!("{}/app.tgz", server.url()), "revision": "1.0.0",
        "digest": format!("sha256:{}", "0".repeat(64)), "lastUpdateTime": "2026-01-01T00:00:00Z",
    });
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = Patch::Merge(json!({"status": {"artifact": artifact, "conditions": [ready]}}));
    let sources = setting.bed.other::<ExternalArtifactSpec>();
    sources
        .patch_status("slow", &Default::default(), &status)
        .await
        .unwrap();
    for number in 0..SLOW {
        let spec = json!({"chart": null, "chartRef": {"kind": "ExternalArtifact", "name": "slow"}});
        setting.create(&format!("slow-{number}"), spec).await;
    }
    let all_begun = async {
        let mut requests = server.changes();
        requests.wait_for(|count| *count >= SLOW).await.unwrap();
    };
    tokio::time::timeout(testkit::DEADLINE, all_begun).await.unwrap();
    setting.create("quick", json!({})).await;
    setting.deployed("quick", 1).await;
    // The others have not just ended.
    for number in 0..SLOW {
        let object = setting.bed.api.get(&format!("slow-{number}")).await.unwrap();
        let ready = condition(&object, "Ready");
        let is_running = ready
            .as_ref()
            .is_none_or(|ready| ready.status.to_string() == "Unknown");
        assert!(is_running, "{ready:?}");
    }
}

/// What a release says of its values, once it cannot have them.
async fn refused(setting: &Setting, name: &str, references: Vec<Value>) -> String {
    setting.create(name, json!({"valuesFrom": references})).await;
    let object = setting.ready(name, "False", "ValuesError").await;
    condition(&object, "Ready").unwrap().message
}

/// Each reference had the whole object read, and put into memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_from_many_references_are_read_once_and_have_a_largest_size() {
    let setting = Setting::with(&FILES).await;
    setting.set_values("values", "a: two\n").await;
    setting
        .set_values("large", &format!("b: {}\n", "c".repeat(900_000)))
        .await;
    let from = |name: &str| json!({"kind": "ConfigMap", "name": name});
    setting
        .create("web", json!({"valuesFrom": vec![from("values"); 20]}))
        .await;
    setting.deployed("web", 1).await;
    setting.value("web", Some("two")).await;
    setting.asked.until_quiet().await;
    setting.asked.forget();
    setting.ask("web").await;
    let asked = setting.asked.all();
    let reads = asked
        .iter()
        .filter(|request| request.starts_with("GET") && request.contains("/configmaps/values"));
    assert!(reads.count() < 5, "{asked:?}");
    let told = refused(&setting, "many", vec![from("values"); 1001]).await;
    assert_eq!(
        told,
        "spec.valuesFrom has 1001 references: at most 1000 are allowed"
    );
    let told = refused(&setting, "large", vec![from("large"); 10]).await;
    assert!(told.contains("have more than 8 MiB"), "{told}");
}

/// The HelmChart of another release was changed, and then deleted as one's own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_takes_no_helm_chart_of_another_release_over() {
    let setting = Setting::with(&FILES).await;
    let name = format!("{}-web", setting.bed.namespace);
    let own = json!({
        "chart": "other", "interval": "1h", "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    setting.bed.create_other::<HelmChartSpec>(&name, own).await;
    let labels = json!({
        "helm.toolkit.fluxcd.io/name": "other", "helm.toolkit.fluxcd.io/namespace": setting.bed.namespace,
    });
    let charts = setting.bed.other::<HelmChartSpec>();
    let labels = Patch::Merge(json!({"metadata": {"labels": labels}}));
    charts.patch(&name, &Default::default(), &labels).await.unwrap();
    setting.create("web", json!({})).await;
    let object = setting.ready("web", "False", "HelmChartSyncErr").await;
    let told = condition(&object, "Ready").unwrap().message;
    assert!(told.contains("was made for HelmRelease"), "{told}");
    assert_eq!(charts.get(&name).await.unwrap().spec.chart, "other");
}

/// Whoever could write the status of a release could have any HelmChart deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_deletes_no_helm_chart_of_others() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let own = json!({
        "chart": "app", "interval": "1h", "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    setting.bed.create_other::<HelmChartSpec>("foreign", own).await;
    let namespace = &setting.bed.namespace;
    let status = json!({"status": {"helmChart": format!("{namespace}/foreign")}});
    let status = Patch::Merge(status);
    let releases = &setting.bed.api;
    releases
        .patch_status("web", &Default::default(), &status)
        .await
        .unwrap();
    setting.ask("web").await;
    let wanted = format!("{namespace}/{namespace}-web");
    setting
        .bed
        .until("web", |object| {
            let status = object.status.as_ref();
            status.and_then(|status| status.helm_chart.as_deref()) == Some(wanted.as_str())
        })
        .await;
    let charts = setting.bed.other::<HelmChartSpec>();
    assert!(
        charts
            .get("foreign")
            .await
            .unwrap()
            .metadata
            .deletion_timestamp
            .is_none()
    );
    // Its own is deleted with it.
    setting.bed.delete("web").await;
    let name = format!("{namespace}-web");
    let gone =
        testkit::cluster::object_settled(charts, &name, Duration::from_secs(30), |chart| match chart {
            None => Ok(()),
            Some(_) => Err("it is still there".to_owned()),
        });
    gone.await.unwrap();
}
