//! Server-side apply: what becomes of the object.

use conformance::objects::{config_map, deployment, service};
use conformance::{Patch, check};
use http::Method;
use serde_json::{Value, json};

fn data(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// A patch of the containers of the Deployment `a`.
fn containers(containers: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"template": {"spec": {"containers": containers}}},
    })
}

check!(apply_creates_what_does_not_exist, async |t| {
    let made = t
        .apply(&t.core("configmaps/a"), "one", data("a", json!({"x": "1"})))
        .await
        .code(201);
    assert_eq!(made["data"], json!({"x": "1"}));
    let again = t
        .apply(&t.core("configmaps/a"), "one", data("a", json!({"x": "2"})))
        .await
        .code(200);
    assert_eq!(again["data"], json!({"x": "2"}));
});

check!(apply_takes_yaml, async |t| {
    let yaml = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"1\"\n".to_vec();
    let headers = [("content-type", Patch::Apply.media_type())];
    let path = format!("{}?fieldManager=one", t.core("configmaps/a"));
    assert_eq!(
        t.send(Method::PATCH, &path, &headers, yaml).await.code(201)["data"],
        json!({"x": "1"})
    );
});

check!(apply_removes_fields_that_are_no_longer_applied, async |t| {
    let path = t.core("configmaps/a");
    t.apply(&path, "one", data("a", json!({"x": "1", "y": "2"})))
        .await
        .code(201);
    t.patch(
        &format!("{path}?fieldManager=other"),
        Patch::Merge,
        json!({"data": {"z": "3"}}),
    )
    .await
    .code(200);
    let made = t
        .apply(&path, "one", data("a", json!({"x": "1"})))
        .await
        .code(200);
    assert_eq!(
        made["data"],
        json!({"x": "1", "z": "3"}),
        "what another manager has set stays"
    );
});

check!(a_field_of_two_managers_stays_until_both_drop_it, async |t| {
    let path = t.core("configmaps/a");
    t.apply(&path, "one", data("a", json!({"x": "1", "y": "2"})))
        .await
        .code(201);
    t.apply(&path, "two", data("a", json!({"x": "1"})))
        .await
        .code(200);
    let made = t
        .apply(&path, "one", data("a", json!({"y": "2"})))
        .await
        .code(200);
    assert_eq!(made["data"], json!({"x": "1", "y": "2"}));
    let mut none = config_map("a");
    none.as_object_mut().unwrap().remove("data");
    let made = t.apply(&path, "two", none).await.code(200);
    assert_eq!(made["data"], json!({"y": "2"}));
});

check!(an_apply_that_changes_nothing_changes_nothing, async |t| {
    let path = t.core("configmaps/a");
    let made = t
        .apply(&path, "one", data("a", json!({"x": "1"})))
        .await
        .code(201);
    // The time in the managed fields counts seconds.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(
        t.apply(&path, "one", data("a", json!({"x": "1"})))
            .await
            .code(200),
        made
    );
});

check!(a_dry_run_apply_shows_and_stores_nothing, async |t| {
    let path = t.core("configmaps/a");
    let shown = t
        .apply(&format!("{path}?dryRun=All"), "one", data("a", json!({"x": "1"})))
        .await
        .code(201);
    assert_eq!(shown["metadata"]["managedFields"][0]["manager"], "one");
    t.get(&path).await.code(404);
    let made = t
        .apply(&path, "one", data("a", json!({"x": "1"})))
        .await
        .code(201);
    let shown = t
        .apply(&format!("{path}?dryRun=All"), "one", data("a", json!({"x": "2"})))
        .await
        .code(200);
    assert_eq!(shown["data"]["x"], "2");
    assert_eq!(t.get(&path).await.code(200), made);
});

