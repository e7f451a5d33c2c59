//! `status` and `scale`.

use conformance::objects::deployment;
use conformance::{Patch, check};
use serde_json::json;

check!(the_status_of_a_new_object_is_dropped, async |t| {
    let mut object = deployment("a");
    object["status"] = json!({"replicas": 9});
    let made = t.create(&t.group("apps/v1", "deployments"), object).await;
    assert_eq!(made["status"], json!({}));
});

check!(the_object_and_its_status_are_written_apart, async |t| {
    let path = t.group("apps/v1", "replicasets");
    let mut object = deployment("a");
    object["kind"] = json!("ReplicaSet");
    t.create(&path, object).await;
    let path = format!("{path}/a");
    // The controller of the real cluster writes the status once, soon after the creation.
    let body = json!({"status": {"replicas": 7, "observedGeneration": 1}});
    let made = t.patch(&path, Patch::Merge, body).await.code(200);
    assert_eq!(made["status"]["replicas"], 0, "not by the path of the object");
    let both = json!({"spec": {"minReadySeconds": 9}, "status": {"conditions": [{"type": "Odd", "status": "True"}]}});
    let made = t
        .patch(&format!("{path}/status"), Patch::Merge, both)
        .await
        .code(200);
    assert_eq!(made["status"]["conditions"][0]["type"], "Odd");
    assert_eq!(
        made["spec"]["minReadySeconds"],
        json!(null),
        "not by the path of the status"
    );
    assert_eq!(made["metadata"]["generation"], 1);
});

check!(labels_are_not_written_with_the_status_of_a_workload, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a/status");
    let body = json!({"metadata": {"labels": {"l": "1"}}, "status": {"observedGeneration": 1}});
    let made = t.patch(&path, Patch::Merge, body).await.code(200);
    assert_eq!(made["metadata"]["labels"], json!(null));
});

check!(a_status_can_be_read_but_not_deleted, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a/status");
    assert_eq!(t.get(&path).await.code(200)["kind"], "Deployment");
    let message = "the server does not allow this method on the requested resource";
    t.delete(&path).await.fails(405, "MethodNotAllowed", message);
});

check!(a_kind_without_status_has_no_such_path, async |t| {
    t.create(&t.core("configmaps"), conformance::objects::config_map("a"))
        .await;
    let message = "the server could not find the requested resource";
    t.get(&t.core("configmaps/a/status"))
        .await
        .fails(404, "NotFound", message);
});

check!(a_scale_shows_replicas_and_selector, async |t| {
    let mut object = deployment("a");
    object["spec"]["paused"] = json!(true);
    let made = t.create(&t.group("apps/v1", "deployments"), object).await;
    let scale = t.get(&t.group("apps/v1", "deployments/a/scale")).await.code(200);
    assert_eq!(
        (&scale["kind"], &scale["apiVersion"]),
        (&json!("Scale"), &json!("autoscaling/v1"))
    );
    assert_eq!(
        (&scale["metadata"]["name"], &scale["metadata"]["uid"]),
        (&json!("a"), &made["metadata"]["uid"])
    );
    assert_eq!(scale["spec"], json!({}), "zero is left out");
    assert_eq!(scale["status"], json!({"replicas": 0, "selector": "app=a"}));
});

check!(a_scale_sets_the_replicas_of_its_object, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a");
    let made = t
        .patch(
            &format!("{path}/scale"),
            Patch::Merge,
            json!({"spec": {"replicas": 2}}),
        )
        .await
        .code(200);
    assert_eq!(
        (&made["kind"], &made["spec"]["replicas"]),
        (&json!("Scale"), &json!(2))
    );
    let object = t.get(&path).await.code(200);
    assert_eq!(
        (&object["spec"]["replicas"], &object["metadata"]["generation"]),
        (&json!(2), &json!(2))
    );
    let mut scale = json!({"metadata": {"name": "a"}, "spec": {"replicas": 1}});
    t.put(&format!("{path}/scale"), scale.clone()).await.code(200);
    assert_eq!(t.get(&path).await.code(200)["spec"]["replicas"], 1);
    scale["metadata"]["resourceVersion"] = json!("1");
    let message = concat!(
        r#"Operation cannot be fulfilled on deployments.apps "a": the object has been modified; "#,
        "please apply your changes to the latest version and try again"
    );
    t.put(&format!("{path}/scale"), scale)
        .await
        .fails(409, "Conflict", message);
});

check!(a_negative_scale_is_invalid, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a/scale");
    let message = concat!(
        r#"Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -3: "#,
        "must be greater than or equal to 0"
    );
    t.patch(&path, Patch::Merge, json!({"spec": {"replicas": -3}}))
        .await
        .fails(422, "Invalid", message);
});

check!(the_scale_of_a_missing_object_is_not_found, async |t| {
    let path = t.group("apps/v1", "deployments/a/scale");
    t.get(&path)
        .await
        .fails(404, "NotFound", r#"deployments.apps "a" not found"#);
});
