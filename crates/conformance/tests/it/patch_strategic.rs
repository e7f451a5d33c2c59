//! Strategic merge patches.

use conformance::objects::{config_map, definition, deployment, widget};
use conformance::{Patch, Reply, Test, check};
use serde_json::{Value, json};

/// A Deployment with two containers, patched in its pod template's spec.
async fn patch(t: &Test, spec: Value) -> Reply {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"] = json!([
        {"name": "c", "image": "app:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], "args": ["x"]},
        {"name": "d", "image": "side:1", "ports": [{"containerPort": 80, "name": "http"}]},
    ]);
    object["spec"]["template"]["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    object["spec"]["template"]["spec"]["tolerations"] = json!([{"key": "k", "operator": "Exists"}]);
    t.create(&t.group("apps/v1", "deployments"), object).await;
    let body = json!({"spec": {"template": {"spec": spec}}});
    t.patch(&t.group("apps/v1", "deployments/a"), Patch::Strategic, body)
        .await
}

fn template(object: &Value) -> &Value {
    &object["spec"]["template"]["spec"]
}

check!(list_elements_are_merged_by_their_key, async |t| {
    let made = patch(t, json!({"containers": [{"name": "d", "image": "side:2"}]}))
        .await
        .code(200);
    let containers = &template(&made)["containers"];
    assert_eq!(containers.as_array().unwrap().len(), 2);
    assert_eq!(
        (&containers[0]["name"], &containers[0]["image"]),
        (&json!("c"), &json!("app:1"))
    );
    assert_eq!(
        (&containers[1]["name"], &containers[1]["image"]),
        (&json!("d"), &json!("side:2"))
    );
    assert_eq!(containers[1]["ports"][0]["name"], "http");
});

check!(a_new_element_comes_first, async |t| {
    let made = patch(t, json!({"containers": [{"name": "new", "image": "n:1"}]}))
        .await
        .code(200);
    let names: Vec<_> = template(&made)["containers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(names, ["new", "c", "d"]);
});

check!(an_element_is_deleted_by_a_directive, async |t| {
    let made = patch(t, json!({"containers": [{"name": "d", "$patch": "delete"}]}))
        .await
        .code(200);
    let containers = template(&made)["containers"].as_array().unwrap();
    assert_eq!((containers.len(), &containers[0]["name"]), (1, &json!("c")));
});

check!(a_list_is_replaced_by_a_directive, async |t| {
    let body = json!({"containers": [{"name": "only", "image": "o:1"}, {"$patch": "replace"}]});
    let made = patch(t, body).await.code(200);
    let containers = template(&made)["containers"].as_array().unwrap();
    assert_eq!((containers.len(), &containers[0]["name"]), (1, &json!("only")));
});

check!(a_map_is_replaced_by_a_directive, async |t| {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["nodeSelector"] = json!({"a": "1", "b": "2"});
    t.create(&t.group("apps/v1", "deployments"), object).await;
    let body = json!({"spec": {"template": {"spec": {"nodeSelector": {"$patch": "replace", "c": "3"}}}}});
    let made = t
        .patch(&t.group("apps/v1", "deployments/a"), Patch::Strategic, body)
        .await
        .code(200);
    assert_eq!(template(&made)["nodeSelector"], json!({"c": "3"}));
});

check!(lists_without_a_key_are_replaced, async |t| {
    let made = patch(
        t,
        json!({"containers": [{"name": "c", "args": ["y", "z"]}], "tolerations": [{"key": "l", "operator": "Exists"}]}),
    );
    let made = made.await.code(200);
    assert_eq!(template(&made)["containers"][0]["args"], json!(["y", "z"]));
    assert_eq!(
        template(&made)["tolerations"],
        json!([{"key": "l", "operator": "Exists"}])
    );
});

check!(nested_lists_are_merged_too, async |t| {
    let env =
        json!([{"name": "B", "value": "3"}, {"name": "A", "$patch": "delete"}, {"name": "C", "value": "4"}]);
    let made = patch(t, json!({"containers": [{"name": "c", "env": env}]}))
        .await
        .code(200);
    let expected = json!([{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]);
    assert_eq!(template(&made)["containers"][0]["env"], expected);
});

check!(null_removes_a_field, async |t| {
    let made = patch(
        t,
        json!({"tolerations": null, "containers": [{"name": "c", "env": null}]}),
    )
    .await
    .code(200);
    assert_eq!(template(&made)["tolerations"], json!(null));
    assert_eq!(template(&made)["containers"][0]["env"], json!(null));
});

check!(the_order_of_elements_can_be_given, async |t| {
    let body = json!({
        "$setElementOrder/containers": [{"name": "d"}, {"name": "new"}, {"name": "c"}],
        "containers": [{"name": "new", "image": "n:1"}],
    });
    let made = patch(t, body).await.code(200);
    let names: Vec<_> = template(&made)["containers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(names, ["d", "new", "c"]);
});

check!(keys_to_retain_drop_the_others, async |t| {
    let body = json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"}});
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let made = t
        .patch(
            &t.group("apps/v1", "deployments/a"),
            Patch::Strategic,
            json!({"spec": body}),
        )
        .await
        .code(200);
    assert_eq!(made["spec"]["strategy"], json!({"type": "Recreate"}));
});

check!(a_primitive_list_is_deleted_from_by_a_directive, async |t| {
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    t.create(&t.core("configmaps"), object).await;
    let body = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}});
    let made = t
        .patch(&t.core("configmaps/a"), Patch::Strategic, body)
        .await
        .code(200);
    assert_eq!(made["metadata"]["finalizers"], json!(["example.com/b"]));
    t.patch(
        &t.core("configmaps/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200);
});

check!(an_element_without_its_key_is_a_failure, async |t| {
    patch(t, json!({"containers": [{"image": "app:2"}]})).await.fails(
        500,
        "",
        "map: map[image:app:2] does not contain declared merge key: name",
    );
});

check!(an_unknown_directive_is_a_failure, async |t| {
    patch(t, json!({"$patch": "turn"})).await.fails(
        500,
        "",
        "unknown patch type: turn in map: map[$patch:turn]",
    );
});

check!(a_custom_resource_takes_no_strategic_merge, async |t| {
    let group = t.cluster.name("strategic.example.com");
    t.cluster.establish(&definition(&group)).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    t.create(&path, widget(&group, "a", json!({}))).await;
    let reply = t
        .patch(&format!("{path}/a"), Patch::Strategic, json!({"spec": {"x": 1}}))
        .await;
    reply.fails(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: \
        application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
});

check!(service_ports_are_merged_by_port, async |t| {
    let mut object = conformance::objects::service("a");
    object["spec"]["ports"] = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    t.create(&t.core("services"), object).await;
    let body = json!({"spec": {"ports": [{"port": 81, "targetPort": 8081}]}});
    let made = t
        .patch(&t.core("services/a"), Patch::Strategic, body)
        .await
        .code(200);
    assert_eq!(made["spec"]["ports"].as_array().unwrap().len(), 2);
    assert_eq!(made["spec"]["ports"][1]["targetPort"], 8081);
});
