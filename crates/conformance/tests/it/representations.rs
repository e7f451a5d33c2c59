//! Tables and metadata alone.

use conformance::objects::{config_map, deployment};
use conformance::{Test, check};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

fn columns(table: &Value) -> Vec<&str> {
    table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect()
}

async fn table(t: &Test, path: &str) -> Value {
    t.get_as(path, TABLE).await.code(200)
}

check!(an_object_is_shown_as_a_table, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let table = table(t, &t.core("configmaps/a")).await;
    assert_eq!(
        (&table["kind"], &table["apiVersion"]),
        (&json!("Table"), &json!("meta.k8s.io/v1"))
    );
    assert_eq!(
        table["metadata"],
        json!({"resourceVersion": made["metadata"]["resourceVersion"]})
    );
    assert_eq!(columns(&table), ["Name", "Data", "Age"]);
    let first = &table["columnDefinitions"][0];
    assert_eq!(
        (&first["type"], &first["format"], &first["priority"]),
        (&json!("string"), &json!("name"), &json!(0))
    );
    let row = &table["rows"][0];
    assert_eq!((&row["cells"][0], &row["cells"][1]), (&json!("a"), &json!(1)));
    assert!(row["cells"][2].as_str().unwrap().ends_with('s'), "an age");
    assert_eq!(
        (&row["object"]["kind"], &row["object"]["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("a"))
    );
});

check!(a_table_holds_as_much_of_the_object_as_asked_for, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let path = t.core("configmaps/a");
    let whole = table(t, &format!("{path}?includeObject=Object")).await;
    assert_eq!(whole["rows"][0]["object"]["data"], json!({"key": "value"}));
    let none = table(t, &format!("{path}?includeObject=None")).await;
    assert_eq!(none["rows"][0]["object"], json!(null));
    let message = concat!(
        r#"Unable to convert to Table as requested: includeObject: Invalid value: "Odd": "#,
        "must be 'Metadata', 'Object', 'None', or empty"
    );
    t.get_as(&format!("{path}?includeObject=Odd"), TABLE)
        .await
        .fails(400, "BadRequest", message);
});

check!(a_list_is_shown_as_one_table, async |t| {
    for name in ["a", "b", "c"] {
        t.create(&t.core("secrets"), json!({"metadata": {"name": name}}))
            .await;
    }
    let table = table(t, &format!("{}?limit=2", t.core("secrets"))).await;
    assert_eq!(columns(&table), ["Name", "Type", "Data", "Age"]);
    assert_eq!(table["rows"].as_array().unwrap().len(), 2);
    assert_eq!(table["metadata"]["remainingItemCount"], 1);
    assert!(!table["metadata"]["continue"].as_str().unwrap().is_empty());
});

check!(an_empty_list_has_columns_too, async |t| {
    let table = table(t, &t.core("secrets")).await;
    assert_eq!(columns(&table), ["Name", "Type", "Data", "Age"]);
    assert_eq!(table["rows"], json!([]));
});

check!(workloads_have_their_own_columns, async |t| {
    for (group, resource, expected) in [
        (
            "apps/v1",
            "deployments",
            "Name Ready Up-to-date Available Age Containers Images Selector",
        ),
        ("apps/v1", "statefulsets", "Name Ready Age Containers Images"),
        (
            "apps/v1",
            "replicasets",
            "Name Desired Current Ready Age Containers Images Selector",
        ),
        (
            "batch/v1",
            "jobs",
            "Name Status Completions Duration Age Containers Images Selector",
        ),
        (
            "batch/v1",
            "cronjobs",
            "Name Schedule Timezone Suspend Active Last Schedule Age Containers Images Selector",
        ),
        (
            "networking.k8s.io/v1",
            "ingresses",
            "Name Class Hosts Address Ports Age",
        ),
        ("networking.k8s.io/v1", "networkpolicies", "Name Pod-Selector Age"),
        (
            "policy/v1",
            "poddisruptionbudgets",
            "Name Min Available Max Unavailable Allowed Disruptions Age",
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "rolebindings",
            "Name Role Age Users Groups ServiceAccounts",
        ),
    ] {
        let table = table(t, &t.group(group, resource)).await;
        assert_eq!(columns(&table).join(" "), expected, "{resource}");
    }
    for (resource, expected) in [
        (
            "pods",
            "Name Ready Status Restarts Age IP Node Nominated Node Readiness Gates",
        ),
        (
            "services",
            "Name Type Cluster-IP External-IP Port(s) Age Selector",
        ),
        (
            "persistentvolumeclaims",
            "Name Status Volume Capacity Access Modes StorageClass VolumeAttributesClass Age VolumeMode",
        ),
        ("serviceaccounts", "Name Age"),
    ] {
        let table = table(t, &t.core(resource)).await;
        assert_eq!(columns(&table).join(" "), expected, "{resource}");
    }
});

