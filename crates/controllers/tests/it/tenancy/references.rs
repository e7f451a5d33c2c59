//! `--no-cross-namespace-refs` counts for dependencies too, and what is told of one gives nothing of it away.

use controllers::{helm_releases, kustomizations};
use serde_json::json;

use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// An object of another namespace could be depended on, and asked about with `readyExpr`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_depend_on_their_own_namespace_where_others_are_blocked() {
    let settings = kustomizations::Settings {
        no_cross_namespace_refs: true,
        ..Default::default()
    };
    let setting = Setting::with_settings(&[("one.yaml", &config_map("one", "1"))], settings).await;
    let on = json!([{"name": "base", "namespace": "other", "readyExpr": "dep.metadata.name == 'base'"}]);
    setting.create("app", json!({"dependsOn": on})).await;
    let object = setting.bed.ready("app", "False", "AccessDenied").await;
    assert_eq!(
        condition(&object, "Stalled").unwrap().message,
        "can't access 'Kustomization/other/base', cross-namespace references have been blocked"
    );
    setting.value("one", None).await;
    // Its own namespace can be named.
    let on = json!([{"name": "base", "namespace": setting.bed.namespace}]);
    setting.bed.patch("app", json!({"spec": {"dependsOn": on}})).await;
    setting.bed.ready("app", "False", "DependencyNotReady").await;
    setting.create("base", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_depend_on_their_own_namespace_where_others_are_blocked() {
    let settings = helm_releases::Settings {
        no_cross_namespace_refs: true,
        ..Default::default()
    };
    let files = [("app/templates/config.yaml", CONFIG)];
    let setting = HelmSetting::with_settings(&files, settings).await;
    let on = json!([{"name": "base", "namespace": "other"}]);
    setting
        .create("web", json!({"dependsOn": on, "values": {"a": "1"}}))
        .await;
    let object = setting.ready("web", "False", "AccessDenied").await;
    assert_eq!(
        condition(&object, "Stalled").unwrap().message,
        "can't access 'HelmRelease/other/base', cross-namespace references have been blocked"
    );
    setting.value("web", None).await;
}

/// Whoever reads the status of an object need not be allowed to read what it depends on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_that_fails_tells_no_value_of_the_dependency() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let secret = json!({"example.com/secret": "geheim"});
    setting.create_asking("base", secret, json!({})).await;
    setting.bed.ready("base", "True", "ReconciliationSucceeded").await;
    for (name, expression) in [
        ("int", "int(dep.metadata.annotations['example.com/secret']) > 0"),
        (
            "key",
            "dep.metadata.labels[dep.metadata.annotations['example.com/secret']] == ''",
        ),
        ("type", "dep.metadata.annotations['example.com/secret']"),
    ] {
        let on = json!([{"name": "base", "readyExpr": expression}]);
        setting.create(name, json!({"dependsOn": on})).await;
        let object = setting.bed.ready(name, "False", "DependencyNotReady").await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(!message.contains("geheim"), "{name}: {message}");
        let dependency = format!("dependency '{}/base'", setting.bed.namespace);
        assert!(message.contains(&dependency), "{name}: {message}");
    }
}
