//! Watches.

use conformance::objects::{config_map, labelled};
use conformance::{Patch, Test, check};
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource};
use serde_json::{Value, json};

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

/// The version that a list of secrets has now; nothing but the check makes any in its namespace.
async fn now(t: &Test) -> String {
    version(&t.get(&t.core("secrets")).await.code(200))
}

async fn secret(t: &Test, name: &str) -> Value {
    t.create(&t.core("secrets"), json!({"metadata": {"name": name}}))
        .await
}

check!(a_watch_tells_of_creation_change_and_deletion, async |t| {
    let from = now(t).await;
    let mut watch = t
        .watch(&format!("{}?resourceVersion={from}", t.core("secrets")))
        .await;
    let made = secret(t, "a").await;
    assert_eq!(watch.expect("ADDED").await, made);
    let changed = t
        .patch(&t.core("secrets/a"), Patch::Merge, json!({"data": {"k": "MQ=="}}))
        .await
        .code(200);
    assert_eq!(watch.expect("MODIFIED").await, changed);
    t.delete(&t.core("secrets/a")).await.code(200);
    let gone = watch.expect("DELETED").await;
    assert_eq!(gone["data"], json!({"k": "MQ=="}), "the last state");
    let number = |object: &Value| version(object).parse::<u64>().unwrap();
    assert!(
        number(&gone) > number(&changed),
        "with the version of the deletion"
    );
});

check!(a_watch_resumes_where_it_was_left, async |t| {
    let first = secret(t, "a").await;
    let second = secret(t, "b").await;
    secret(t, "c").await;
    let path = t.core("secrets");
    let mut watch = t
        .watch(&format!("{path}?resourceVersion={}", version(&first)))
        .await;
    assert_eq!(
        (watch.short().await, watch.short().await),
        ("ADDED b".to_owned(), "ADDED c".to_owned())
    );
    let mut watch = t
        .watch(&format!("{path}?resourceVersion={}", version(&second)))
        .await;
    assert_eq!(watch.short().await, "ADDED c");
});

check!(a_watch_without_a_version_starts_with_what_is_there, async |t| {
    secret(t, "a").await;
    secret(t, "b").await;
    for query in ["", "?resourceVersion=0"] {
        let mut watch = t.watch(&format!("{}{query}", t.core("secrets"))).await;
        let mut seen = [watch.short().await, watch.short().await];
        seen.sort();
        assert_eq!(seen, ["ADDED a", "ADDED b"]);
    }
});

check!(a_watch_of_a_forgotten_version_is_gone, async |t| {
    let mut watch = t
        .watch(&format!("{}?resourceVersion=1", t.core("configmaps")))
        .await;
    let status = watch.expect("ERROR").await;
    assert_eq!(
        (&status["kind"], &status["code"], &status["reason"]),
        (&json!("Status"), &json!(410), &json!("Expired"))
    );
    let message = status["message"].as_str().unwrap();
    assert!(message.starts_with("too old resource version: 1 ("), "{message}");
    assert_eq!(watch.next().await, None, "then it ends");
});

check!(a_watch_of_a_version_that_is_no_number_fails, async |t| {
    let reply = t
        .get(&format!("{}?watch=true&resourceVersion=x", t.core("configmaps")))
        .await;
    reply.fails(
        500,
        "",
        r#"resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax"#,
    );
});

check!(a_watch_ends_after_its_timeout, async |t| {
    let mut watch = t.watch(&format!("{}?timeoutSeconds=1", t.core("secrets"))).await;
    assert_eq!(watch.next().await, None);
});

check!(a_watch_by_label_sees_objects_come_and_go, async |t| {
    let mut watch = t
        .watch(&format!("{}?labelSelector=team%3Dred", t.core("configmaps")))
        .await;
    t.create(&t.core("configmaps"), labelled("blue", json!({"team": "blue"})))
        .await;
    t.create(&t.core("configmaps"), labelled("a", json!({"team": "red"})))
        .await;
    assert_eq!(watch.short().await, "ADDED a");
    let path = t.core("configmaps/a");
    t.patch(&path, Patch::Merge, json!({"data": {"k": "1"}}))
        .await
        .code(200);
    assert_eq!(watch.short().await, "MODIFIED a");
    t.patch(
        &path,
        Patch::Merge,
        json!({"metadata": {"labels": {"team": "blue"}}}),
    )
    .await
    .code(200);
    let gone = watch.expect("DELETED").await;
    assert_eq!(
        gone["metadata"]["labels"]["team"], "red",
        "the last state that matched"
    );
    t.patch(
        &path,
        Patch::Merge,
        json!({"metadata": {"labels": {"team": "red"}}}),
    )
    .await
    .code(200);
    assert_eq!(watch.short().await, "ADDED a");
});

check!(a_watch_by_name_sees_only_that_object, async |t| {
    let mut watch = t
        .watch(&format!("{}?fieldSelector=metadata.name%3Db", t.core("secrets")))
        .await;
    secret(t, "a").await;
    secret(t, "b").await;
    assert_eq!(watch.short().await, "ADDED b");
});

check!(a_watch_sees_every_namespace, async |t| {
    let prefix = t.cluster.prefix();
    let mut watch = t
        .watch(&format!("/api/v1/configmaps?labelSelector=test%3D{prefix}"))
        .await;
    let other = t.cluster.namespace("other").await;
    for namespace in [&t.namespace, &other] {
        let object = labelled("a", json!({"test": prefix}));
        t.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), object)
            .await;
        assert_eq!(
            watch.expect("ADDED").await["metadata"]["namespace"],
            namespace.as_str()
        );
    }
});

