//! Where charts come from: the HelmChart that is made for a release, and artifacts that are there already.

use std::time::Duration;

use api::helm::HelmRelease;
use api::source::{ExternalArtifactSpec, HelmChart, HelmChartSpec, OciRepositorySpec};
use controllers::helm_releases::Settings;
use controllers::sources::OciRepositories;
use kube::ResourceExt;
use kube::api::Patch;
use serde_json::{Value, json};
use testkit::cluster::object_settled;
use testkit::helm::Chart;
use testkit::http::{Reply, Request, Server};
use testkit::oci;

use super::bed::{CONFIG, Setting};
use super::hands::{message, said};

const FILES: [(&str, &str); 3] = [
    ("app/values.yaml", "a: one\n"),
    ("app/values-prod.yaml", "a: prod\n"),
    ("app/templates/config.yaml", CONFIG),
];

async fn helm_chart(setting: &Setting, name: &str) -> Option<HelmChart> {
    setting.bed.other::<HelmChartSpec>().get_opt(name).await.unwrap()
}

async fn helm_chart_gone(setting: &Setting, name: &str) {
    let charts = setting.bed.other::<HelmChartSpec>();
    let gone = object_settled(charts, name, testkit::DEADLINE, |chart| match chart {
        None => Ok(()),
        Some(_) => Err("it is still there".to_owned()),
    });
    gone.await.unwrap();
}

/// A release of something that is there already.
async fn create_of(setting: &Setting, name: &str, kind: &str, source: &str) {
    let spec = json!({"interval": "1h", "timeout": "20s", "chartRef": {"kind": kind, "name": source}});
    setting.bed.create(name, spec).await;
}

