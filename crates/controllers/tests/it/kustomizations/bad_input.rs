//! What people get wrong, one thing each: it is told with the reason of the contract and with the file or object that it is about, all others go on, and
//! nothing is pruned.

use std::collections::BTreeMap;
use std::time::Duration;

use api::kustomize::KustomizationSpec;
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// What somebody gets wrong.
struct Mistake {
    /// The Kustomization, and its folder.
    name: &'static str,
    /// What its spec has besides.
    spec: Value,
    /// What is changed in its folder.
    files: Vec<(&'static str, String)>,
    reason: &'static str,
    /// What the message names.
    told: Vec<String>,
}

fn mistakes(space: &str) -> Vec<Mistake> {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: closed\nstringData: {password: geheim}\n";
    let elsewhere =
        config_map("elsewhere", "1").replace("name:", &format!("namespace: {space}-nowhere\n  name:"));
    vec![
        Mistake {
            name: "broken",
            spec: json!({}),
            files: vec![(
                "kustomization.yaml",
                "resources: [keep.yaml, nowhere.yaml]\n".to_owned(),
            )],
            reason: "BuildFailed",
            told: vec!["nowhere.yaml".to_owned()],
        },
        Mistake {
            name: "no-yaml",
            spec: json!({}),
            files: vec![("bad.yaml", "kind: [\n".to_owned())],
            reason: "BuildFailed",
            told: vec!["no-yaml/bad.yaml".to_owned()],
        },
        Mistake {
            name: "unknown",
            spec: json!({}),
            files: vec![(
                "bad.yaml",
                "apiVersion: nobody.test/v1\nkind: Nothing\nmetadata:\n  name: it\n".to_owned(),
            )],
            reason: "ReconciliationFailed",
            told: vec!["Nothing/".to_owned(), "nobody.test/v1".to_owned()],
        },
        Mistake {
            name: "no-space",
            spec: json!({"targetNamespace": null}),
            files: vec![("bad.yaml", elsewhere)],
            reason: "ReconciliationFailed",
            told: vec![
                format!("ConfigMap/{space}-nowhere/elsewhere"),
                "not found".to_owned(),
            ],
        },
        Mistake {
            name: "sealed",
            spec: json!({}),
            files: vec![(
                "fixed.yaml",
                format!("{}immutable: true\n", config_map("fixed", "2")),
            )],
            reason: "ReconciliationFailed",
            told: vec![format!("ConfigMap/{space}/fixed"), "immutable".to_owned()],
        },
        Mistake {
            name: "forbidden",
            spec: json!({"serviceAccountName": "maps"}),
            files: vec![("bad.yaml", secret.to_owned())],
            reason: "ReconciliationFailed",
            told: vec![
                format!("Secret/{space}/closed"),
                format!("system:serviceaccount:{space}:maps"),
            ],
        },
    ]
}

/// Each in a Kustomization of its own beside one without a mistake, all of one source.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_mistake_is_told_by_name_and_holds_up_no_others_and_prunes_nothing() {
    let setting = Setting::with(&[("notes.txt", "nothing yet")]).await;
    let space = setting.bed.namespace.clone();
    setting.bed.account("maps", &["configmaps"]).await;
    let mistakes = mistakes(&space);
    let within = |text: String| text.replace("metadata:\n", &format!("metadata:\n  namespace: {space}\n"));
    let mut files = BTreeMap::from([("fine/keep.yaml".to_owned(), config_map("fine", "1"))]);
    for mistake in &mistakes {
        let name = mistake.name;
        for what in ["keep", "gone"] {
            files.insert(
                format!("{name}/{what}.yaml"),
                within(config_map(&format!("{name}-{what}"), "1")),
            );
        }
    }
    files.insert(
        "sealed/fixed.yaml".to_owned(),
        format!("{}immutable: true\n", config_map("fixed", "1")),
    );
    let listed: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let start = setting.commit(&listed).await;
    setting.create("fine", json!({"path": "./fine"})).await;
    for mistake in &mistakes {
        let mut spec = json!({"path": format!("./{}", mistake.name)});
        spec.as_object_mut()
            .unwrap()
            .extend(mistake.spec.as_object().unwrap().clone());
        setting.create(mistake.name, spec).await;
    }
    for mistake in &mistakes {
        setting.applied(mistake.name, &start).await;
    }

