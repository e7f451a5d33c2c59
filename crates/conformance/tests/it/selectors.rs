//! Label and field selectors.

use conformance::objects::{labelled, pod};
use conformance::{Test, check};
use serde_json::{Value, json};

/// The names that a query on ConfigMaps finds, beside the one that every namespace has.
async fn found(t: &Test, query: &str) -> Vec<String> {
    let list = t
        .get(&format!("{}?{query}", t.core("configmaps")))
        .await
        .code(200);
    names(&list)
}

fn names(list: &Value) -> Vec<String> {
    let names = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
    names.filter(|name| name != "kube-root-ca.crt").collect()
}

async fn three(t: &Test) {
    t.create(
        &t.core("configmaps"),
        labelled("a", json!({"env": "dev", "app": "x"})),
    )
    .await;
    t.create(
        &t.core("configmaps"),
        labelled("b", json!({"env": "prod", "app": "x"})),
    )
    .await;
    t.create(&t.core("configmaps"), labelled("c", json!({"app": "y"})))
        .await;
}

check!(labels_are_selected_by_equality, async |t| {
    three(t).await;
    assert_eq!(found(t, "labelSelector=env%3Ddev").await, ["a"]);
    assert_eq!(found(t, "labelSelector=env%3D%3Dprod").await, ["b"]);
    assert_eq!(
        found(t, "labelSelector=env!%3Ddev").await,
        ["b", "c"],
        "a missing label is not equal"
    );
    assert_eq!(found(t, "labelSelector=app%3Dx,env%3Dprod").await, ["b"]);
});

check!(labels_are_selected_by_sets, async |t| {
    three(t).await;
    assert_eq!(found(t, "labelSelector=env+in+(dev,prod)").await, ["a", "b"]);
    assert_eq!(found(t, "labelSelector=env+notin+(dev)").await, ["b", "c"]);
    assert_eq!(found(t, "labelSelector=env").await, ["a", "b"]);
    assert_eq!(found(t, "labelSelector=!env,app").await, ["c"]);
});

check!(an_empty_selector_selects_everything, async |t| {
    three(t).await;
    assert_eq!(found(t, "labelSelector=&fieldSelector=").await, ["a", "b", "c"]);
});

check!(a_malformed_label_selector_is_a_bad_request, async |t| {
    let path = format!("{}?labelSelector=a+in+b", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        "unable to parse requirement: found 'b' expected: '('",
    );
    let path = format!("{}?labelSelector=%3D%3D", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        "found '==', expected: !, identifier, or 'end of string'",
    );
});

check!(a_label_selector_with_a_bad_value_is_a_bad_request, async |t| {
    let path = format!("{}?labelSelector=a%3Db_", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        "unable to parse requirement: values[0][a]: Invalid value: \"b_\": a valid label must be an empty \
        string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
        alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
        '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    );
});

check!(names_are_selected_by_field, async |t| {
    three(t).await;
    assert_eq!(found(t, "fieldSelector=metadata.name%3Db").await, ["b"]);
    assert_eq!(found(t, "fieldSelector=metadata.name!%3Db").await, ["a", "c"]);
    assert_eq!(
        found(t, "fieldSelector=metadata.name%3Da,metadata.name%3Db").await,
        [""; 0]
    );
    assert_eq!(
        found(t, &format!("fieldSelector=metadata.namespace%3D{}", t.namespace)).await,
        ["a", "b", "c"]
    );
});

check!(secrets_are_selected_by_type, async |t| {
    t.create(&t.core("secrets"), json!({"metadata": {"name": "a"}}))
        .await;
    t.create(
        &t.core("secrets"),
        json!({"metadata": {"name": "b"}, "type": "example.com/b"}),
    )
    .await;
    let list = t
        .get(&format!(
            "{}?fieldSelector=type%3Dexample.com/b",
            t.core("secrets")
        ))
        .await
        .code(200);
    assert_eq!(names(&list), ["b"]);
});

check!(pods_are_selected_by_node_and_phase, async |t| {
    t.until(&t.core("serviceaccounts/default"), |reply| reply.code == 200)
        .await;
    for (name, node) in [("a", "n1"), ("b", "n2")] {
        let mut object = pod(name);
        object["spec"]["nodeName"] = json!(node);
        t.create(&t.core("pods"), object).await;
    }
    let list = t
        .get(&format!(
            "{}?fieldSelector=spec.nodeName%3Dn2,status.phase%3DPending",
            t.core("pods")
        ))
        .await;
    assert_eq!(names(&list.code(200)), ["b"]);
    let list = t
        .get(&format!(
            "{}?fieldSelector=status.phase!%3DPending",
            t.core("pods")
        ))
        .await;
    assert_eq!(names(&list.code(200)), [""; 0]);
});

check!(events_are_selected_by_what_they_are_about, async |t| {
    for name in ["a", "b"] {
        let about = json!({"kind": "ConfigMap", "name": name, "namespace": t.namespace});
        t.create(
            &t.core("events"),
            json!({"metadata": {"name": name}, "involvedObject": about, "reason": "R"}),
        )
        .await;
    }
    let list = t
        .get(&format!(
            "{}?fieldSelector=involvedObject.name%3Da,reason%3DR",
            t.core("events")
        ))
        .await;
    assert_eq!(names(&list.code(200)), ["a"]);
});

check!(a_field_that_cannot_be_selected_is_a_bad_request, async |t| {
    let path = format!("{}?fieldSelector=data.key%3Dvalue", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        r#""data.key" is not a known field selector: only "metadata.name", "metadata.namespace""#,
    );
});

check!(a_malformed_field_selector_is_a_bad_request, async |t| {
    let path = format!("{}?fieldSelector=metadata.name", t.core("configmaps"));
    t.get(&path).await.fails(
        400,
        "BadRequest",
        "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    );
});
