//! What is told of a release: conditions, history, inventory, events.

use api::helm::{HelmRelease, HelmReleaseSpec};
use controllers::helm_releases::Settings;
use k8s_openapi::api::core::v1::Event;
use model::digest::Algorithm;
use serde_json::json;

use super::bed::{Bed, CONFIG, Setting};
use super::hands::{judged, message, said};

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// RS1, RS3, RS4, RS6, HS1, HS4, trap18: all that a status tells of a release that went well, with a digest that is made of what is stored.
#[tokio::test]
async fn a_status_tells_all_of_a_release() {
    let setting = Setting::with(&FILES).await;
    let space = setting.bed.namespace.clone();
    setting.create("web", json!({"values": {"a": "two"}})).await;
    let object = setting
        .until_said("web", &["Ready=True InstallSucceeded", "no Reconciling"])
        .await;
    let kinds = [
        "Released",
        "Ready",
        "Remediated",
        "TestSuccess",
        "Drifted",
        "Reconciling",
        "Stalled",
    ];
    assert_eq!(
        said(&object, &kinds),
        [
            "Released=True InstallSucceeded",
            "Ready=True InstallSucceeded",
            "no Remediated",
            "no TestSuccess",
            "no Drifted",
            "no Reconciling",
            "no Stalled"
        ]
    );
    let status = object.status.clone().unwrap();
    assert!(
        status
            .conditions
            .iter()
            .all(|condition| condition.observed_generation == Some(1))
    );
    assert_eq!(
        (status.observed_generation, status.last_attempted_generation),
        (Some(1), Some(1))
    );
    assert_eq!(status.storage_namespace.as_deref(), Some(&*space));
    assert_eq!(status.last_attempted_release_action.unwrap().as_str(), "install");
    assert!(status.last_attempted_release_action_duration.is_some());
    assert_eq!(
        (status.failures, status.install_failures, status.upgrade_failures),
        (None, None, None)
    );
    let latest = status.history[0].clone();
    assert_eq!(
        status.last_attempted_revision.as_deref(),
        Some(&*latest.chart_version)
    );
    assert_eq!(latest.api_version.as_deref(), Some("v2"));
    assert_eq!(
        (latest.name.as_str(), latest.namespace.as_str(), latest.version),
        ("web", &*space, 1)
    );
    assert_eq!(
        (latest.status.as_str(), latest.action.as_deref()),
        ("deployed", Some("install"))
    );
    assert_eq!(
        (latest.chart_name.as_str(), latest.app_version.as_deref()),
        ("app", Some("7"))
    );
    assert_eq!(Some(latest.config_digest), status.last_attempted_config_digest);
    assert!(latest.first_deployed.is_some() && latest.last_deployed == latest.first_deployed);
    assert!(latest.deleted.is_none() && latest.test_hooks.is_none() && latest.oci_digest.is_none());
    let record = setting.record("web", 1).await;
    assert_eq!(
        helm::digest::record_matches(&latest.digest, &record, ""),
        Some(true),
        "{}",
        latest.digest
    );
    let ids: Vec<String> = status
        .inventory
        .unwrap()
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(ids, [format!("{space}_web__ConfigMap")]);
    let secret = setting.secrets().get("sh.helm.release.v1.web.v1").await.unwrap();
    assert_eq!(secret.type_.as_deref(), Some("helm.sh/release.v1"));
    let labels = secret.metadata.labels.unwrap();
    let label = |key: &str| labels[key].as_str();
    assert_eq!(
        (label("owner"), label("name"), label("version"), label("status")),
        ("helm", "web", "1", "deployed")
    );
}

