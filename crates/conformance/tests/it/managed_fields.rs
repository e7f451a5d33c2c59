//! `metadata.managedFields`.

use conformance::objects::{config_map, deployment, service};
use conformance::{Patch, check};
use http::Method;
use serde_json::{Value, json};

/// Returns `manager operation subresource` and the fields of each entry, by operation and manager. The server orders entries of one
/// operation by their second first, and a second may begin between two requests.
fn entries(object: &Value) -> Vec<(String, Value)> {
    let mut list = object["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    list.sort_by_key(|entry| (entry["operation"].to_string(), entry["manager"].to_string()));
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let title = |entry: &Value| {
        format!(
            "{} {} {}",
            text(&entry["manager"]),
            text(&entry["operation"]),
            text(&entry["subresource"])
        )
    };
    list.iter()
        .map(|entry| (title(entry), entry["fieldsV1"].clone()))
        .collect()
}

fn entry(title: &str, fields: Value) -> (String, Value) {
    (title.to_owned(), fields)
}

check!(a_create_owns_all_it_sets, async |t| {
    let mut object = config_map("a");
    object["metadata"]["labels"] = json!({"l": "1"});
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    let made = t
        .create(&format!("{}?fieldManager=maker", t.core("configmaps")), object)
        .await;
    let fields = json!({
        "f:data": {".": {}, "f:key": {}},
        "f:metadata": {
            "f:finalizers": {".": {}, "v:\"example.com/f\"": {}},
            "f:labels": {".": {}, "f:l": {}},
        },
    });
    assert_eq!(entries(&made), [entry("maker Update -", fields)]);
    let first = &made["metadata"]["managedFields"][0];
    assert_eq!(
        (&first["apiVersion"], &first["fieldsType"]),
        (&json!("v1"), &json!("FieldsV1"))
    );
    assert_eq!(first["time"], made["metadata"]["creationTimestamp"]);
    t.patch(
        &t.core("configmaps/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200);
});

check!(the_manager_is_the_user_agent_up_to_its_slash, async |t| {
    let headers = [
        ("content-type", "application/json"),
        ("user-agent", "tool/1.2 (linux)"),
    ];
    let body = config_map("a").to_string().into_bytes();
    let made = t
        .send(Method::POST, &t.core("configmaps"), &headers, body)
        .await
        .code(201);
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "tool");
});

check!(elements_of_keyed_lists_are_named_by_their_keys, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    let made = t.apply(&path, "one", deployment("a")).await.code(201);
    let container = json!({".": {}, "f:image": {}, "f:name": {}});
    let fields = json!({"f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": container}},
        },
    }});
    assert_eq!(entries(&made), [entry("one Apply -", fields)]);
});

check!(keys_that_are_defaulted_are_part_of_the_name, async |t| {
    let mut object = service("a");
    object["spec"] = json!({"ports": [{"port": 80}]});
    let made = t.apply(&t.core("services/a"), "one", object).await.code(201);
    let fields =
        json!({"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}});
    assert_eq!(entries(&made), [entry("one Apply -", fields)]);
});

check!(an_update_owns_what_it_changes, async |t| {
    t.create(
        &format!("{}?fieldManager=maker", t.core("configmaps")),
        config_map("a"),
    )
    .await;
    let path = format!("{}?fieldManager=editor", t.core("configmaps/a"));
    let made = t
        .patch(&path, Patch::Merge, json!({"data": {"key": "2", "new": "3"}}))
        .await
        .code(200);
    let expected = [
        entry("editor Update -", json!({"f:data": {"f:key": {}, "f:new": {}}})),
        entry("maker Update -", json!({"f:data": {}})),
    ];
    assert_eq!(entries(&made), expected);
});

check!(a_removed_field_belongs_to_nobody, async |t| {
    t.create(
        &format!("{}?fieldManager=maker", t.core("configmaps")),
        config_map("a"),
    )
    .await;
    let path = format!("{}?fieldManager=editor", t.core("configmaps/a"));
    let made = t
        .patch(&path, Patch::Merge, json!({"data": null}))
        .await
        .code(200);
    assert_eq!(entries(&made), []);
});

check!(an_update_that_leaves_them_out_keeps_them, async |t| {
    t.create(
        &format!("{}?fieldManager=maker", t.core("configmaps")),
        config_map("a"),
    )
    .await;
    let mut object = config_map("a");
    object["data"]["new"] = json!("1");
    let made = t
        .put(&format!("{}?fieldManager=putter", t.core("configmaps/a")), object)
        .await
        .code(200);
    let expected = [
        entry("maker Update -", json!({"f:data": {".": {}, "f:key": {}}})),
        entry("putter Update -", json!({"f:data": {"f:new": {}}})),
    ];
    assert_eq!(entries(&made), expected);
});

check!(a_list_of_one_empty_entry_clears_them, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let body = json!({"metadata": {"managedFields": [{}]}});
    let made = t
        .patch(&t.core("configmaps/a"), Patch::Merge, body)
        .await
        .code(200);
    assert_eq!(entries(&made), []);
    let made = t
        .patch(&t.core("configmaps/a"), Patch::Merge, json!({"data": {"x": "1"}}))
        .await
        .code(200);
    assert_eq!(
        entries(&made),
        [],
        "they are not tracked again until something is applied"
    );
});

check!(they_can_be_handed_to_another_manager, async |t| {
    t.create(
        &format!("{}?fieldManager=maker", t.core("configmaps")),
        config_map("a"),
    )
    .await;
    let body = json!([{"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "heir"}]);
    let made = t
        .patch(&t.core("configmaps/a"), Patch::Json, body)
        .await
        .code(200);
    assert_eq!(
        entries(&made),
        [entry("heir Update -", json!({"f:data": {".": {}, "f:key": {}}}))]
    );
});

check!(a_malformed_entry_leaves_them_as_they_were, async |t| {
    let mut made = t.create(&t.core("configmaps"), config_map("a")).await;
    let before = entries(&made);
    made["metadata"]["managedFields"][0]["operation"] = json!("Guess");
    let put = t.put(&t.core("configmaps/a"), made).await.code(200);
    assert_eq!(entries(&put), before);
});

check!(a_subresource_has_an_entry_of_its_own, async |t| {
    let mut object = service("a");
    object["spec"]["type"] = json!("LoadBalancer");
    t.create(&format!("{}?fieldManager=same", t.core("services")), object)
        .await;
    let body = json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}});
    let made = t
        .patch(
            &format!("{}?fieldManager=same", t.core("services/a/status")),
            Patch::Merge,
            body,
        )
        .await
        .code(200);
    let titles: Vec<String> = entries(&made).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["same Update -", "same Update status"]);
    assert_eq!(
        entries(&made)[1].1,
        json!({"f:status": {"f:loadBalancer": {"f:ingress": {}}}})
    );
});

check!(an_object_without_fields_has_none, async |t| {
    let made = t
        .create(&t.core("configmaps"), json!({"metadata": {"name": "a"}}))
        .await;
    assert_eq!(made["metadata"]["managedFields"], json!(null));
});
