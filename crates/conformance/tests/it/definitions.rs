//! CustomResourceDefinitions themselves.

use conformance::objects::{definition, widget};
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The server refuses a definition that was changed so; the message follows "is invalid: ".
async fn refused(t: &Test, change: impl FnOnce(&mut Value), message: &str) {
    let group = t.cluster.name("refused.example.com");
    let mut object = definition(&group);
    change(&mut object);
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    let message = format!("CustomResourceDefinition.apiextensions.k8s.io \"{name}\" is invalid: {message}");
    t.post(&format!("{DEFINITIONS}?dryRun=All"), object)
        .await
        .fails(422, "Invalid", message);
}

/// The schema of the one version.
fn schema(object: &mut Value) -> &mut Value {
    &mut object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

check!(a_definition_is_completed_and_established, async |t| {
    let group = t.cluster.name("plain.example.com");
    let mut object = definition(&group);
    object["spec"]["names"] = json!({"plural": "widgets", "kind": "Widget"});
    t.cluster.establish(&object).await;
    let made = t.get(&format!("{DEFINITIONS}/widgets.{group}")).await.code(200);
    let names =
        json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"});
    assert_eq!(
        (&made["spec"]["names"], &made["spec"]["conversion"]),
        (&names, &json!({"strategy": "None"}))
    );
    assert_eq!(
        (
            &made["status"]["acceptedNames"],
            &made["status"]["storedVersions"]
        ),
        (&names, &json!(["v1"]))
    );
    let conditions = made["status"]["conditions"].as_array().unwrap();
    let short = |one: &Value| {
        format!(
            "{} {} {} {}",
            one["type"], one["status"], one["reason"], one["message"]
        )
        .replace('"', "")
    };
    let conditions: Vec<String> = conditions.iter().map(short).collect();
    let expected = [
        "NamesAccepted True NoConflicts no conflicts found",
        "Established True InitialNamesAccepted the initial names have been accepted",
    ];
    assert_eq!(conditions, expected);
});

check!(the_name_of_a_definition_is_plural_and_group, async |t| {
    let message = r#"metadata.name: Invalid value: "wrong": must be spec.names.plural+"."+spec.group"#;
    refused(t, |object| object["metadata"]["name"] = json!("wrong"), message).await;
});

check!(a_schema_is_structural, async |t| {
    let message = "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified \
        object fields";
    refused(
        t,
        |object| schema(object)["properties"]["spec"] = json!({"properties": {"x": {"type": "string"}}}),
        message,
    )
    .await;
});

check!(a_version_has_a_schema, async |t| {
    let message = "spec.versions[0].schema.openAPIV3Schema: Required value";
    refused(
        t,
        |object| object["spec"]["versions"][0]["schema"] = json!(null),
        message,
    )
    .await;
});

check!(a_default_fits_its_schema, async |t| {
    let message = concat!(
        r#"spec.validation.openAPIV3Schema.properties[spec].default: Invalid value: "integer":  in body must be of type "#,
        r#"string: "integer""#
    );
    refused(
        t,
        |object| schema(object)["properties"]["spec"] = json!({"type": "string", "default": 5}),
        message,
    )
    .await;
});

check!(a_rule_compiles, async |t| {
    let message = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: \
        {\"Rule\":\"self.nosuch == 1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\
        \"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined field 'nosuch'\n | self.nosuch == 1\n \
        | ....^";
    let spec = json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.nosuch == 1"}]});
    refused(t, |object| schema(object)["properties"]["spec"] = spec, message).await;
});

check!(one_version_is_the_storage, async |t| {
    let message = "[spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,\
        \"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\
        \"SelectableFields\":null}]: must have exactly one version marked as storage version, status.storedVersions: Invalid \
        value: null: must have at least one stored version]";
    let change = |object: &mut Value| {
        object["spec"]["versions"][0]["storage"] = json!(false);
        object["spec"]["versions"][0]["subresources"] = json!(null);
    };
    refused(t, change, message).await;
});

check!(a_scope_is_one_of_two, async |t| {
    let message = r#"spec.scope: Unsupported value: "Odd": supported values: "Cluster", "Namespaced""#;
    refused(t, |object| object["spec"]["scope"] = json!("Odd"), message).await;
});

check!(the_groups_of_kubernetes_are_protected, async |t| {
    let change = |object: &mut Value| {
        object["metadata"]["name"] = json!("widgets.x.k8s.io");
        object["spec"]["group"] = json!("x.k8s.io");
    };
    let message = "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval \
        annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111";
    refused(t, change, message).await;
});

check!(scope_group_and_kind_stay, async |t| {
    let group = t.cluster.name("stays.example.com");
    t.cluster.establish(&definition(&group)).await;
    let path = format!("{DEFINITIONS}/widgets.{group}");
    let prefix = format!("CustomResourceDefinition.apiextensions.k8s.io \"widgets.{group}\" is invalid: ");
    let message = format!(r#"{prefix}spec.scope: Invalid value: "Cluster": field is immutable"#);
    t.patch(&path, Patch::Merge, json!({"spec": {"scope": "Cluster"}}))
        .await
        .fails(422, "Invalid", message);
    let message = format!(r#"{prefix}spec.names.kind: Invalid value: "Gadget": field is immutable"#);
    t.patch(
        &path,
        Patch::Merge,
        json!({"spec": {"names": {"kind": "Gadget"}}}),
    )
    .await
    .fails(422, "Invalid", message);
});

check!(deleting_a_definition_deletes_its_objects, async |t| {
    let group = t.cluster.name("deleted.example.com");
    t.cluster.establish(&definition(&group)).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    t.create(&path, widget(&group, "a", json!({}))).await;
    t.delete(&format!("{DEFINITIONS}/widgets.{group}"))
        .await
        .code(200);
    t.until_gone(&format!("{DEFINITIONS}/widgets.{group}")).await;
    t.until_gone(&path).await;
    t.cluster.establish(&definition(&group)).await;
    assert_eq!(
        t.get(&path).await.code(200)["items"],
        json!([]),
        "they do not come back with the definition"
    );
});

check!(a_definition_waits_for_held_objects, async |t| {
    let group = t.cluster.name("held.example.com");
    t.cluster.establish(&definition(&group)).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    let mut object = widget(&group, "a", json!({}));
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    t.create(&path, object).await;
    let name = format!("{DEFINITIONS}/widgets.{group}");
    t.delete(&name).await.code(200);
    t.until(&format!("{path}/a"), |reply| {
        reply.body["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    let body = t.get(&name).await.code(200);
    assert_eq!(
        body["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    t.patch(
        &format!("{path}/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200);
    t.until_gone(&name).await;
});

check!(a_changed_schema_holds_at_once, async |t| {
    let group = t.cluster.name("changed.example.com");
    t.cluster.establish(&definition(&group)).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    t.create(&path, widget(&group, "a", json!({"size": "big"}))).await;
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let body = json!([{"op": "replace", "path": at, "value": spec}]);
    t.patch(&format!("{DEFINITIONS}/widgets.{group}"), Patch::Json, body)
        .await
        .code(200);
    // The server takes a moment to serve the new schema.
    let began = std::time::Instant::now();
    while t
        .post(
            &format!("{path}?dryRun=All"),
            widget(&group, "b", json!({"size": "big"})),
        )
        .await
        .code
        != 422
    {
        assert!(
            began.elapsed().as_secs() < 20,
            "the new schema does not come to hold"
        );
    }
    t.get(&format!("{path}/a")).await.code(200);
});
