//! Custom resources: versions, columns, scale, selectable fields.

use conformance::objects::{definition, widget};
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

/// A definition that was changed so, and the path of its objects in `v1`.
async fn defined(t: &Test, change: impl FnOnce(&mut Value)) -> (String, String) {
    let group = t.cluster.name("example.com");
    let mut object = definition(&group);
    change(&mut object["spec"]);
    t.cluster.establish(&object).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    (group, path)
}

/// Adds a version beside the one that is there.
fn add_version(spec: &mut Value, name: &str, fields: Value) {
    let mut version = spec["versions"][0].clone();
    version["name"] = json!(name);
    version["storage"] = json!(false);
    version
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    spec["versions"].as_array_mut().unwrap().push(version);
}

check!(an_object_is_shown_in_every_served_version, async |t| {
    let (group, path) = defined(t, |spec| add_version(spec, "v1beta1", json!({}))).await;
    let made = t.create(&path, widget(&group, "a", json!({"n": 1}))).await;
    let other = t
        .get(&t.group(&format!("{group}/v1beta1"), "widgets/a"))
        .await
        .code(200);
    assert_eq!(other["apiVersion"], format!("{group}/v1beta1"));
    assert_eq!(
        (&other["spec"], &other["metadata"]["uid"]),
        (&made["spec"], &made["metadata"]["uid"])
    );
    let list = t
        .get(&t.group(&format!("{group}/v1beta1"), "widgets"))
        .await
        .code(200);
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("WidgetList"), &json!(format!("{group}/v1beta1")))
    );
    assert_eq!(
        list["items"][0]["kind"], "Widget",
        "items of a custom resource carry their kind"
    );
    let discovered = t.get(&format!("/apis/{group}")).await.code(200);
    let versions: Vec<_> = discovered["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["version"])
        .collect();
    assert_eq!(versions, ["v1", "v1beta1"]);
});

check!(a_version_that_is_not_served_is_not_there, async |t| {
    let (group, _) = defined(t, |spec| add_version(spec, "v1alpha1", json!({"served": false}))).await;
    let reply = t.get(&t.group(&format!("{group}/v1alpha1"), "widgets")).await;
    assert_eq!((reply.code, reply.text.as_str()), (404, "404 page not found\n"));
});

check!(a_deprecated_version_is_warned_of, async |t| {
    let (group, _) = defined(t, |spec| {
        add_version(spec, "v1beta1", json!({"deprecated": true}));
        add_version(
            spec,
            "v1alpha1",
            json!({"deprecated": true, "deprecationWarning": "use something else"}),
        );
    })
    .await;
    let reply = t.get(&t.group(&format!("{group}/v1beta1"), "widgets")).await;
    let expected = format!("{group}/v1beta1 Widget is deprecated; use {group}/v1 Widget");
    assert_eq!(reply.warnings(), [expected]);
    let reply = t.get(&t.group(&format!("{group}/v1alpha1"), "widgets")).await;
    assert_eq!(reply.warnings(), ["use something else"]);
});

check!(an_apply_through_another_version_is_one_manager_more, async |t| {
    let (group, path) = defined(t, |spec| add_version(spec, "v1beta1", json!({}))).await;
    t.apply(&format!("{path}/a"), "one", widget(&group, "a", json!({"n": 1})))
        .await
        .code(201);
    let mut object = widget(&group, "a", json!({"n": 2}));
    object["apiVersion"] = json!(format!("{group}/v1beta1"));
    let path = t.group(&format!("{group}/v1beta1"), "widgets/a");
    let made = t.apply(&path, "one", object.clone()).await.code(200);
    assert_eq!(made["spec"]["n"], 2);
    object["spec"]["n"] = json!(3);
    let message = r#"Apply failed with 1 conflict: conflict with "one": .spec.n"#;
    let reply = t.apply(&path, "two", object).await;
    reply.fails(409, "Conflict", message);
});

check!(a_custom_resource_has_name_and_age_as_columns, async |t| {
    let (group, path) = defined(t, |_| {}).await;
    t.create(&path, widget(&group, "a", json!({}))).await;
    let table = t
        .get_as(&path, "application/json;as=Table;g=meta.k8s.io;v=v1")
        .await
        .code(200);
    let names: Vec<_> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["Name", "Age"]);
    assert_eq!(table["rows"][0]["cells"][0], "a");
});