/// HS2, HS3, HS4, HS5: what is being done is told while it is, and what came of it in events with all that they are about; a failure has what was done until then.
#[tokio::test]
async fn what_is_done_is_told_while_it_is_and_in_events() {
    let setting = Setting::with(&FILES).await;
    let space = setting.bed.namespace.clone();
    setting
        .create(
            "web",
            judged(json!({"upgrade": {"timeout": "30s", "remediation": {"retries": 1}}})),
        )
        .await;
    let object = setting.deployed("web", 1).await;
    let version = object.status.unwrap().history[0].chart_version.clone();
    setting.change("web", json!({"values": {"a": "slow"}})).await;
    let running = setting.until_said("web", &["Ready=Unknown Progressing"]).await;
    let doing = "Running 'upgrade' action with timeout of 30s";
    assert_eq!(
        (
            message(&running, "Ready").as_str(),
            message(&running, "Reconciling").as_str()
        ),
        (doing, doing)
    );
    setting.value("web", Some("slow")).await;
    setting.put_value("web", "bad").await;
    let chart = format!("chart app@{version}");
    let metadata = |event: &Event, key: &str| {
        let annotations = event.metadata.annotations.clone().unwrap_or_default();
        annotations.get(&format!("helm.toolkit.fluxcd.io/{key}")).cloned()
    };
    for (kind, reason, text) in [
        (
            "Normal",
            "InstallSucceeded",
            format!("Helm install succeeded for release {space}/web.v1 with {chart}"),
        ),
        (
            "Warning",
            "UpgradeFailed",
            format!("Helm upgrade failed for release {space}/web with {chart}: "),
        ),
        (
            "Normal",
            "RollbackSucceeded",
            format!("Helm rollback to previous release {space}/web.v1 with {chart} succeeded"),
        ),
    ] {
        let event = setting
            .bed
            .until_event(|event| {
                let is_it = event.reason.as_deref() == Some(reason);
                is_it && event.message.as_deref().unwrap_or_default().starts_with(&text)
            })
            .await;
        assert_eq!(event.type_.as_deref(), Some(kind), "{reason}");
        assert_eq!(
            metadata(&event, "revision").as_deref(),
            Some(&*version),
            "{reason}"
        );
        assert_eq!(metadata(&event, "app-version").as_deref(), Some("7"), "{reason}");
        assert!(
            metadata(&event, "token").is_some_and(|token| token.starts_with("sha256:")),
            "{reason}"
        );
        if kind == "Warning" {
            let message = event.message.unwrap();
            assert!(message.contains("\n\nLast Helm logs:\n\n"), "{message}");
        }
    }
    // What was undone is tried once more.
    setting
        .bed
        .until("web", |object| {
            let status = object.status.as_ref().unwrap();
            status.upgrade_failures == Some(1) && said(object, &["Ready"])[0].starts_with("Ready=Unknown")
        })
        .await;
}

/// HS3: an uninstall is told of in events and in the status of an object that is about to go.
#[tokio::test]
async fn an_uninstall_is_told_of() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    let object = setting.deployed("web", 1).await;
    let version = object.status.unwrap().history[0].chart_version.clone();
    setting.bed.delete("web").await;
    let text = format!(
        "Helm uninstall succeeded for release {}/web.v1 with chart app@{version}",
        setting.bed.namespace
    );
    setting
        .bed
        .until_told("web", "Normal", "UninstallSucceeded", &text)
        .await;
}

/// RS7, §3.10: flags decide on the algorithm of digests and on what is done about failures.
#[tokio::test]
async fn flags_decide_on_digests_and_retries() {
    let settings = Settings {
        snapshot_digests: Algorithm::Sha512,
        retry_on_failure: true,
        ..Settings::default()
    };
    let setting = Setting::with_settings(&FILES, settings).await;
    setting.create("web", judged(json!({}))).await;
    let object = setting.deployed("web", 1).await;
    let digest = object.status.unwrap().history[0].digest.clone();
    assert!(digest.starts_with("sha512:"), "{digest}");
    let object = setting.ask("web").await;
    assert_eq!(
        object.status.unwrap().history[0].version,
        1,
        "it is known by that"
    );
    setting.change("web", json!({"values": {"a": "bad"}})).await;
    let object = setting
        .until_said("web", &["Reconciling=True ProgressingWithRetry", "no Stalled"])
        .await;
    assert_eq!(message(&object, "Reconciling"), "retrying after 5m0s");
}

