//! What the server is asked to do, and in which order; what is taken over and what is deleted.

use api::source::GitRepositorySpec;
use controllers::kustomizations::Settings;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use testkit::cluster::object_settled;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// AP3, AP4: definitions and namespaces come before what is of them and in them, whatever the names of their files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_and_namespaces_come_before_what_needs_them() {
    let setting = Setting::with(&[("notes.txt", "nothing")]).await;
    let space = format!("{}-own", setting.bed.namespace);
    let group = format!("{}.example.com", setting.bed.namespace);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    let widget = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": "one", "namespace": space},
    });
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}});
    setting
        .commit(&[
            ("all/a.yaml", &widget.to_string()),
            ("all/b.yaml", &namespace.to_string()),
            ("all/c.yaml", &definition.to_string()),
        ])
        .await;
    setting
        .create("app", json!({"path": "./all", "targetNamespace": null}))
        .await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    assert_eq!(object.status.unwrap().inventory.unwrap().entries.len(), 3);
    setting.bed.delete("app").await;
    setting.bed.gone("app").await;
}

/// AP6: fields that somebody has set with kubectl are taken over, and go if no file has them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_kubectl_has_set_is_taken_over() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let by_hand: ConfigMap = serde_json::from_value(json!({
        "metadata": {"name": "one"}, "data": {"a": "by hand", "more": "by hand"},
    }))
    .unwrap();
    let by = kube::api::PostParams {
        field_manager: Some("kubectl-create".to_owned()),
        ..Default::default()
    };
    setting.config_maps().create(&by, &by_hand).await.unwrap();
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let live = setting.config_maps().get("one").await.unwrap();
    assert_eq!(json!(live.data), json!({"a": "1"}));
}

/// I2, I3: what is left alone is in the inventory too; of what is gone from the files, that stays which says so, or which is another's by now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_marked_or_anothers_is_not_pruned() {
    let marked = |name: &str, key: &str| {
        config_map(name, "1").replace(
            "metadata:\n",
            &format!("metadata:\n  annotations:\n    kustomize.toolkit.fluxcd.io/{key}: disabled\n"),
        )
    };
    let setting = Setting::with(&[
        ("kept.yaml", &marked("kept", "prune")),
        ("taken.yaml", &config_map("taken", "1")),
        ("gone.yaml", &config_map("gone", "1")),
        ("alone.yaml", &marked("alone", "reconcile")),
        ("last.yaml", &config_map("last", "1")),
    ])
    .await;
    setting.create("app", json!({})).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    assert_eq!(object.status.unwrap().inventory.unwrap().entries.len(), 5);
    setting.value("alone", None).await;
    let others = json!({"metadata": {"labels": {"kustomize.toolkit.fluxcd.io/name": "other"}}});
    setting.bed.patch("app", json!({"spec": {"suspend": true}})).await;
    let maps = setting.config_maps();
    maps.patch("taken", &PatchParams::default(), &Patch::Merge(&others))
        .await
        .unwrap();
    let commit = setting
        .server
        .repository("app")
        .change("main")
        .delete("kept.yaml")
        .delete("taken.yaml")
        .delete("gone.yaml")
        .commit();
    setting.fetch().await;
    // What is resumed before that is applied once more as it was.
    let sources = setting.bed.other::<GitRepositorySpec>();
    let fetched = object_settled(sources, "app", testkit::DEADLINE, |object| {
        let status = object.and_then(|object| object.status.as_ref());
        let artifact = status.and_then(|status| status.artifact.as_ref());
        let revision = artifact.map(|artifact| artifact.revision.to_string());
        match revision
            .as_ref()
            .is_some_and(|revision| revision.ends_with(&commit.to_string()))
        {
            true => Ok(()),
            false => Err(format!("{revision:?}")),
        }
    });
    fetched.await.unwrap();
    setting
        .bed
        .patch("app", json!({"spec": {"suspend": false}}))
        .await;
    setting.value("gone", None).await;
    setting.value("kept", Some("1")).await;
    setting.value("taken", Some("1")).await;
}

/// I4: what could not be deleted is told, and stays in the inventory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_deleted_stays_in_the_inventory() {
    let setting = Setting::with(&[
        ("one.yaml", &config_map("one", "1")),
        ("two.yaml", &config_map("two", "1")),
    ])
    .await;
    let (client, space) = (setting.bed.cluster.client(), setting.bed.namespace.clone());
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "careful"}})).unwrap();
    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": "careful"},
        "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "patch", "update"]},
        ],
    }))
    .unwrap();
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "careful"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "careful"},
        "subjects": [{"kind": "ServiceAccount", "name": "careful", "namespace": space}],
    }))
    .unwrap();
    let by = Default::default();
    Api::namespaced(client.clone(), &space)
        .create(&by, &account)
        .await
        .unwrap();
    Api::namespaced(client.clone(), &space)
        .create(&by, &role)
        .await
        .unwrap();
    Api::namespaced(client, &space)
        .create(&by, &binding)
        .await
        .unwrap();
    setting
        .create("app", json!({"serviceAccountName": "careful"}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting
        .server
        .repository("app")
        .change("main")
        .delete("two.yaml")
        .commit();
    setting.fetch().await;
    let object = setting.bed.ready("app", "False", "PruneFailed").await;
    let told = condition(&object, "Ready").unwrap().message;
    assert!(told.contains("two"), "{told}");
    let entries = object
        .status
        .as_ref()
        .unwrap()
        .inventory
        .as_ref()
        .unwrap()
        .entries
        .len();
    assert_eq!(entries, 2, "{}", object.name_any());
    setting.value("two", Some("1")).await;
}

/// AP6: `--override-manager` names others whose fields are taken over; those of managers that nobody names stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn managers_that_a_flag_names_are_taken_over_too() {
    let settings = Settings {
        override_managers: vec!["legacy".to_owned()],
        ..Settings::default()
    };
    let files = [
        ("one.yaml", config_map("one", "1")),
        ("two.yaml", config_map("two", "1")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let setting = Setting::with_settings(&files, settings).await;
    for (name, manager) in [("one", "legacy"), ("two", "somebody")] {
        let there: ConfigMap = serde_json::from_value(json!({
            "metadata": {"name": name}, "data": {"a": "before", "more": "before"},
        }))
        .unwrap();
        let by = kube::api::PostParams {
            field_manager: Some(manager.to_owned()),
            ..Default::default()
        };
        setting.config_maps().create(&by, &there).await.unwrap();
    }
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let data = async |name: &str| json!(setting.config_maps().get(name).await.unwrap().data);
    assert_eq!(data("one").await, json!({"a": "1"}));
    assert_eq!(data("two").await, json!({"a": "1", "more": "before"}));
}

/// AP3: `--custom-apply-stage-kinds` names kinds that come before all others but definitions and classes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kinds_that_a_flag_names_come_before_the_others() {
    let settings = Settings {
        custom_stage_kinds: engine::plan::GroupKind::list("/ConfigMap"),
        ..Settings::default()
    };
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: one\n";
    let files = [("account.yaml", account), ("map.yaml", &config_map("one", "1"))];
    let setting = Setting::with_settings(&files, settings).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let accounts: Api<ServiceAccount> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let version = |text: Option<String>| text.unwrap().parse::<u64>().unwrap();
    let account = version(accounts.get("one").await.unwrap().resource_version());
    let map = version(setting.config_maps().get("one").await.unwrap().resource_version());
    // By kind alone an account is written first.
    assert!(map < account, "{map} {account}");
}