check!(a_deployment_is_one_row, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let table = table(t, &t.group("apps/v1", "deployments/a")).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!((&cells[0], &cells[1]), (&json!("a"), &json!("0/0")));
    assert_eq!(cells[5..], [json!("c"), json!("app:1"), json!("app=a")]);
    let wide = &table["columnDefinitions"][5];
    assert_eq!(
        (&wide["name"], &wide["priority"]),
        (&json!("Containers"), &json!(1))
    );
});

check!(a_service_shows_its_ports, async |t| {
    let mut object = conformance::objects::service("a");
    object["spec"]["ports"] =
        json!([{"name": "x", "port": 80}, {"name": "y", "port": 53, "protocol": "UDP"}]);
    let made = t.create(&t.core("services"), object).await;
    let table = table(t, &t.core("services/a")).await;
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    let expected = [
        json!("a"),
        json!("ClusterIP"),
        made["spec"]["clusterIP"].clone(),
        json!("<none>"),
        json!("80/TCP,53/UDP"),
    ];
    assert_eq!(cells[..5], expected);
});

check!(metadata_can_be_had_alone, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let object = t.get_as(&t.core("configmaps/a"), METADATA).await.code(200);
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.k8s.io/v1"))
    );
    assert_eq!(object["metadata"], made["metadata"]);
    assert_eq!(object["data"], json!(null));
});

check!(a_list_of_metadata_has_kinds_in_its_items, async |t| {
    t.create(&t.core("secrets"), json!({"metadata": {"name": "a"}}))
        .await;
    let list = t.get_as(&t.core("secrets"), METADATA_LIST).await.code(200);
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("PartialObjectMetadataList"), &json!("meta.k8s.io/v1"))
    );
    let item = &list["items"][0];
    assert_eq!(
        (&item["kind"], &item["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.k8s.io/v1"))
    );
});

check!(a_list_is_not_shown_as_one_object, async |t| {
    let message =
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)";
    t.get_as(&t.core("configmaps"), METADATA)
        .await
        .fails(406, "NotAcceptable", message);
});

check!(what_cannot_be_shown_falls_back_to_the_next_choice, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let accept = "application/json;as=Table;g=meta.k8s.io;v=v9,application/json";
    assert_eq!(
        t.get_as(&t.core("configmaps/a"), accept).await.code(200)["kind"],
        "ConfigMap"
    );
    let odd = "application/json;as=Odd;g=meta.k8s.io;v=v1";
    let message = concat!(
        "only the following media types are accepted: ",
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    );
    t.get_as(&t.core("configmaps/a"), odd)
        .await
        .fails(406, "NotAcceptable", message);
});

check!(an_error_is_an_error_in_every_form, async |t| {
    t.get_as(&t.core("configmaps/a"), TABLE)
        .await
        .fails(404, "NotFound", r#"configmaps "a" not found"#);
});

check!(a_created_object_can_be_answered_as_metadata, async |t| {
    let headers = [("content-type", "application/json"), ("accept", METADATA)];
    let body = config_map("a").to_string().into_bytes();
    let made = t
        .send(http::Method::POST, &t.core("configmaps"), &headers, body)
        .await
        .code(201);
    assert_eq!(made["kind"], "PartialObjectMetadata");
});