/// `dependsOn`, §3.10: expressions say when a dependency is ready; one that cannot be read stalls the release, as do health checks that cannot be.
#[tokio::test]
async fn expressions_say_when_a_dependency_is_ready() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("base", judged(json!({"values": {"a": "bad"}})))
        .await;
    setting.stalled("base", "RetriesExceeded").await;
    let after = |expression: &str| json!({"dependsOn": [{"name": "base", "readyExpr": expression}]});
    setting
        .create("plain", json!({"dependsOn": [{"name": "base"}]}))
        .await;
    setting
        .create(
            "lenient",
            after("dep.status.installFailures == 1 && self.metadata.name == 'lenient'"),
        )
        .await;
    setting
        .create("strict", after("dep.status.installFailures == 0"))
        .await;
    setting.create("broken", after("dep.status.")).await;
    setting.deployed("lenient", 1).await;
    let space = &setting.bed.namespace;
    for (name, told) in [
        ("plain", format!("dependency '{space}/base' is not ready")),
        (
            "strict",
            format!("dependency '{space}/base' is not ready according to readyExpr eval"),
        ),
    ] {
        let object = setting.ready(name, "False", "DependencyNotReady").await;
        assert_eq!(message(&object, "Ready"), told);
    }
    setting
        .create(
            "ill",
            json!({"healthCheckExprs": [{"apiVersion": "v1", "kind": "ConfigMap", "current": "data."}]}),
        )
        .await;
    for name in ["broken", "ill"] {
        let object = setting.ready(name, "False", "InvalidCELExpression").await;
        let told = message(&object, "Ready");
        assert!(
            told.starts_with("Reconciliation failed terminally due to configuration error: "),
            "{told}"
        );
        assert_eq!(said(&object, &["Stalled"]), ["Stalled=True InvalidCELExpression"]);
    }
}

/// The definition: of a new object it is known that nobody has looked at it, and it has one chart, in one way.
#[tokio::test]
async fn a_new_object_says_that_nobody_has_looked_at_it() {
    let bed = Bed::start().await;
    let spec = json!({"interval": "1h", "chartRef": {"kind": "HelmChart", "name": "own"}});
    bed.create_other::<HelmReleaseSpec>("web", spec).await;
    let object: HelmRelease = bed.api.get("web").await.unwrap();
    assert_eq!(object.status.unwrap().observed_generation, Some(-1));
    for spec in [
        json!({"interval": "1h"}),
        json!({
            "interval": "1h", "chartRef": {"kind": "HelmChart", "name": "own"},
            "chart": {"spec": {"chart": "app", "sourceRef": {"kind": "GitRepository", "name": "charts"}}},
        }),
    ] {
        let object = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "wrong", "namespace": bed.namespace}, "spec": spec,
        });
        let object: HelmRelease = serde_json::from_value(object).unwrap();
        let refused = bed
            .api
            .create(&Default::default(), &object)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("either chart or chartRef must be set"),
            "{refused}"
        );
    }
}

/// HR9: a Job that is deleted after it has ended, as its time to live says, is no reason to wait on.
#[tokio::test]
async fn a_job_that_goes_by_itself_is_not_waited_for() {
    let job = "apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}
spec:
  ttlSecondsAfterFinished: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: none}]
";
    let setting = Setting::with(&[("app/templates/job.yaml", job)]).await;
    setting.create("web", json!({"timeout": "1m"})).await;
    let jobs: kube::Api<k8s_openapi::api::batch::v1::Job> =
        kube::Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let there = testkit::cluster::object_settled(jobs.clone(), "web", testkit::DEADLINE, |job| match job {
        Some(_) => Ok(()),
        None => Err("there is no job yet".to_owned()),
    });
    there.await.unwrap();
    setting.until_said("web", &["Ready=Unknown Progressing"]).await;
    let background = kube::api::DeleteParams::background();
    jobs.delete("web", &background).await.unwrap();
    setting.deployed("web", 1).await;
}
