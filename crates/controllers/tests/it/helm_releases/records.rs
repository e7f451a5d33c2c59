//! The records of releases: whose they are, how many are kept, and what becomes of them when a release is to be another one.

use api::helm::HelmRelease;
use controllers::helm_releases::{HelmReleases, Settings, Shared};
use controllers::sources::{GitRepositories, HelmCharts};
use serde_json::json;

use super::bed::{CONFIG, Setting};
use super::hands::judged;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// `Unmanaged`, RS4: a record that somebody else has changed is not ours any more: what is remembered is dropped and an upgrade made. One whose snapshot was
/// taken in a way of before is not compared, trap18.
#[tokio::test]
async fn a_record_that_somebody_else_has_changed_is_upgraded() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.create("old", json!({})).await;
    setting.deployed("web", 1).await;
    setting.deployed("old", 1).await;
    let mut record = setting.record("web", 1).await;
    record.info.description = "by somebody else".to_owned();
    setting.store(&record).await;
    setting.ask("web").await;
    let object = setting.deployed("web", 2).await;
    assert_eq!(
        object.status.unwrap().history.len(),
        1,
        "the one before is not known any more"
    );

    let object = setting.bed.api.get("old").await.unwrap();
    let mut status = serde_json::to_value(object.status.unwrap()).unwrap();
    status["history"][0]["apiVersion"] = json!("v1");
    status["history"][0]["digest"] = json!("sha256:0");
    let patch = kube::api::Patch::Merge(json!({"status": {"history": status["history"]}}));
    setting
        .bed
        .api
        .patch_status("old", &Default::default(), &patch)
        .await
        .unwrap();
    let object = setting.ask("old").await;
    let latest = &object.status.unwrap().history[0];
    assert_eq!((latest.version, latest.api_version.as_deref()), (1, Some("v1")));
}

/// `Absent`, HR7: a release whose records are gone is installed over what it has left in the cluster.
#[tokio::test]
async fn a_release_whose_records_are_gone_is_installed_again() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    let before = setting.deployed("web", 1).await;
    let before = before.status.unwrap().history[0].digest.clone();
    setting
        .secrets()
        .delete("sh.helm.release.v1.web.v1", &Default::default())
        .await
        .unwrap();
    setting.ask("web").await;
    let object = setting
        .bed
        .until("web", |object| {
            let latest = object.status.as_ref().unwrap().history.first();
            latest.is_some_and(|latest| latest.digest != before)
        })
        .await;
    assert_eq!(
        object
            .status
            .unwrap()
            .last_attempted_release_action
            .unwrap()
            .as_str(),
        "install"
    );
    let object = setting.ready("web", "True", "InstallSucceeded").await;
    assert_eq!(object.status.unwrap().history[0].version, 1);
}

/// HR6, `targetNamespace`, `storageNamespace`, `releaseName`, RS1: another target has the release uninstalled and made anew, whichever part of it is another
/// one. Without a name of its own a release is called by both, and a long name is cut.
#[tokio::test]
async fn another_target_has_the_release_made_anew() {
    let setting = Setting::with(&FILES).await;
    let cluster = &setting.bed.cluster;
    let (there, stored) = (
        cluster.namespace("there").await,
        cluster.namespace("stored").await,
    );
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    setting.change("web", json!({"storageNamespace": stored})).await;
    let moved =
        |object: &HelmRelease| object.status.as_ref().unwrap().storage_namespace.as_deref() == Some(&*stored);
    setting.bed.until("web", moved).await;
    setting.deployed("web", 1).await;
    assert!(setting.records("web").await.is_empty());
    let client = setting.bed.cluster.client();
    let elsewhere: kube::Api<k8s_openapi::api::core::v1::Secret> =
        kube::Api::namespaced(client.clone(), &stored);
    elsewhere.get("sh.helm.release.v1.web.v1").await.unwrap();

    setting.change("web", json!({"targetNamespace": there})).await;
    let is_there = |object: &HelmRelease| {
        let latest = object.status.as_ref().unwrap().history.first();
        latest.is_some_and(|latest| latest.namespace == there && latest.status == "deployed")
    };
    let object = setting.bed.until("web", is_there).await;
    let long = format!("{there}-web");
    assert_eq!(object.status.unwrap().history[0].name, long);
    setting.value("web", None).await;
    let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = kube::Api::namespaced(client, &there);
    maps.get(&long).await.unwrap();

    let long = "a-name-that-is-longer-than-helm-takes-for-the-name-of-a-release";
    setting.create(long, json!({})).await;
    let object = setting.deployed(long, 1).await;
    let name = object.status.unwrap().history[0].name.clone();
    assert_eq!(
        (name.len(), &name[..41]),
        (53, "a-name-that-is-longer-than-helm-takes-fo-")
    );
    setting.value(&name, Some("one")).await;
}

