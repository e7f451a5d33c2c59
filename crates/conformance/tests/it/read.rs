//! Reading single objects and lists.

use conformance::check;
use conformance::objects::{config_map, deployment, labelled};
use http::Method;
use serde_json::{Value, json};

check!(an_object_reads_as_it_was_created, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    assert_eq!(t.get(&t.core("configmaps/a")).await.code(200), made);
});

check!(a_missing_object_is_not_found, async |t| {
    let status = t
        .get(&t.core("configmaps/a"))
        .await
        .fails(404, "NotFound", r#"configmaps "a" not found"#);
    assert_eq!(status["details"], json!({"name": "a", "kind": "configmaps"}));
    assert_eq!(status["metadata"], json!({}));
});

check!(not_found_names_the_group_of_the_resource, async |t| {
    let status = t.get(&t.group("apps/v1", "deployments/a")).await;
    let status = status.fails(404, "NotFound", r#"deployments.apps "a" not found"#);
    assert_eq!(
        status["details"],
        json!({"name": "a", "group": "apps", "kind": "deployments"})
    );
});

check!(a_list_has_its_own_kind_and_items_without_one, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let list = t.get(&t.group("apps/v1", "deployments")).await.code(200);
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("DeploymentList"), &json!("apps/v1"))
    );
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert_eq!(list["items"][0]["kind"], json!(null));
    assert_eq!(list["items"][0]["apiVersion"], json!(null));
});

check!(an_empty_list_has_items_and_a_resource_version, async |t| {
    let list = t.get(&t.core("secrets")).await.code(200);
    assert_eq!(list["items"], json!([]));
    assert!(
        list["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            > 0
    );
});

// The keys are sorted, "NAMESPACE/NAME", so that a longer namespace may come before a shorter one.
check!(a_list_is_sorted_by_its_keys, async |t| {
    let other = t.cluster.namespace("check-2").await;
    for (namespace, name) in [(&other, "a"), (&t.namespace, "c"), (&t.namespace, "b")] {
        let object = labelled(name, json!({"test": t.cluster.prefix()}));
        t.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), object)
            .await;
    }
    let list = t
        .get(&format!(
            "/api/v1/configmaps?labelSelector=test={}",
            t.cluster.prefix()
        ))
        .await
        .code(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let keys: Vec<(String, String)> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (
                text(&item["metadata"]["namespace"]),
                text(&item["metadata"]["name"]),
            )
        })
        .collect();
    let key = |namespace: &str, name: &str| (namespace.to_owned(), name.to_owned());
    assert_eq!(
        keys,
        [key(&other, "a"), key(&t.namespace, "b"), key(&t.namespace, "c")]
    );
});

check!(a_list_of_a_missing_namespace_is_empty, async |t| {
    let list = t
        .get(&format!(
            "/api/v1/namespaces/{}/configmaps",
            t.cluster.name("missing")
        ))
        .await
        .code(200);
    assert_eq!(list["items"], json!([]));
});

check!(every_namespace_gets_the_root_certificate, async |t| {
    let body = t
        .until(&t.core("configmaps/kube-root-ca.crt"), |reply| reply.code == 200)
        .await;
    assert!(
        body["data"]["ca.crt"]
            .as_str()
            .unwrap()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
});

check!(an_unknown_resource_is_a_plain_404, async |t| {
    let message = "the server could not find the requested resource";
    let status = t
        .get(&t.core("nosuchthings"))
        .await
        .fails(404, "NotFound", message);
    assert_eq!(status["details"], json!({}));
    t.get(&t.core("configmaps/a/nosuch"))
        .await
        .fails(404, "NotFound", message);
});

check!(a_cluster_scoped_object_has_no_namespace, async |t| {
    let body = t
        .get(&format!("/api/v1/namespaces/{}", t.namespace))
        .await
        .code(200);
    assert_eq!(body["metadata"]["name"], t.namespace.as_str());
    assert_eq!(body["metadata"]["namespace"], json!(null));
});

check!(yaml_is_written_to_who_asks_for_it, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let reply = t.get_as(&t.core("configmaps/a"), "application/yaml").await;
    assert_eq!(reply.header("content-type"), "application/yaml");
    assert!(
        reply
            .text
            .starts_with("apiVersion: v1\ndata:\n  key: value\nkind: ConfigMap\nmetadata:\n"),
        "{reply}"
    );
});

check!(pretty_output_is_indented, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let reply = t.get(&format!("{}?pretty=true", t.core("configmaps/a"))).await;
    assert!(
        reply
            .text
            .starts_with("{\n  \"kind\": \"ConfigMap\",\n  \"apiVersion\": \"v1\",\n"),
        "{reply}"
    );
});

check!(a_long_answer_is_compressed_for_who_asks, async |t| {
    let reply = t.send(Method::GET, "/apis/apps/v1", &[], Vec::new()).await;
    assert_eq!(reply.header("content-encoding"), "");
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("cache-control"), "no-cache, private");
});
