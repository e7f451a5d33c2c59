//! The life of a namespace.

use conformance::objects::config_map;
use conformance::{Patch, check};
use serde_json::json;

check!(a_new_namespace_is_active_and_labelled, async |t| {
    let body = t
        .get(&format!("/api/v1/namespaces/{}", t.namespace))
        .await
        .code(200);
    assert_eq!(
        body["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": t.namespace})
    );
    assert_eq!(
        (&body["spec"], &body["status"]),
        (
            &json!({"finalizers": ["kubernetes"]}),
            &json!({"phase": "Active"})
        )
    );
});

check!(a_new_namespace_gets_a_service_account, async |t| {
    let account = t
        .until(&t.core("serviceaccounts/default"), |reply| reply.code == 200)
        .await;
    assert_eq!(account["metadata"]["name"], "default");
});

check!(deleting_a_namespace_deletes_what_is_in_it, async |t| {
    let name = t.cluster.namespace("gone").await;
    let inside = format!("/api/v1/namespaces/{name}/configmaps");
    t.create(&inside, config_map("a")).await;
    let marked = t.delete(&format!("/api/v1/namespaces/{name}")).await.code(200);
    assert_eq!(
        (&marked["kind"], &marked["status"]["phase"]),
        (&json!("Namespace"), &json!("Terminating"))
    );
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    t.until_gone(&format!("/api/v1/namespaces/{name}")).await;
    t.get(&format!("{inside}/a")).await.code(404);
});

check!(a_terminating_namespace_takes_nothing_new, async |t| {
    let name = t.cluster.namespace("held").await;
    let inside = format!("/api/v1/namespaces/{name}/configmaps");
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    t.create(&inside, object).await;
    t.delete(&format!("/api/v1/namespaces/{name}")).await.code(200);
    let message = format!(
        "configmaps \"b\" is forbidden: unable to create new content in namespace {name} because it is being terminated"
    );
    let status = t
        .post(&inside, config_map("b"))
        .await
        .fails(403, "Forbidden", &message);
    let cause = json!({
        "reason": "NamespaceTerminating", "message": format!("namespace {name} is being terminated"), "field": "metadata.namespace",
    });
    assert_eq!(status["details"]["causes"], json!([cause]));
    let path = format!("{inside}/a");
    t.until(&path, |reply| {
        reply.body["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    t.patch(&path, Patch::Merge, json!({"metadata": {"finalizers": null}}))
        .await
        .code(200);
    t.until_gone(&format!("/api/v1/namespaces/{name}")).await;
});

check!(what_holds_a_namespace_is_told, async |t| {
    let name = t.cluster.namespace("held").await;
    let inside = format!("/api/v1/namespaces/{name}/configmaps");
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    t.create(&inside, object).await;
    t.delete(&format!("/api/v1/namespaces/{name}")).await.code(200);
    let condition = |reply: &conformance::Reply| {
        let conditions = reply.body["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        conditions
            .into_iter()
            .find(|one| one["type"] == "NamespaceFinalizersRemaining" && one["status"] == "True")
    };
    let body = t
        .until(&format!("/api/v1/namespaces/{name}"), |reply| {
            condition(reply).is_some()
        })
        .await;
    let conditions = body["status"]["conditions"].as_array().unwrap();
    let remaining = conditions
        .iter()
        .find(|one| one["type"] == "NamespaceFinalizersRemaining")
        .unwrap();
    let message =
        "Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances";
    assert_eq!(
        (&remaining["reason"], &remaining["message"]),
        (&json!("SomeFinalizersRemain"), &json!(message))
    );
    t.patch(
        &format!("{inside}/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200);
    t.until_gone(&format!("/api/v1/namespaces/{name}")).await;
});

check!(a_protected_namespace_cannot_be_deleted, async |t| {
    let message = r#"namespaces "kube-system" is forbidden: this namespace may not be deleted"#;
    t.delete("/api/v1/namespaces/kube-system")
        .await
        .fails(403, "Forbidden", message);
});

check!(the_name_can_be_used_again, async |t| {
    let name = t.cluster.namespace("again").await;
    let path = format!("/api/v1/namespaces/{name}");
    let first = t.get(&path).await.code(200);
    t.delete(&path).await.code(200);
    t.until_gone(&path).await;
    let second = t
        .create("/api/v1/namespaces", json!({"metadata": {"name": name}}))
        .await;
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
});

check!(the_label_of_a_namespace_cannot_be_removed, async |t| {
    let path = format!("/api/v1/namespaces/{}", t.namespace);
    let body = json!({"metadata": {"labels": {"kubernetes.io/metadata.name": null}}});
    let made = t.patch(&path, Patch::Merge, body).await.code(200);
    assert_eq!(
        made["metadata"]["labels"]["kubernetes.io/metadata.name"],
        t.namespace.as_str()
    );
});

check!(the_namespaces_of_every_cluster_are_there, async |t| {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        t.get(&format!("/api/v1/namespaces/{name}")).await.code(200);
    }
});
