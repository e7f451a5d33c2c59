//! Server-side apply: who owns a field, and what is said to who wants it too.

use conformance::objects::{deployment, service};
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

fn data(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

async fn owned(t: &Test) -> String {
    let path = t.core("configmaps/a");
    t.apply(&path, "one", data(json!({"x": "1", "y": "1"})))
        .await
        .code(201);
    path
}

check!(another_value_for_an_owned_field_conflicts, async |t| {
    let path = owned(t).await;
    let status = t.apply(&path, "two", data(json!({"x": "2"}))).await;
    let status = status.fails(
        409,
        "Conflict",
        r#"Apply failed with 1 conflict: conflict with "one": .data.x"#,
    );
    let cause =
        json!({"reason": "FieldManagerConflict", "message": r#"conflict with "one""#, "field": ".data.x"});
    assert_eq!(status["details"], json!({"causes": [cause]}));
    assert_eq!(t.get(&path).await.code(200)["data"]["x"], "1");
});

check!(several_conflicts_are_all_told, async |t| {
    let path = owned(t).await;
    t.apply(&path, "three", data(json!({"x": "1"}))).await.code(200);
    let message = concat!(
        "Apply failed with 3 conflicts: conflicts with \"one\":\n- .data.x\n- .data.y\n",
        "conflicts with \"three\":\n- .data.x"
    );
    let status = t
        .apply(&path, "two", data(json!({"x": "2", "y": "3"})))
        .await
        .fails(409, "Conflict", message);
    assert_eq!(status["details"]["causes"].as_array().unwrap().len(), 3);
});

check!(the_same_value_is_owned_together, async |t| {
    let path = owned(t).await;
    let made = t.apply(&path, "two", data(json!({"x": "1"}))).await.code(200);
    assert_eq!(owners(&made, "f:x"), ["one", "two"]);
    assert_eq!(owners(&made, "f:y"), ["one"]);
});

check!(force_takes_the_field_from_the_others, async |t| {
    let path = owned(t).await;
    let made = t
        .apply(&format!("{path}?force=true"), "two", data(json!({"x": "2"})))
        .await
        .code(200);
    assert_eq!(made["data"], json!({"x": "2", "y": "1"}));
    assert_eq!(owners(&made, "f:x"), ["two"]);
    assert_eq!(owners(&made, "f:y"), ["one"]);
});

check!(an_update_takes_the_field_without_asking, async |t| {
    let path = owned(t).await;
    let body = json!({"data": {"x": "2"}});
    let made = t
        .patch(&format!("{path}?fieldManager=edit"), Patch::Merge, body)
        .await
        .code(200);
    assert_eq!(owners(&made, "f:x"), ["edit"]);
    let message = r#"Apply failed with 1 conflict: conflict with "edit" using v1: .data.x"#;
    t.apply(&path, "one", data(json!({"x": "1", "y": "1"})))
        .await
        .fails(409, "Conflict", message);
});

check!(conflicts_in_a_list_name_the_element, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    t.apply(&path, "one", deployment("a")).await.code(201);
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.template.spec.containers[name=\"c\"].image";
    t.apply(&path, "two", object)
        .await
        .fails(409, "Conflict", message);
});

check!(conflicts_in_a_list_of_two_keys_name_both, async |t| {
    let path = t.core("services/a");
    let mut object = service("a");
    object["spec"] = json!({"ports": [{"port": 80, "name": "a"}]});
    t.apply(&path, "one", object.clone()).await.code(201);
    object["spec"]["ports"][0]["name"] = json!("b");
    let message =
        r#"Apply failed with 1 conflict: conflict with "one": .spec.ports[port=80,protocol="TCP"].name"#;
    t.apply(&path, "two", object)
        .await
        .fails(409, "Conflict", message);
});

check!(an_atomic_list_conflicts_as_a_whole, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["a"]);
    t.apply(&path, "one", object.clone()).await.code(201);
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["a", "b"]);
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.template.spec.containers[name=\"c\"].args";
    t.apply(&path, "two", object)
        .await
        .fails(409, "Conflict", message);
});

check!(a_scaled_deployment_conflicts_in_its_replicas, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    t.apply(&path, "one", deployment("a")).await.code(201);
    let body = json!({"spec": {"replicas": 1}});
    t.patch(&format!("{path}/scale?fieldManager=scaler"), Patch::Merge, body)
        .await
        .code(200);
    let message = "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" using apps/v1: .spec.replicas";
    t.apply(&path, "one", deployment("a"))
        .await
        .fails(409, "Conflict", message);
    let mut object = deployment("a");
    object["spec"].as_object_mut().unwrap().remove("replicas");
    let made = t.apply(&path, "one", object).await.code(200);
    assert_eq!(
        made["spec"]["replicas"], 1,
        "who does not apply the field leaves it to the scaler"
    );
});

check!(what_was_there_before_belongs_to_before_first_apply, async |t| {
    let path = t.core("configmaps/a");
    t.create(&t.core("configmaps"), data(json!({"x": "1"}))).await;
    t.patch(&path, Patch::Merge, json!({"metadata": {"managedFields": [{}]}}))
        .await
        .code(200);
    let message = r#"Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x"#;
    t.apply(&path, "one", data(json!({"x": "2"})))
        .await
        .fails(409, "Conflict", message);
    let made = t.apply(&path, "one", data(json!({"y": "2"}))).await.code(200);
    assert_eq!(owners(&made, "f:x"), ["before-first-apply"]);
});

check!(kubectl_takes_over_from_its_client_side_apply, async |t| {
    let path = t.core("configmaps/a");
    let key = "kubectl.kubernetes.io/last-applied-configuration";
    let mut object = data(json!({"x": "1"}));
    object["metadata"]["annotations"] = json!({key: format!("{}\n", data(json!({"x": "1"})))});
    t.create(
        &format!("{}?fieldManager=kubectl-client-side-apply", t.core("configmaps")),
        object,
    )
    .await;
    let made = t.apply(&path, "kubectl", data(json!({"x": "2"}))).await.code(200);
    let applied = "{\"apiVersion\":\"v1\",\"data\":{\"x\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n";
    assert_eq!(
        made["metadata"]["annotations"][key], applied,
        "an older kubectl still finds what was applied"
    );
    assert_eq!(owners(&made, "f:x"), ["kubectl"]);
});

/// The managers of one key of `data`, by name.
fn owners(object: &Value, key: &str) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
    let entries = entries.filter(|entry| entry["fieldsV1"]["f:data"].get(key).is_some());
    let mut names: Vec<String> = entries
        .map(|entry| entry["manager"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}
