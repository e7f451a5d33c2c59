//! What comes next, with all that can go wrong: each test is a way through the states of a release.

use api::helm::HelmRelease;
use serde_json::json;

use super::bed::{CONFIG, Setting};
use super::hands::{judged, message, said};

/// A test that nobody can make, as its name is none.
const FAILING_TEST: &str = "{{ if .Values.failing }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: Not_A_Name
  annotations: {helm.sh/hook: test}
{{ end }}
";

/// A ConfigMap whose value somebody else decides.
const LOOKED_UP: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: {{ (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"outside\").data.a | quote }}
";

const FILES: [(&str, &str); 3] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
    ("app/templates/test.yaml", FAILING_TEST),
];

const MAIN: [&str; 3] = ["Released", "Remediated", "Ready"];

fn failures(object: &HelmRelease) -> (i64, i64) {
    let status = object.status.as_ref().unwrap();
    let count = |found: Option<i64>| found.unwrap_or_default();
    (count(status.install_failures), count(status.upgrade_failures))
}

/// HR1, HR2, HR3, `Failed`, trap20: the first attempt is made without retries, too; a failure that left a release behind counts, and a change of
/// values forgets it: the failed release is then upgraded.
#[tokio::test]
async fn an_install_that_fails_stays_as_it_is_until_something_changes() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", judged(json!({"values": {"a": "bad"}})))
        .await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=False InstallFailed",
            "no Remediated",
            "Ready=False InstallFailed"
        ]
    );
    assert_eq!(
        message(&object, "Stalled"),
        "Failed to install after 1 attempt(s)"
    );
    assert_eq!(failures(&object), (1, 0));
    let status = object.status.clone().unwrap();
    assert_eq!((status.failures, status.observed_generation), (Some(1), Some(1)));
    let stories = setting.stories("web").await;
    assert_eq!(stories.len(), 1, "{stories:?}");
    assert!(
        stories[0].starts_with("1 failed: Release \"web\" failed: "),
        "{stories:?}"
    );
    // A request changes nothing about it.
    let object = setting.ask("web").await;
    assert_eq!(said(&object, &["Stalled"]), ["Stalled=True RetriesExceeded"]);
    assert_eq!(setting.records("web").await.len(), 1);
    setting.change("web", json!({"values": {"a": "good"}})).await;
    let object = setting.deployed("web", 2).await;
    assert_eq!(
        said(&object, &["Released", "Ready", "Stalled"]),
        [
            "Released=True UpgradeSucceeded",
            "Ready=True UpgradeSucceeded",
            "no Stalled"
        ]
    );
    assert_eq!(failures(&object), (0, 0));
}

/// HR1, `install.remediation`: the last failure is undone where that is asked for, and nothing is tried any more.
#[tokio::test]
async fn an_install_that_fails_is_uninstalled_where_that_is_asked_for() {
    let setting = Setting::with(&FILES).await;
    let spec = json!({
        "values": {"a": "bad"}, "uninstall": {"keepHistory": true},
        "install": {"remediation": {"remediateLastFailure": true}},
    });
    setting.create("web", judged(spec)).await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=False InstallFailed",
            "Remediated=True UninstallSucceeded",
            "Ready=False InstallFailed"
        ]
    );
    assert_eq!(
        setting.stories("web").await,
        ["1 uninstalled: Uninstallation complete"]
    );
    setting.value("web", None).await;
    let history = object.status.unwrap().history;
    assert_eq!(
        (history[0].status.as_str(), history[0].action.as_deref()),
        ("uninstalled", Some("uninstall-remediation"))
    );
}

/// HR1, HR2, trap20, `install.remediation`: with one retry it is tried twice, and the first failure is undone in between; the last one is not by itself.
#[tokio::test]
async fn an_install_is_tried_again_as_often_as_asked_for() {
    let setting = Setting::with(&FILES).await;
    let spec = json!({"values": {"a": "bad"}, "install": {"remediation": {"retries": 1}}});
    setting.create("web", judged(spec)).await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(failures(&object), (2, 0));
    assert_eq!(
        message(&object, "Stalled"),
        "Failed to install after 2 attempt(s)"
    );
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=False InstallFailed",
            "no Remediated",
            "Ready=False InstallFailed"
        ]
    );
    let records = setting.records("web").await;
    assert_eq!(records, [("1".to_owned(), "failed".to_owned())]);
    setting
        .bed
        .until_event(|event| event.reason.as_deref() == Some("UninstallSucceeded"))
        .await;
}