check!(elements_of_a_keyed_list_are_merged, async |t| {
    t.apply(&t.group("apps/v1", "deployments/a"), "one", deployment("a"))
        .await
        .code(201);
    let sidecar = containers(json!([{"name": "side", "image": "side:1"}]));
    let path = t.group("apps/v1", "deployments/a");
    let made = t.apply(&path, "two", sidecar).await.code(200);
    let names = |object: &Value| -> Vec<String> {
        let list = object["spec"]["template"]["spec"]["containers"]
            .as_array()
            .unwrap()
            .clone();
        list.iter()
            .map(|container| container["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&made), ["c", "side"]);
    let made = t
        .apply(
            &path,
            "two",
            containers(json!([{"name": "other", "image": "o:1"}])),
        )
        .await
        .code(200);
    assert_eq!(
        names(&made),
        ["c", "other"],
        "an element that its manager drops goes away"
    );
});

check!(ports_are_told_apart_by_port_and_protocol, async |t| {
    let path = t.core("services/a");
    let ports = |ports: Value| {
        let mut object = service("a");
        object["spec"] = json!({"ports": ports});
        object
    };
    t.apply(&path, "one", ports(json!([{"port": 80, "name": "tcp"}])))
        .await
        .code(201);
    let made = t
        .apply(
            &path,
            "two",
            ports(json!([{"port": 80, "protocol": "UDP", "name": "udp"}])),
        )
        .await
        .code(200);
    let expected = json!([
        {"name": "tcp", "protocol": "TCP", "port": 80, "targetPort": 80},
        {"name": "udp", "protocol": "UDP", "port": 80, "targetPort": 80},
    ]);
    assert_eq!(made["spec"]["ports"], expected);
});

check!(elements_of_a_set_are_owned_one_by_one, async |t| {
    let path = t.core("configmaps/a");
    let finalizer = |name: &str| {
        let meta = json!({"name": "a", "finalizers": [format!("example.com/{name}")]});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    };
    t.apply(&path, "one", finalizer("a")).await.code(201);
    let made = t.apply(&path, "two", finalizer("b")).await.code(200);
    assert_eq!(
        made["metadata"]["finalizers"],
        json!(["example.com/a", "example.com/b"])
    );
    let none = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let made = t.apply(&path, "one", none).await.code(200);
    assert_eq!(made["metadata"]["finalizers"], json!(["example.com/b"]));
    t.patch(&path, Patch::Merge, json!({"metadata": {"finalizers": null}}))
        .await
        .code(200);
});

check!(an_atomic_list_is_replaced_whole, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["a", "b"]);
    t.apply(&path, "one", object.clone()).await.code(201);
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["c"]);
    let made = t.apply(&path, "one", object).await.code(200);
    assert_eq!(
        made["spec"]["template"]["spec"]["containers"][0]["args"],
        json!(["c"])
    );
});

check!(defaults_that_nobody_applied_are_kept, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    t.apply(&path, "one", deployment("a")).await.code(201);
    let made = t.apply(&path, "one", deployment("a")).await.code(200);
    assert_eq!(made["spec"]["revisionHistoryLimit"], 10);
    assert_eq!(
        made["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"],
        "IfNotPresent"
    );
});

check!(applying_null_is_applying_nothing, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    let mut object = deployment("a");
    object["spec"]["replicas"] = json!(null);
    object["metadata"]["labels"] = json!(null);
    let made = t.apply(&path, "one", object).await.code(201);
    assert_eq!(made["spec"]["replicas"], 1);
    assert_eq!(made["metadata"]["labels"], json!(null));
});

check!(the_status_is_applied_to_its_own_path_only, async |t| {
    let status = |ip: &str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
            "status": {"loadBalancer": {"ingress": [{"ip": ip, "ipMode": "VIP"}]}}})
    };
    let mut object = service("a");
    object["spec"]["type"] = json!("LoadBalancer");
    t.create(&t.core("services"), object).await;
    let made = t
        .apply(&t.core("services/a"), "one", status("192.0.2.1"))
        .await
        .code(200);
    assert_eq!(made["status"], json!({"loadBalancer": {}}));
    let made = t
        .apply(&t.core("services/a/status"), "one", status("192.0.2.1"))
        .await
        .code(200);
    assert_eq!(made["status"]["loadBalancer"]["ingress"][0]["ip"], "192.0.2.1");
    let fields = made["metadata"]["managedFields"].as_array().unwrap();
    let entry = fields
        .iter()
        .find(|entry| entry["subresource"] == "status")
        .unwrap();
    assert_eq!(
        (&entry["manager"], &entry["operation"]),
        (&json!("one"), &json!("Apply"))
    );
    assert_eq!(
        entry["fieldsV1"],
        json!({"f:status": {"f:loadBalancer": {"f:ingress": {}}}})
    );
});
