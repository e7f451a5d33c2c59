//! Deleting objects and collections.

use conformance::check;
use conformance::objects::{config_map, deployment, labelled};
use http::Method;
use serde_json::json;

check!(a_deletion_answers_with_the_uid_of_what_is_gone, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let body = t.delete(&t.core("configmaps/a")).await.code(200);
    let details = json!({"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]});
    let expected = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    assert_eq!(body, expected);
    t.get(&t.core("configmaps/a")).await.code(404);
});

check!(deleting_a_missing_object_is_not_found, async |t| {
    t.delete(&t.core("configmaps/a"))
        .await
        .fails(404, "NotFound", r#"configmaps "a" not found"#);
});

check!(a_precondition_on_another_uid_conflicts, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let options = json!({"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}});
    let message = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition \
         (11111111-2222-3333-4444-555555555555) does not match the UID in record ({}). The object might have been deleted \
         and then recreated",
        made["metadata"]["uid"].as_str().unwrap()
    );
    t.delete_with(&t.core("configmaps/a"), options)
        .await
        .fails(409, "Conflict", message);
    t.get(&t.core("configmaps/a")).await.code(200);
});

check!(a_precondition_on_another_resource_version_conflicts, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let options = json!({"preconditions": {"resourceVersion": "1"}});
    let message = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the precondition (1) does not match the \
         ResourceVersion in record ({}). The object might have been modified",
        made["metadata"]["resourceVersion"].as_str().unwrap()
    );
    t.delete_with(&t.core("configmaps/a"), options)
        .await
        .fails(409, "Conflict", message);
});

check!(preconditions_that_hold_let_the_deletion_pass, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let meta = &made["metadata"];
    let options = json!({"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}});
    t.delete_with(&t.core("configmaps/a"), options).await.code(200);
});

check!(an_unknown_propagation_policy_is_invalid, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let message = concat!(
        r#"DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "#,
        r#""Foreground", "Background", "Orphan", "nil""#
    );
    t.delete(&format!("{}?propagationPolicy=Sideways", t.core("configmaps/a")))
        .await
        .fails(422, "Invalid", message);
});

check!(orphan_dependents_and_a_policy_exclude_each_other, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let options = json!({"orphanDependents": true, "propagationPolicy": "Orphan"});
    let message = concat!(
        r#"DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": "#,
        "orphanDependents and deletionPropagation cannot be both set"
    );
    t.delete_with(&t.core("configmaps/a"), options)
        .await
        .fails(422, "Invalid", message);
});

check!(a_dry_run_deletion_deletes_nothing, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    t.delete(&format!("{}?dryRun=All", t.core("configmaps/a")))
        .await
        .code(200);
    t.get(&t.core("configmaps/a")).await.code(200);
});

check!(options_may_stand_in_the_query, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a");
    t.delete(&format!(
        "{path}?gracePeriodSeconds=0&propagationPolicy=Background"
    ))
    .await
    .code(200);
    t.get(&path).await.code(404);
});

check!(a_collection_is_deleted_by_label, async |t| {
    for (name, team) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        t.create(&t.core("configmaps"), labelled(name, json!({"team": team})))
            .await;
    }
    let gone = t
        .delete(&format!("{}?labelSelector=team%3Dred", t.core("configmaps")))
        .await
        .code(200);
    assert_eq!(gone["kind"], "ConfigMapList");
    let names: Vec<_> = gone["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["metadata"]["name"])
        .collect();
    assert_eq!(names, ["a", "c"]);
    let left = t
        .get(&format!("{}?labelSelector=team", t.core("configmaps")))
        .await
        .code(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
});

check!(a_collection_is_deleted_by_field, async |t| {
    for name in ["a", "b"] {
        t.create(&t.core("secrets"), json!({"metadata": {"name": name}}))
            .await;
    }
    t.delete(&format!("{}?fieldSelector=metadata.name%3Da", t.core("secrets")))
        .await
        .code(200);
    t.get(&t.core("secrets/a")).await.code(404);
    t.get(&t.core("secrets/b")).await.code(200);
});

check!(a_collection_across_namespaces_cannot_be_deleted, async |t| {
    let message = "the server does not allow this method on the requested resource";
    t.delete("/api/v1/configmaps")
        .await
        .fails(405, "MethodNotAllowed", message);
    t.delete("/api/v1/namespaces")
        .await
        .fails(405, "MethodNotAllowed", message);
});

check!(malformed_delete_options_are_a_bad_request, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let headers = [("content-type", "application/json")];
    let reply = t
        .send(Method::DELETE, &t.core("configmaps/a"), &headers, b"{".to_vec())
        .await;
    assert_eq!(reply.code, 400, "{reply}");
    assert_eq!(reply.body["reason"], "BadRequest");
    t.get(&t.core("configmaps/a")).await.code(200);
});

check!(a_deployment_deletes_in_the_background_by_default, async |t| {
    let path = t.group("apps/v1", "deployments");
    t.create(&path, deployment("a")).await;
    let body = t.delete(&format!("{path}/a")).await.code(200);
    assert_eq!(
        (&body["kind"], &body["status"]),
        (&json!("Status"), &json!("Success"))
    );
    t.get(&format!("{path}/a")).await.code(404);
});

check!(a_pod_that_no_node_runs_is_deleted_at_once, async |t| {
    t.until(&t.core("serviceaccounts/default"), |reply| reply.code == 200)
        .await;
    let mut pod = conformance::objects::pod("a");
    // A scheduler, if there is one, has to leave it alone.
    pod["spec"]["schedulerName"] = json!("nobody");
    t.create(&t.core("pods"), pod).await;
    let body = t.delete(&t.core("pods/a")).await.code(200);
    assert_eq!(body["kind"], "Pod");
    assert_eq!(body["metadata"]["deletionGracePeriodSeconds"], 0);
    t.get(&t.core("pods/a")).await.code(404);
});