/// HR2, HS2, `Untested`, `test.enable`, `test.ignoreFailures`: tests that fail count as a failure of what made the release, unless they do not matter.
#[tokio::test]
async fn tests_that_fail_fail_the_release_unless_they_do_not_matter() {
    let setting = Setting::with(&FILES).await;
    let tested = |test: serde_json::Value| json!({"values": {"failing": true}, "test": test});
    setting.create("web", tested(json!({"enable": true}))).await;
    setting
        .create("calm", tested(json!({"enable": true, "ignoreFailures": true})))
        .await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &["Released", "TestSuccess", "Ready"]),
        [
            "Released=True InstallSucceeded",
            "TestSuccess=False TestFailed",
            "Ready=False TestFailed"
        ]
    );
    assert_eq!(failures(&object), (1, 0));
    let records = setting.records("web").await;
    assert_eq!(records, [("1".to_owned(), "deployed".to_owned())]);
    let fine = [
        "Released=True InstallSucceeded",
        "TestSuccess=False TestFailed",
        "Ready=True InstallSucceeded",
        "no Reconciling",
        "no Stalled",
    ];
    let object = setting.until_said("calm", &fine).await;
    assert_eq!(failures(&object), (0, 0));
    // An upgrade whose tests fail is no rollback without retries.
    setting.create("later", json!({})).await;
    setting.deployed("later", 1).await;
    setting.change("later", tested(json!({"enable": true}))).await;
    let object = setting.stalled("later", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &["Released", "TestSuccess", "Ready"]),
        [
            "Released=True UpgradeSucceeded",
            "TestSuccess=False TestFailed",
            "Ready=False TestFailed"
        ]
    );
    assert_eq!(
        (failures(&object), setting.records("later").await.len()),
        ((0, 1), 2)
    );
}

/// HR2, HR4, `Failed`, `upgrade.remediation`: without retries an upgrade that fails stays; the last failure is undone by a rollback where that is asked
/// for, and by itself where there are retries.
#[tokio::test]
async fn an_upgrade_that_fails_stays_or_is_rolled_back() {
    let setting = Setting::with(&FILES).await;
    for (name, upgrade) in [
        ("stays", json!({})),
        ("back", json!({"remediation": {"remediateLastFailure": true}})),
        ("twice", json!({"remediation": {"retries": 1}})),
    ] {
        setting.create(name, judged(json!({"upgrade": upgrade}))).await;
        setting.deployed(name, 1).await;
        setting.change(name, json!({"values": {"a": "bad"}})).await;
    }
    let object = setting.stalled("stays", "RetriesExceeded").await;
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=False UpgradeFailed",
            "no Remediated",
            "Ready=False UpgradeFailed"
        ]
    );
    let statuses =
        |records: Vec<(String, String)>| records.into_iter().map(|(_, status)| status).collect::<Vec<_>>();
    assert_eq!(statuses(setting.records("stays").await), ["deployed", "failed"]);

    let object = setting.stalled("back", "RetriesExceeded").await;
    let undone = [
        "Released=False UpgradeFailed",
        "Remediated=True RollbackSucceeded",
        "Ready=False RollbackSucceeded",
    ];
    assert_eq!(said(&object, &MAIN), undone);
    let told = format!(
        "Helm rollback to previous release {}/back.v1 with chart app@",
        setting.bed.namespace
    );
    assert!(
        message(&object, "Ready").starts_with(&told),
        "{}",
        message(&object, "Ready")
    );
    let stories = setting.stories("back").await;
    assert_eq!(stories.len(), 3, "{stories:?}");
    assert_eq!(stories[2], "3 deployed: Rollback to 1");
    assert_eq!(failures(&object), (0, 1));
    setting.value("back", Some("one")).await;
    let history = object.status.unwrap().history;
    let shown: Vec<_> = history
        .iter()
        .map(|one| (one.version, one.status.as_str()))
        .collect();
    assert_eq!(shown, [(3, "deployed"), (2, "failed"), (1, "superseded")]);

    let object = setting.stalled("twice", "RetriesExceeded").await;
    assert_eq!(said(&object, &MAIN), undone);
    assert_eq!(failures(&object), (0, 2));
    let stories = setting.stories("twice").await;
    assert_eq!(
        (stories.len(), stories[4].as_str()),
        (5, "5 deployed: Rollback to 3")
    );
    // What was undone is wanted again: it is there already, and only has to be tested where that is asked for.
    let tested = json!({"values": {"a": "one"}, "test": {"enable": true}});
    setting.change("twice", tested).await;
    let fine = [
        "Released=True UpgradeSucceeded",
        "TestSuccess=True TestSucceeded",
        "no Remediated",
        "Ready=True TestSucceeded",
    ];
    setting.until_said("twice", &fine).await;
    assert_eq!(setting.records("twice").await.len(), 5);
    setting.change("back", json!({"values": {"a": "one"}})).await;
    let object = setting.ready("back", "True", "UpgradeSucceeded").await;
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=True UpgradeSucceeded",
            "no Remediated",
            "Ready=True UpgradeSucceeded"
        ]
    );
}