/// `chart`, trap21, HS3: the HelmChart has the name that clients know, the labels of its release and all that the template says; it is changed with the template,
/// reported in the status, told of in events, and goes with its release.
#[tokio::test]
async fn a_helm_chart_is_made_of_the_template_and_goes_with_it() {
    let setting = Setting::with(&FILES).await;
    let space = setting.bed.namespace.clone();
    let template = json!({"chart": {
        "metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}},
        "spec": {
            "chart": "./app", "version": "*", "interval": "3m", "reconcileStrategy": "Revision",
            "valuesFiles": ["app/values.yaml", "app/values-prod.yaml", "app/missing.yaml"], "ignoreMissingValuesFiles": true,
            "sourceRef": {"kind": "GitRepository", "name": "charts"},
        },
    }});
    setting.create("web", template).await;
    let object = setting.deployed("web", 1).await;
    setting.value("web", Some("prod")).await;
    let name = format!("{space}-web");
    assert_eq!(object.status.unwrap().helm_chart, Some(format!("{space}/{name}")));
    let chart = helm_chart(&setting, &name).await.unwrap();
    let (labels, annotations) = (chart.labels(), chart.annotations());
    assert_eq!(
        (labels["team"].as_str(), annotations["note"].as_str()),
        ("a", "b")
    );
    assert_eq!(labels["helm.toolkit.fluxcd.io/name"], "web");
    assert_eq!(labels["helm.toolkit.fluxcd.io/namespace"], space);
    let spec = serde_json::to_value(&chart.spec).unwrap();
    let wanted = json!({
        "chart": "./app", "version": "*", "interval": "3m0s", "reconcileStrategy": "Revision", "ignoreMissingValuesFiles": true,
        "valuesFiles": ["app/values.yaml", "app/values-prod.yaml", "app/missing.yaml"],
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&spec[key], value, "{key}");
    }
    let told = |reason: &'static str| {
        let reference = format!("SourceRef 'GitRepository/{space}/charts'");
        move |event: &k8s_openapi::api::core::v1::Event| {
            let message = event.message.as_deref().unwrap_or_default();
            event.reason.as_deref() == Some(reason)
                && (reason == "HelmChartDeleted" || message.ends_with(&reference))
        }
    };
    setting.bed.until_event(told("HelmChartCreated")).await;
    let files = json!({"chart": {"spec": {"valuesFiles": ["app/values.yaml"]}}});
    setting.change("web", files).await;
    setting.value("web", Some("one")).await;
    setting.bed.until_event(told("HelmChartConfigured")).await;

    // An artifact that is there already takes its place.
    let own = json!({
        "chart": "app", "interval": "1h", "reconcileStrategy": "Revision",
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    setting.bed.create_other::<HelmChartSpec>("own", own).await;
    setting
        .change(
            "web",
            json!({"chart": null, "chartRef": {"kind": "HelmChart", "name": "own"}}),
        )
        .await;
    helm_chart_gone(&setting, &name).await;
    let object = setting
        .bed
        .until("web", |object| {
            object.status.as_ref().unwrap().helm_chart.is_none()
        })
        .await;
    assert_eq!(object.spec.chart_ref.unwrap().name, "own");
    setting.bed.until_event(told("HelmChartDeleted")).await;
    setting.create("other", json!({})).await;
    setting.deployed("other", 1).await;
    setting.bed.delete("other").await;
    helm_chart_gone(&setting, &format!("{space}-other")).await;
    setting.bed.delete("web").await;
    assert!(
        helm_chart(&setting, "own").await.is_some(),
        "what others have made stays"
    );
}

/// `chartRef`, HS6, HR11: a HelmChart that is not ready is waited for, and its coming wakes the release; so does a new artifact.
#[tokio::test]
async fn a_source_that_is_not_ready_is_waited_for_and_wakes_the_release() {
    let setting = Setting::with(&FILES).await;
    create_of(&setting, "web", "HelmChart", "own").await;
    let object = setting.ready("web", "False", "ArtifactFailed").await;
    let told = message(&object, "Ready");
    assert!(told.starts_with("could not get Source object: "), "{told}");
    let space = setting.bed.namespace.clone();
    let nowhere = json!({
        "chart": "nowhere", "interval": "1h", "reconcileStrategy": "Revision",
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    setting.bed.create_other::<HelmChartSpec>("own", nowhere).await;
    let object = setting.ready("web", "False", "SourceNotReady").await;
    let told = message(&object, "Ready");
    assert!(
        told.starts_with(&format!("HelmChart '{space}/own' is not ready: ")),
        "{told}"
    );
    assert_ne!(
        object.status.unwrap().observed_generation,
        Some(1),
        "it is not dealt with yet"
    );
    let patch = Patch::Merge(json!({"spec": {"chart": "app"}}));
    let charts = setting.bed.other::<HelmChartSpec>();
    charts.patch("own", &Default::default(), &patch).await.unwrap();
    setting.deployed("web", 1).await;
    setting.commit(&[("app/values.yaml", "a: two\n")]).await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("two")).await;
    // A source that fails later has its artifact still, and the release stays as it is.
    let patch = Patch::Merge(json!({"spec": {"chart": "nowhere"}}));
    charts.patch("own", &Default::default(), &patch).await.unwrap();
    setting
        .bed
        .ready_other::<HelmChartSpec>("own", "False", "InvalidChartReference")
        .await;
    setting.ask("web").await;
    setting.value("web", Some("two")).await;
}

fn repository(registry: &oci::Server, tag: &str) -> Value {
    json!({
        "url": format!("oci://{}/charts/app", registry.host()), "interval": "1h", "insecure": true, "ref": {"tag": tag},
        "layerSelector": {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"},
    })
}

fn chart(version: &str, value: &str) -> oci::Artifact {
    Chart::new("app", version)
        .metadata("appVersion", "7")
        .values(&format!("a: {value}\n"))
        .template("config.yaml", CONFIG)
        .artifact()
}

/// `chartRef`, §3.8, HS5, RS3: the digest of an OCI artifact is part of the version, in the status, the history, the record and in events, so that a tag that is moved is seen.
#[tokio::test]
async fn a_chart_of_a_registry_has_the_digest_in_its_version() {
    let registry = oci::Server::start();
    let first = registry.push("charts/app", "1.0.0", &chart("1.0.0", "one"));
    let mut setting = Setting::with(&FILES).await;
    setting.bed.run(OciRepositories::new);
    setting
        .bed
        .create_other::<OciRepositorySpec>("app", repository(&registry, "1.0.0"))
        .await;
    create_of(&setting, "web", "OCIRepository", "app").await;
    let object = setting.deployed("web", 1).await;
    setting.value("web", Some("one")).await;
    let digits = |digest: &str| digest.trim_start_matches("sha256:")[..12].to_owned();
    let version = format!("1.0.0+{}", digits(&first));
    let status = object.status.unwrap();
    assert_eq!(status.last_attempted_revision.as_deref(), Some(&*version));
    assert_eq!(status.last_attempted_revision_digest.as_deref(), Some(&*first));
    let latest = &status.history[0];
    assert_eq!(
        (latest.chart_version.as_str(), latest.oci_digest.as_deref()),
        (&*version, Some(&*first))
    );
    assert_eq!(setting.record("web", 1).await.chart_version(), version);
    let told = setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("InstallSucceeded"))
        .await;
    let annotations = told.metadata.annotations.unwrap();
    let named = |key: &str| annotations[&format!("helm.toolkit.fluxcd.io/{key}")].clone();
    assert_eq!(named("revision"), version);
    assert_eq!(named("oci-digest"), first);
    assert_eq!(named("app-version"), "7");
    assert_eq!(Some(named("token")), status.last_attempted_config_digest);

    let second = registry.push("charts/app", "1.0.0", &chart("1.0.0", "two"));
    let token = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    let sources = setting.bed.other::<OciRepositorySpec>();
    sources
        .patch("app", &Default::default(), &Patch::Merge(token))
        .await
        .unwrap();
    let object = setting.deployed("web", 2).await;
    let status = object.status.unwrap();
    assert_eq!(
        status.last_attempted_revision,
        Some(format!("1.0.0+{}", digits(&second)))
    );
    assert_eq!(status.history[1].oci_digest.as_deref(), Some(&*first));
    setting.value("web", Some("two")).await;
}

/// §3.8, `bad:version`, HS3: a tag that is a version has to be that of the chart; what runs stays. With the gate the digest is no part of the version.
#[tokio::test]
async fn a_tag_that_is_another_version_is_told() {
    let registry = oci::Server::start();
    registry.push("charts/app", "1.0.0", &chart("1.0.0", "one"));
    registry.push("charts/app", "2.0.0", &chart("1.0.0", "two"));
    let settings = Settings {
        no_chart_digests: true,
        ..Settings::default()
    };
    let mut setting = Setting::with_settings(&FILES, settings).await;
    setting.bed.run(OciRepositories::new);
    setting
        .bed
        .create_other::<OciRepositorySpec>("app", repository(&registry, "1.0.0"))
        .await;
    create_of(&setting, "web", "OCIRepository", "app").await;
    let object = setting.deployed("web", 1).await;
    assert_eq!(
        object.status.unwrap().last_attempted_revision.as_deref(),
        Some("1.0.0")
    );
    let sources = setting.bed.other::<OciRepositorySpec>();
    let moved = Patch::Merge(json!({"spec": {"ref": {"tag": "2.0.0"}}}));
    sources.patch("app", &Default::default(), &moved).await.unwrap();
    let object = setting.ready("web", "False", "ChartMutateError").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains("artifact revision 2.0.0 does not match chart version 1.0.0"),
        "{told}"
    );
    setting.value("web", Some("one")).await;
}

/// §3.10, `chartRef`: artifacts of others are for those who have the gate, and with `--no-cross-namespace-refs` each namespace has its own sources only.
#[tokio::test]
async fn flags_say_which_sources_may_be_used() {
    let settings = Settings {
        no_cross_namespace_refs: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    create_of(&setting, "far", "ExternalArtifact", "some").await;
    let elsewhere = json!({"chart": {"spec": {
        "chart": "app", "sourceRef": {"kind": "GitRepository", "name": "charts", "namespace": "elsewhere"},
    }}});
    setting.create("other", elsewhere).await;
    for (name, why) in [
        ("far", "ExternalArtifact feature gate is disabled"),
        ("other", "cross-namespace references have been blocked"),
    ] {
        let object = setting.ready(name, "False", "AccessDenied").await;
        assert!(
            message(&object, "Ready").ends_with(why),
            "{}",
            message(&object, "Ready")
        );
        assert_eq!(said(&object, &["Stalled"]), ["Stalled=True AccessDenied"]);
    }
}

/// §3.10, §3.8, `chartRef`: with the gate an artifact of somebody else is installed; a revision with a digest becomes part of the version.
#[tokio::test]
async fn an_artifact_of_somebody_else_is_installed_with_the_gate() {
    let settings = Settings {
        external_artifact: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    let source = || json!({"sourceRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "own"}});
    // Somebody else: a server with the same archive as a HelmChart has.
    let own = json!({
        "chart": "app", "interval": "1h", "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "GitRepository", "name": "charts"},
    });
    setting.bed.create_other::<HelmChartSpec>("own", own).await;
    setting
        .bed
        .ready_other::<HelmChartSpec>("own", "True", "ChartPackageSucceeded")
        .await;
    let artifact = helm_chart(&setting, "own")
        .await
        .unwrap()
        .status
        .unwrap()
        .artifact
        .unwrap();
    let archive = std::fs::read(setting.bed.store.root().join(&artifact.path)).unwrap();
    let server = Server::serve(move |_: &Request| Reply::ok("application/gzip", archive.clone()));
    let mut artifact = serde_json::to_value(artifact).unwrap();
    // As long as it names the file of the HelmChart, it is refused.
    setting
        .bed
        .create_other::<ExternalArtifactSpec>("stolen", source())
        .await;
    let others = setting.bed.other::<ExternalArtifactSpec>();
    let status = Patch::Merge(json!({"status": {"artifact": artifact}}));
    others
        .patch_status("stolen", &Default::default(), &status)
        .await
        .unwrap();
    create_of(&setting, "thief", "ExternalArtifact", "stolen").await;
    let object: HelmRelease = setting.ready("thief", "False", "ArtifactFailed").await;
    let refused = message(&object, "Ready");
    assert!(
        refused.contains("names an artifact of another object"),
        "{refused}"
    );
    artifact["path"] = json!("app.tgz");
    artifact["url"] = json!(format!("{}/app.tgz", server.url()));
    let digest = artifact["digest"].as_str().unwrap().to_owned();
    artifact["revision"] = json!(format!("latest@{digest}"));
    setting
        .bed
        .create_other::<ExternalArtifactSpec>("some", source())
        .await;
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = Patch::Merge(json!({"status": {"artifact": artifact, "conditions": [ready]}}));
    others
        .patch_status("some", &Default::default(), &status)
        .await
        .unwrap();
    create_of(&setting, "web", "ExternalArtifact", "some").await;
    let object: HelmRelease = setting.deployed("web", 1).await;
    let digits = &digest.trim_start_matches("sha256:")[..12];
    let status = object.status.unwrap();
    assert_eq!(status.last_attempted_revision, Some(format!("1.0.0+{digits}")));
    setting.value("web", Some("one")).await;
}

/// `interval`, `suspend`, HR11, `InSync`: at its interval a release is looked at and nothing is done where all is well; a suspended one is left alone, and keeps what it
/// has made when it is deleted, with its HelmChart.
#[tokio::test]
async fn a_suspended_release_is_left_alone_and_keeps_what_it_has_made() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({"interval": "1s"})).await;
    setting.deployed("web", 1).await;
    // Somebody else's release under its name is found at the interval.
    let mut record = setting.record("web", 1).await;
    record.info.description = "by somebody else".to_owned();
    setting.store(&record).await;
    setting.deployed("web", 2).await;
    setting.change("web", json!({"suspend": true})).await;
    setting.asked.forget();
    setting.change("web", json!({"values": {"a": "two"}})).await;
    let token = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    setting.bed.patch("web", token).await;
    let answered = |object: &HelmRelease| {
        let status = object.status.as_ref().unwrap();
        status.last_handled_reconcile_at.as_deref() == Some("now")
    };
    let object = setting.bed.until("web", answered).await;
    assert_eq!(object.status.unwrap().history[0].version, 2);
    let asked = setting.asked.all();
    assert!(
        asked.iter().all(|request| !request.contains("/secrets")),
        "{asked:?}"
    );
    setting.value("web", Some("one")).await;
    setting.bed.delete("web").await;
    setting.value("web", Some("one")).await;
    assert_eq!(setting.records("web").await.len(), 2);
    let name = format!("{}-web", setting.bed.namespace);
    assert!(helm_chart(&setting, &name).await.is_some());
    // Made again, it is the same release.
    setting.create("web", json!({"values": {"a": "three"}})).await;
    setting.deployed("web", 3).await;
}

/// HS6, §3.8: why a HelmChart has no artifact is told when it is known, and not when somebody looks again.
#[tokio::test]
async fn why_a_chart_cannot_be_had_is_told_at_once() {
    let settings = Settings {
        requeue_dependency: Duration::from_secs(3600),
        ..Settings::default()
    };
    let setting = Setting::with_settings(&[], settings).await;
    let source = json!({"kind": "GitRepository", "name": "charts"});
    let chart = json!({"spec": {"chart": "nowhere", "sourceRef": source}});
    setting.create("web", json!({"chart": chart})).await;
    let told = |object: &HelmRelease| {
        let is_waiting = said(object, &["Ready"]) == ["Ready=False SourceNotReady"];
        is_waiting && message(object, "Ready").contains("nowhere")
    };
    setting.bed.until("web", told).await;
}