check!(printer_columns_are_shown, async |t| {
    let columns = json!([
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Mode", "type": "string", "jsonPath": ".spec.mode", "priority": 1, "description": "how"},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Made", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    let (group, path) = defined(t, |spec| {
        spec["versions"][0]["additionalPrinterColumns"] = columns
    })
    .await;
    t.create(&path, widget(&group, "a", json!({"size": 3, "mode": "m"})))
        .await;
    let ready = json!({"status": {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]}});
    t.patch(&format!("{path}/a/status"), Patch::Merge, ready)
        .await
        .code(200);
    t.create(&path, widget(&group, "b", json!({}))).await;
    let table = t
        .get_as(&path, "application/json;as=Table;g=meta.k8s.io;v=v1")
        .await
        .code(200);
    let column = |n: usize| {
        let one = &table["columnDefinitions"][n];
        json!([one["name"], one["type"], one["priority"], one["description"]])
    };
    let path_of = "Custom resource definition column (in JSONPath format): ";
    assert_eq!(
        column(1),
        json!(["Size", "integer", 0, format!("{path_of}.spec.size")])
    );
    assert_eq!(column(2), json!(["Mode", "string", 1, "how"]));
    let cells = |n: usize| table["rows"][n]["cells"].as_array().unwrap()[..4].to_vec();
    assert_eq!(cells(0), [json!("a"), json!(3), json!("m"), json!("True")]);
    assert_eq!(cells(1), [json!("b"), json!(null), json!(null), json!(null)]);
    assert!(
        table["rows"][0]["cells"][4].as_str().unwrap().ends_with('s'),
        "a date is shown as an age"
    );
});

check!(a_custom_resource_is_scaled, async |t| {
    let scale = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector",
    });
    let (group, path) = defined(t, |spec| spec["versions"][0]["subresources"]["scale"] = scale).await;
    t.create(&path, widget(&group, "a", json!({"replicas": 2}))).await;
    let path = format!("{path}/a");
    let status = json!({"status": {"replicas": 1, "selector": "a=b"}});
    t.patch(&format!("{path}/status"), Patch::Merge, status)
        .await
        .code(200);
    let shown = t.get(&format!("{path}/scale")).await.code(200);
    assert_eq!(
        (&shown["kind"], &shown["apiVersion"]),
        (&json!("Scale"), &json!("autoscaling/v1"))
    );
    assert_eq!(shown["spec"], json!({"replicas": 2}));
    assert_eq!(shown["status"], json!({"replicas": 1, "selector": "a=b"}));
    t.patch(
        &format!("{path}/scale"),
        Patch::Merge,
        json!({"spec": {"replicas": 5}}),
    )
    .await
    .code(200);
    let object = t.get(&path).await.code(200);
    assert_eq!(
        (&object["spec"]["replicas"], &object["metadata"]["generation"]),
        (&json!(5), &json!(2))
    );
    let message = format!(
        "Widget.{group} \"a\" is invalid: .spec.replicas: Invalid value: -5: should be a non-negative integer"
    );
    let body = json!({"spec": {"replicas": -5}});
    t.patch(&format!("{path}/scale"), Patch::Merge, body)
        .await
        .fails(422, "Invalid", message);
    let body = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 7}});
    let scaled = t.put(&format!("{path}/scale"), body).await.code(200);
    assert_eq!(scaled["spec"]["replicas"], 7, "a scale needs no version");
});

check!(a_version_that_only_a_webhook_can_make_is_an_error, async |t| {
    let (group, path) = defined(t, |spec| {
        add_version(spec, "v1beta1", json!({}));
        spec["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:9/convert"},
        }});
    })
    .await;
    let other = t.group(&format!("{group}/v1beta1"), "widgets");
    t.get(&other).await.code(200);
    t.create(&path, widget(&group, "a", json!({"n": 1}))).await;
    t.get(&format!("{path}/a")).await.code(200);
    for path in [format!("{other}/a"), other] {
        let reply = t.get(&path).await;
        let expected = format!("conversion webhook for {group}/v1, Kind=Widget failed: ");
        let message = reply.body["message"].as_str().unwrap_or_default().to_owned();
        assert!(reply.code == 500 && message.starts_with(&expected), "{reply}");
    }
});

check!(selectable_fields_select, async |t| {
    let (group, path) = defined(t, |spec| {
        let version = &mut spec["versions"][0];
        let schema = json!({"type": "object", "properties": {"color": {"type": "string"}}});
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = schema;
        version["selectableFields"] = json!([{"jsonPath": ".spec.color"}]);
    })
    .await;
    t.create(&path, widget(&group, "a", json!({"color": "red"})))
        .await;
    t.create(&path, widget(&group, "b", json!({"color": "blue"})))
        .await;
    let list = t
        .get(&format!("{path}?fieldSelector=spec.color%3Dblue"))
        .await
        .code(200);
    assert_eq!(
        (
            list["items"].as_array().unwrap().len(),
            &list["items"][0]["metadata"]["name"]
        ),
        (1, &json!("b"))
    );
    let reply = t.get(&format!("{path}?fieldSelector=spec.size%3D1")).await;
    reply.fails(400, "BadRequest", "field label not supported: spec.size");
});

check!(a_cluster_scoped_custom_resource_has_no_namespace, async |t| {
    let (group, _) = defined(t, |spec| spec["scope"] = json!("Cluster")).await;
    let path = format!("/apis/{group}/v1/widgets");
    let made = t.create(&path, widget(&group, "a", json!({}))).await;
    assert_eq!(made["metadata"]["namespace"], json!(null));
    let reply = t.get(&t.group(&format!("{group}/v1"), "widgets")).await;
    assert_eq!(reply.code, 404, "{reply}");
});

check!(a_custom_resource_is_watched, async |t| {
    let (group, path) = defined(t, |_| {}).await;
    let mut watch = t.watch(&path).await;
    t.create(&path, widget(&group, "a", json!({"n": 1}))).await;
    assert_eq!(watch.expect("ADDED").await["kind"], "Widget");
    t.patch(&format!("{path}/a"), Patch::Merge, json!({"spec": {"n": 2}}))
        .await
        .code(200);
    assert_eq!(watch.expect("MODIFIED").await["spec"]["n"], 2);
    t.delete(&format!("{path}/a")).await.code(200);
    assert_eq!(watch.short().await, "DELETED a");
});