/// HR5: an upgrade that is undone by uninstalling is followed by an install.
#[tokio::test]
async fn an_upgrade_that_is_uninstalled_is_installed_anew() {
    let setting = Setting::with(&FILES).await;
    let upgrade = json!({"remediation": {"remediateLastFailure": true, "strategy": "uninstall"}});
    setting.create("web", judged(json!({"upgrade": upgrade}))).await;
    setting.deployed("web", 1).await;
    setting.change("web", json!({"values": {"a": "bad"}})).await;
    let object = setting.stalled("web", "RetriesExceeded").await;
    assert_eq!(failures(&object), (1, 1));
    assert_eq!(
        said(&object, &["Released", "Ready"]),
        ["Released=False InstallFailed", "Ready=False InstallFailed"]
    );
    let records = setting.records("web").await;
    assert_eq!(records, [("1".to_owned(), "failed".to_owned())]);
}

/// HR4: where there is nothing to go back to, nothing is done any more.
#[tokio::test]
async fn without_a_release_to_go_back_to_nothing_is_done() {
    let setting = Setting::with(&FILES).await;
    let upgrade = json!({"remediation": {"retries": 3}});
    setting
        .create("web", judged(json!({"values": {"a": "bad"}, "upgrade": upgrade})))
        .await;
    setting.stalled("web", "RetriesExceeded").await;
    setting.change("web", json!({"values": {"a": "bad too"}})).await;
    let object = setting.stalled("web", "MissingRollbackTarget").await;
    assert_eq!(
        message(&object, "Stalled"),
        "Failed to perform remediation: missing target release for rollback: cannot remediate failed release"
    );
    assert_eq!(
        said(&object, &MAIN),
        [
            "Released=False UpgradeFailed",
            "no Remediated",
            "Ready=False UpgradeFailed"
        ]
    );
}

/// HR4: a release whose tests failed is none to go back to, and where the one before is gone from storage the upgrade is tried again instead.
#[tokio::test]
async fn a_release_that_is_gone_from_storage_is_not_gone_back_to() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", judged(json!({}))).await;
    setting.deployed("web", 1).await;
    let tested = json!({"values": {"failing": true}, "test": {"enable": true, "ignoreFailures": true}});
    setting.change("web", tested).await;
    let object = setting
        .until_said(
            "web",
            &["TestSuccess=False TestFailed", "Ready=True UpgradeSucceeded"],
        )
        .await;
    let history = object.status.unwrap().history;
    assert_eq!(history.iter().map(|one| one.version).collect::<Vec<_>>(), [2, 1]);
    setting
        .secrets()
        .delete("sh.helm.release.v1.web.v1", &Default::default())
        .await
        .unwrap();
    let remediation = json!({"retries": 1, "ignoreTestFailures": false});
    let bad = json!({"values": {"a": "bad"}, "upgrade": {"remediation": remediation}});
    setting.change("web", bad).await;
    let object = setting
        .bed
        .until("web", |object| failures(object) == (0, 2))
        .await;
    assert_eq!(said(&object, &["Remediated"]), ["no Remediated"]);
    let stories = setting.stories("web").await;
    assert!(
        stories.iter().all(|story| !story.contains("Rollback")),
        "{stories:?}"
    );
}