/// HR6, `upgrade.chartNameChangeStrategy`: a chart of another name is another release, unless it may take the place of the one before.
#[tokio::test]
async fn a_chart_of_another_name_is_installed_anew_or_takes_the_place() {
    let setting = Setting::with(&FILES).await;
    setting.create("anew", json!({})).await;
    let place = json!({"upgrade": {"chartNameChangeStrategy": "InPlaceUpdate"}});
    setting.create("placed", place).await;
    setting.deployed("anew", 1).await;
    setting.deployed("placed", 1).await;
    let renamed = "apiVersion: v2\nname: renamed\nversion: 1.0.0\n";
    setting.commit(&[("app/Chart.yaml", renamed)]).await;
    let is_renamed = |object: &HelmRelease| {
        let latest = object.status.as_ref().unwrap().history.first();
        latest.is_some_and(|latest| latest.chart_name == "renamed" && latest.status == "deployed")
    };
    let object = setting.bed.until("anew", is_renamed).await;
    assert_eq!(object.status.unwrap().history[0].version, 1);
    assert_eq!(setting.records("anew").await.len(), 1);
    let object = setting.bed.until("placed", is_renamed).await;
    assert_eq!(object.status.unwrap().history[0].version, 2);
    assert_eq!(setting.records("placed").await.len(), 2);
}

/// `maxHistory`, RS5: no more records are kept than asked for; 0 is all of them. The history in the status has what can be gone back to.
#[tokio::test]
async fn as_many_records_are_kept_as_asked_for() {
    let setting = Setting::with(&FILES).await;
    setting.create("two", json!({"maxHistory": 2})).await;
    setting.create("all", json!({"maxHistory": 0})).await;
    for version in 1..=7 {
        for name in ["two", "all"] {
            setting
                .change(name, json!({"values": {"a": version.to_string()}}))
                .await;
            setting.value(name, Some(&version.to_string())).await;
        }
    }
    let fine = |object: &HelmRelease| {
        let status = object.status.as_ref().unwrap();
        status.observed_generation == object.metadata.generation
    };
    for (name, kept) in [("two", 2), ("all", 7)] {
        let object = setting.bed.until(name, fine).await;
        let history = object.status.unwrap().history;
        let statuses: Vec<&str> = history.iter().map(|one| one.status.as_str()).collect();
        assert_eq!(statuses, ["deployed", "superseded"], "{name}");
        let records = setting.records(name).await;
        assert!(
            records.len() >= kept && (kept == 7 || records.len() == kept),
            "{records:?}"
        );
    }
}

/// HR9, HR12: told to end, a controller lets the release come to its end first, and leaves none pending. What it waits for is told by the watch.
#[tokio::test]
async fn who_is_told_to_end_ends_the_release_first() {
    let mut setting = Setting::with(&FILES).await;
    setting.bed.kill();
    setting.bed.run(GitRepositories::new);
    setting.bed.run(HelmCharts::new);
    let queue = setting.bed.run(|shared| {
        HelmReleases::new(Shared {
            client: shared.client,
            store: Some(shared.store),
            settings: Settings::default(),
        })
    });
    let slow = json!({"values": {"a": "slow"}, "timeout": "1m"});
    setting.create("web", judged(slow)).await;
    setting.value("web", Some("slow")).await;
    let pending = setting.records("web").await;
    assert_eq!(pending, [("1".to_owned(), "pending-install".to_owned())]);
    queue.close();
    setting.put_value("web", "good").await;
    setting.deployed("web", 1).await;
    let records = setting.records("web").await;
    assert_eq!(records, [("1".to_owned(), "deployed".to_owned())]);
}
