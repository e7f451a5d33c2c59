//! What cannot be changed.

use conformance::objects::{deployment, service};
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

/// A merge patch is refused as invalid, with that message.
async fn refused(t: &Test, path: &str, body: Value, message: &str) {
    t.patch(path, Patch::Merge, body)
        .await
        .fails(422, "Invalid", message);
}

check!(the_selector_of_a_deployment_stays, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let labels = json!({"x": "y"});
    let body =
        json!({"spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}});
    let message = concat!(
        r#"Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"a","x":"y"}}: "#,
        "field is immutable"
    );
    refused(t, &t.group("apps/v1", "deployments/a"), body, message).await;
});

check!(most_of_a_stateful_set_stays, async |t| {
    let mut object = deployment("a");
    object["kind"] = json!("StatefulSet");
    t.create(&t.group("apps/v1", "statefulsets"), object).await;
    let message = "StatefulSet.apps \"a\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than \
        'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' \
        and 'minReadySeconds' are forbidden";
    refused(
        t,
        &t.group("apps/v1", "statefulsets/a"),
        json!({"spec": {"serviceName": "other"}}),
        message,
    )
    .await;
});

check!(the_address_of_a_service_stays, async |t| {
    t.create(&t.core("services"), service("a")).await;
    let body = json!({"spec": {"clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}});
    let message = r#"Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.77"]: may not change once set"#;
    refused(t, &t.core("services/a"), body, message).await;
});

check!(a_put_without_the_address_keeps_it, async |t| {
    let made = t.create(&t.core("services"), service("a")).await;
    let put = t.put(&t.core("services/a"), service("a")).await.code(200);
    assert_eq!(put["spec"]["clusterIP"], made["spec"]["clusterIP"]);
});

check!(an_immutable_config_map_stays, async |t| {
    t.create(
        &t.core("configmaps"),
        json!({"metadata": {"name": "a"}, "immutable": true, "data": {"k": "1"}}),
    )
    .await;
    let path = t.core("configmaps/a");
    let message = "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set";
    refused(t, &path, json!({"data": {"k": "2"}}), message).await;
    let message =
        "ConfigMap \"a\" is invalid: immutable: Forbidden: field is immutable when `immutable` is set";
    refused(t, &path, json!({"immutable": false}), message).await;
    t.patch(&path, Patch::Merge, json!({"metadata": {"labels": {"l": "1"}}}))
        .await
        .code(200);
});

check!(an_immutable_secret_stays, async |t| {
    t.create(
        &t.core("secrets"),
        json!({"metadata": {"name": "a"}, "immutable": true, "data": {"k": "MQ=="}}),
    )
    .await;
    let message = "Secret \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set";
    refused(
        t,
        &t.core("secrets/a"),
        json!({"stringData": {"k": "2"}}),
        message,
    )
    .await;
});

check!(the_type_of_a_secret_stays, async |t| {
    t.create(&t.core("secrets"), json!({"metadata": {"name": "a"}}))
        .await;
    let message = r#"Secret "a" is invalid: type: Invalid value: "other": field is immutable"#;
    refused(t, &t.core("secrets/a"), json!({"type": "other"}), message).await;
});

check!(the_template_of_a_job_stays, async |t| {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}});
    let path = t.group("batch/v1", "jobs");
    t.create(
        &path,
        json!({"metadata": {"name": "a"}, "spec": {"suspend": true, "template": template}}),
    )
    .await;
    let path = format!("{path}/a");
    let message = r#"Job.batch "a" is invalid: spec.completions: Invalid value: 5: field is immutable"#;
    refused(t, &path, json!({"spec": {"completions": 5}}), message).await;
    let body = json!({"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}});
    let reply = t.patch(&path, Patch::Merge, body).await;
    // The message carries the whole template in its internal form.
    let text = reply.body["message"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with(r#"Job.batch "a" is invalid: spec.template: Invalid value: "#),
        "{text}"
    );
    assert!(text.ends_with(": field is immutable"), "{text}");
    reply.fails(422, "Invalid", text);
});

check!(the_role_of_a_binding_stays, async |t| {
    let path = t.group("rbac.authorization.k8s.io/v1", "rolebindings");
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
    t.create(&path, json!({"metadata": {"name": "a"}, "roleRef": role}))
        .await;
    let message = "RoleBinding.rbac.authorization.k8s.io \"a\" is invalid: roleRef: Invalid value: \
        {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"edit\"}: cannot change roleRef";
    refused(
        t,
        &format!("{path}/a"),
        json!({"roleRef": {"name": "edit"}}),
        message,
    )
    .await;
});

check!(most_of_a_claim_stays, async |t| {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    t.create(
        &t.core("persistentvolumeclaims"),
        json!({"metadata": {"name": "a"}, "spec": spec}),
    )
    .await;
    let body = json!({"spec": {"accessModes": ["ReadOnlyMany"]}});
    let reply = t
        .patch(&t.core("persistentvolumeclaims/a"), Patch::Merge, body)
        .await;
    // A textual diff of the internal form follows.
    let text = reply.body["message"].as_str().unwrap().to_owned();
    let begin = "PersistentVolumeClaim \"a\" is invalid: spec: Forbidden: spec is immutable after creation except \
        resources.requests and volumeAttributesClassName for bound claims\n";
    assert!(text.starts_with(begin), "{text}");
    reply.fails(422, "Invalid", text);
});

check!(most_of_a_pod_stays, async |t| {
    t.until(&t.core("serviceaccounts/default"), |reply| reply.code == 200)
        .await;
    let mut object = conformance::objects::pod("a");
    object["spec"]["schedulerName"] = json!("nobody");
    t.create(&t.core("pods"), object).await;
    let reply = t
        .patch(
            &t.core("pods/a"),
            Patch::Merge,
            json!({"spec": {"restartPolicy": "Never"}}),
        )
        .await;
    let text = reply.body["message"].as_str().unwrap().to_owned();
    let begin = "Pod \"a\" is invalid: spec: Forbidden: pod updates may not change fields other than \
        `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
        additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously \
        negative)\n";
    assert!(text.starts_with(begin), "{text}");
    reply.fails(422, "Invalid", text);
    let body = json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "app:2"}]);
    t.patch(&t.core("pods/a"), Patch::Json, body).await.code(200);
});

check!(an_object_does_not_change_namespace_or_uid, async |t| {
    t.create(&t.core("configmaps"), json!({"metadata": {"name": "a"}}))
        .await;
    let path = t.core("configmaps/a");
    let message = r#"ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable"#;
    refused(t, &path, json!({"metadata": {"uid": "x"}}), message).await;
    let reply = t
        .patch(&path, Patch::Merge, json!({"metadata": {"namespace": "other"}}))
        .await;
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    reply.fails(400, "BadRequest", message);
});