/// HR3, `Failed`, `InSync`: `resetAt` forgets failures, so that what has failed is tried again; `forceAt` has a release made in any case, once for each request.
#[tokio::test]
async fn annotations_ask_for_another_try_and_for_a_release() {
    let setting = Setting::with(&FILES).await;
    setting
        .create("web", judged(json!({"values": {"a": "bad"}})))
        .await;
    setting.stalled("web", "RetriesExceeded").await;
    setting.ask_for("web", "resetAt").await;
    let object = setting
        .bed
        .until("web", |object| {
            let latest = object
                .status
                .as_ref()
                .unwrap()
                .history
                .first()
                .map(|one| one.version);
            latest == Some(2) && said(object, &["Stalled"]) == ["Stalled=True RetriesExceeded"]
        })
        .await;
    assert_eq!(failures(&object), (0, 1), "those before are forgotten");
    let status = object.status.clone().unwrap();
    assert_eq!(status.last_handled_reset_at, status.last_handled_reconcile_at);
    assert!(status.last_handled_reset_at.is_some());
    setting.ask_for("web", "forceAt").await;
    let object = setting
        .bed
        .until("web", |object| failures(object) == (0, 2))
        .await;
    assert!(object.status.unwrap().last_handled_force_at.is_some());

    setting.create("fine", json!({})).await;
    setting.deployed("fine", 1).await;
    setting.ask_for("fine", "forceAt").await;
    setting.deployed("fine", 2).await;
    let object = setting.ask("fine").await;
    assert_eq!(
        object.status.unwrap().history[0].version,
        2,
        "a request without it makes none"
    );
}

/// `strategy`, HR1, HR3, HR11, RS5: what fails is tried again after the interval instead of undone, and a success forgets all failures, which it does
/// not where they are undone.
#[tokio::test]
async fn what_fails_is_tried_again_after_an_interval_where_that_is_asked_for() {
    let setting = Setting::with(&[("app/templates/config.yaml", LOOKED_UP)]).await;
    setting.put_value("outside", "bad").await;
    let retry = json!({"strategy": {"name": "RetryOnFailure", "retryInterval": "1s"}});
    setting
        .create("web", judged(json!({"install": retry, "upgrade": retry})))
        .await;
    let forever = json!({"remediation": {"retries": -1}});
    setting
        .create("undone", judged(json!({"install": forever, "upgrade": forever})))
        .await;
    let object = setting.bed.until("web", |object| failures(object).1 >= 2).await;
    assert_eq!(failures(&object).0, 1, "what follows an install is an upgrade");
    let waits = setting
        .until_said("web", &["Reconciling=True ProgressingWithRetry", "no Stalled"])
        .await;
    assert_eq!(message(&waits, "Reconciling"), "retrying after 1s");
    assert!(waits.status.unwrap().history.len() <= 5);
    setting
        .bed
        .until("undone", |object| failures(object).0 >= 2)
        .await;
    setting.put_value("outside", "good").await;
    let fine = |object: &HelmRelease| said(object, &["Ready"])[0].starts_with("Ready=True");
    let object = setting.bed.until("web", fine).await;
    assert_eq!(failures(&object), (0, 0));
    assert_eq!(object.status.as_ref().unwrap().failures, None);
    let object = setting.bed.until("undone", fine).await;
    assert!(failures(&object).0 >= 2, "{:?}", object.status);
    setting.value("web", Some("good")).await;
}