check!(a_streaming_list_ends_its_start_with_a_bookmark, async |t| {
    secret(t, "a").await;
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = t.watch(&format!("{}?{query}", t.core("secrets"))).await;
    assert_eq!(watch.short().await, "ADDED a");
    let mark = watch.expect("BOOKMARK").await;
    assert_eq!(
        (&mark["kind"], &mark["apiVersion"]),
        (&json!("Secret"), &json!("v1"))
    );
    assert_eq!(
        mark["metadata"]["annotations"],
        json!({"k8s.io/initial-events-end": "true"})
    );
    assert!(version(&mark).parse::<u64>().unwrap() > 0);
    secret(t, "b").await;
    assert_eq!(watch.short().await, "ADDED b");
});

check!(a_streaming_list_needs_its_match, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting ",
        "resourceVersionMatch to NotOlderThan"
    );
    let path = format!("{}?watch=true&sendInitialEvents=true", t.core("secrets"));
    t.get(&path).await.fails(422, "Invalid", message);
});

check!(a_plain_list_sends_no_initial_events, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: ",
        "sendInitialEvents is forbidden for list"
    );
    t.get(&format!("{}?sendInitialEvents=true", t.core("secrets")))
        .await
        .fails(422, "Invalid", message);
});

check!(a_watch_takes_no_match_of_its_own, async |t| {
    let message = concat!(
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for ",
        "watch unless sendInitialEvents is provided"
    );
    let path = format!(
        "{}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan",
        t.core("secrets")
    );
    t.get(&path).await.fails(422, "Invalid", message);
});

check!(a_watch_of_metadata_has_nothing_else, async |t| {
    t.create(&t.core("configmaps"), labelled("a", json!({"x": "y"})))
        .await;
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let mut watch = t
        .watch_as(&format!("{}?labelSelector=x", t.core("configmaps")), accept)
        .await;
    let object = watch.expect("ADDED").await;
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.k8s.io/v1"))
    );
    assert_eq!(
        (&object["metadata"]["labels"], &object["data"]),
        (&json!({"x": "y"}), &json!(null))
    );
});

check!(a_watch_of_tables_has_columns_in_the_first_event_only, async |t| {
    t.create(&t.core("configmaps"), labelled("a", json!({"x": "y"})))
        .await;
    let accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let mut watch = t
        .watch_as(&format!("{}?labelSelector=x", t.core("configmaps")), accept)
        .await;
    let first = watch.expect("ADDED").await;
    assert_eq!(first["kind"], "Table");
    assert_eq!(first["columnDefinitions"][1]["name"], "Data");
    assert_eq!(first["rows"][0]["cells"][0], "a");
    t.patch(&t.core("configmaps/a"), Patch::Merge, json!({"data": {"k": "1"}}))
        .await
        .code(200);
    let second = watch.expect("MODIFIED").await;
    assert_eq!(second["columnDefinitions"], json!(null));
    assert_eq!(second["rows"][0]["cells"][1], 1);
});

check!(the_old_path_of_a_watch_works, async |t| {
    secret(t, "a").await;
    let path = format!(
        "/api/v1/watch/namespaces/{}/secrets/a?timeoutSeconds=10",
        t.namespace
    );
    let mut watch = t.watch(&path).await;
    assert_eq!(watch.short().await, "ADDED a");
});

check!(a_deletion_with_a_finalizer_is_a_change_first, async |t| {
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    object["metadata"]["labels"] = json!({"x": "y"});
    let made = t.create(&t.core("configmaps"), object).await;
    let path = format!(
        "{}?labelSelector=x&resourceVersion={}",
        t.core("configmaps"),
        version(&made)
    );
    let mut watch = t.watch(&path).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let marked = watch.expect("MODIFIED").await;
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    t.patch(
        &t.core("configmaps/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200);
    assert_eq!(watch.short().await, "DELETED a");
});

check!(a_change_that_changes_nothing_is_no_event, async |t| {
    let made = t
        .create(&t.core("configmaps"), labelled("a", json!({"x": "y"})))
        .await;
    let path = format!(
        "{}?labelSelector=x&resourceVersion={}",
        t.core("configmaps"),
        version(&made)
    );
    let mut watch = t.watch(&path).await;
    t.patch(
        &t.core("configmaps/a"),
        Patch::Merge,
        json!({"metadata": {"labels": {"x": "y"}}}),
    )
    .await
    .code(200);
    t.patch(&t.core("configmaps/a"), Patch::Merge, json!({"data": {"k": "1"}}))
        .await
        .code(200);
    assert_eq!(watch.expect("MODIFIED").await["data"], json!({"k": "1"}));
});

check!(the_watcher_of_kube_follows_by_streaming_list, async |t| {
    t.create(&t.core("configmaps"), labelled("a", json!({"x": "y"})))
        .await;
    let api: Api<ConfigMap> = Api::namespaced(t.client(), &t.namespace);
    let config = watcher::Config::default().labels("x=y").streaming_lists();
    let mut objects = std::pin::pin!(watcher(api, config).applied_objects());
    let first = objects.try_next().await.unwrap().unwrap();
    assert_eq!(first.meta().name.as_deref(), Some("a"));
    t.create(&t.core("configmaps"), labelled("b", json!({"x": "y"})))
        .await;
    let second = objects.try_next().await.unwrap().unwrap();
    assert_eq!(second.meta().name.as_deref(), Some("b"));
});