    let mut change = setting.server.repository("app").change("main");
    for mistake in &mistakes {
        change = change.delete(&format!("{}/gone.yaml", mistake.name));
        for (file, text) in &mistake.files {
            change = change.file(&format!("{}/{file}", mistake.name), text.as_str());
        }
    }
    let revision = change.file("fine/keep.yaml", config_map("fine", "2")).commit();
    setting.fetch().await;
    setting.applied("fine", &format!("main@sha1:{revision}")).await;
    setting.value("fine", Some("2")).await;
    for mistake in &mistakes {
        let name = mistake.name;
        let object = setting.bed.ready(name, "False", mistake.reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        for told in &mistake.told {
            assert!(message.contains(told), "{name}: {told:?} is not in {message:?}");
        }
        assert!(!message.contains("geheim"), "{message}");
        let status = object.status.unwrap();
        assert_eq!(
            status.last_applied_revision.as_deref(),
            Some(start.as_str()),
            "{name}"
        );
        for what in ["keep", "gone"] {
            setting.value(&format!("{name}-{what}"), Some("1")).await;
        }
    }
}

/// A Secret that is not there is named, whatever it is for, and what was applied stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_is_missing_is_told_by_name_and_prunes_nothing() {
    let setting = Setting::with(&[
        ("one.yaml", &config_map("one", "1")),
        ("two.yaml", &config_map("two", "1")),
    ])
    .await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting
        .server
        .repository("app")
        .change("main")
        .delete("two.yaml")
        .commit();
    let from = json!([{"kind": "Secret", "name": "nowhere"}]);
    setting
        .bed
        .patch("app", json!({"spec": {"postBuild": {"substituteFrom": from}}}))
        .await;
    setting.fetch().await;
    let object = setting.bed.ready("app", "False", "BuildFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("Secret/nowhere"), "{message}");
    let decryption = json!({"provider": "sops", "secretRef": {"name": "no-keys"}});
    setting
        .bed
        .patch(
            "app",
            json!({"spec": {"postBuild": null, "decryption": decryption}}),
        )
        .await;
    let is_told = |object: &api::kustomize::Kustomization| {
        let ready = condition(object, "Ready");
        ready.is_some_and(|ready| ready.reason == "BuildFailed" && ready.message.contains("/no-keys'"))
    };
    setting.bed.until("app", is_told).await;
    setting.value("one", Some("1")).await;
    setting.value("two", Some("1")).await;
}

/// A cluster that cannot be reached and a circle of dependencies are told, each with what it is about, and hold up no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clusters_that_are_not_there_and_circles_are_told_and_hold_up_no_others() {
    let setting = Setting::with(&[
        ("far/one.yaml", &config_map("one", "1")),
        ("round/two.yaml", &config_map("two", "1")),
        ("fine/three.yaml", &config_map("three", "1")),
    ])
    .await;
    let far = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "far",
        "clusters": [{"name": "far", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "far", "user": {"token": "geheim"}}],
        "contexts": [{"name": "far", "context": {"cluster": "far", "user": "far"}}],
    });
    let far = json!({"value": far.to_string()});
    setting.bed.secret("far", "Opaque", far).await;
    let spec = json!({"path": "./far", "kubeConfig": {"secretRef": {"name": "far"}}});
    setting.create("far", spec).await;
    for (name, other) in [("left", "right"), ("right", "left")] {
        setting
            .create(name, json!({"path": "./round", "dependsOn": [{"name": other}]}))
            .await;
    }
    setting.create("fine", json!({"path": "./fine"})).await;
    setting.bed.ready("fine", "True", "ReconciliationSucceeded").await;
    setting.value("three", Some("1")).await;
    // Who does not answer is asked again for half a minute before that is told.
    let objects = setting.bed.other::<KustomizationSpec>();
    let told = object_settled(objects, "far", Duration::from_secs(120), |object| {
        let ready = object.and_then(|object| condition(object, "Ready"));
        match ready {
            Some(ready) if ready.reason == "ReconciliationFailed" => Ok(ready.message),
            other => Err(format!("{other:?}")),
        }
    });
    let message = told.await.unwrap();
    assert!(
        message.contains("no connection to http://127.0.0.1:1: ") && !message.contains("geheim"),
        "{message}"
    );
    let is_round = |object: &api::kustomize::Kustomization| {
        let ready = condition(object, "Ready");
        ready.is_some_and(|ready| {
            ready.reason == "DependencyNotReady" && ready.message.starts_with("dependency cycle: ")
        })
    };
    let object = setting.bed.until("left", is_round).await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.contains("left -> ") && message.contains("right -> "),
        "{message}"
    );
    setting.value("two", None).await;
}
