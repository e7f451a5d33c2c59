//! What is wrong with definitions, and which names they get. The messages were seen on a server of version 1.35.8.

use apiserver::crd::{check, conditions, is_true};
use model::{Value, value};

use super::{compile, definition, parse, texts};

/// The errors of a definition whose value at `path` was set to `new`, or removed where that is null.
fn errors_with(path: &[&str], new: Value) -> Vec<String> {
    let mut crd = definition(value!({ "type": "object" }));
    match new {
        Value::Null => drop(crd.remove_at(path)),
        new => crd.set_at(path, new),
    }
    texts(&check::create(&crd))
}

/// The errors of a definition whose only version was changed.
fn errors_with_version(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut crd = definition(value!({ "type": "object" }));
    let mut version = crd.list_at(&["spec", "versions"])[0].clone();
    change(&mut version);
    crd.set_at(&["spec", "versions"], Value::from(vec![version]));
    texts(&check::create(&crd))
}

fn schema_errors(schema: Value) -> Vec<String> {
    texts(
        &compile(value!({ "type": "object", "properties": { "spec": schema } }))
            .err()
            .unwrap_or_default(),
    )
}

#[test]
fn names_scope_and_group_must_be_right() {
    let wrong_name =
        "metadata.name: Invalid value: \"ts.t.example.com\": must be spec.names.plural+\".\"+spec.group";
    assert_eq!(
        errors_with(&["spec", "scope"], Value::Null),
        ["spec.scope: Required value"]
    );
    assert_eq!(
        errors_with(&["spec", "scope"], "Foo".into()),
        ["spec.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", \"Namespaced\""]
    );
    assert_eq!(
        errors_with(&["spec", "group"], "foo".into()),
        [
            wrong_name,
            "spec.group: Invalid value: \"foo\": should be a domain with at least one dot"
        ]
    );
    assert_eq!(
        errors_with(&["spec", "group"], Value::Null),
        [wrong_name, "spec.group: Required value"]
    );
    assert_eq!(
        errors_with(&["spec", "names", "kind"], Value::Null),
        ["spec.names.kind: Required value"]
    );
    assert_eq!(
        errors_with(&["spec", "names", "listKind"], "T".into()),
        ["spec.names.listKind: Invalid value: \"T\": kind and listKind may not be the same"]
    );
    assert_eq!(
        errors_with(&["spec", "names", "kind"], "t t".into()),
        [
            "spec.names.kind: Invalid value: \"t t\": may have mixed case, but should otherwise match: a DNS-1035 label \
          must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with \
          an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
          '[a-z]([-a-z0-9]*[a-z0-9])?')"
        ]
    );
}

#[test]
fn exactly_one_version_is_stored() {
    assert_eq!(
        errors_with_version(|version| version.set_at(&["storage"], false)),
        [
            "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,\
          \"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\
          \"SelectableFields\":null}]: must have exactly one version marked as storage version"
        ]
    );
    let mut crd = definition(value!({ "type": "object" }));
    crd.set_at(&["status", "storedVersions"], value!(["v0", "v1"]));
    assert_eq!(
        texts(&check::create(&crd)),
        [
            "status.storedVersions[0]: Invalid value: \"v0\": missing from spec.versions; v0 was previously a storage \
          version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 \
          and removes v0 from status.storedVersions"
        ]
    );
}

#[test]
fn every_version_has_a_schema() {
    let missing = ["spec.versions[0].schema.openAPIV3Schema: Required value"];
    assert_eq!(
        errors_with_version(|version| drop(version.remove_at(&["schema"]))),
        missing
    );
    assert_eq!(
        errors_with_version(|version| version.set_at(&["schema"], value!({}))),
        missing
    );
}

#[test]
fn what_a_version_has_besides_its_schema_is_checked() {
    let scale = value!({ "scale": { "specReplicasPath": "spec.replicas", "statusReplicasPath": ".spec.x" } });
    assert_eq!(
        errors_with_version(|version| version.set_at(&["subresources"], scale.clone())),
        [
            "spec.subresources.scale.specReplicasPath: Invalid value: \"spec.replicas\": must be a simple json path \
             starting with .",
            "spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.x\": should be a json path under \
             .status",
        ]
    );
    let columns = parse(
        r#"[{"name":"x","type":"foo","jsonPath":".x"},{"name":"x","type":"string","jsonPath":"x","format":"zz"}]"#,
    );
    assert_eq!(
        errors_with_version(|version| version.set_at(&["additionalPrinterColumns"], columns.clone())),
        [
            "spec.additionalPrinterColumns[0].type: Invalid value: \"foo\": must be one of \
             boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[1].format: Invalid value: \"zz\": must be one of \
             byte,date,date-time,double,float,int32,int64,password",
            "spec.additionalPrinterColumns[1].JSONPath: Invalid value: \"x\": must be a simple json path starting \
             with .",
        ]
    );
    let fields = value!([{ "jsonPath": ".spec.x" }]);
    assert_eq!(
        errors_with_version(|version| version.set_at(&["selectableFields"], fields.clone())),
        [
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec.x\": is an invalid path: does not refer to a \
          valid field"
        ]
    );
    assert_eq!(
        errors_with_version(|version| version.set_at(&["deprecationWarning"], "x")),
        [
            "spec.versions[0].deprecationWarning: Invalid value: \"x\": can only be set for deprecated versions"
        ]
    );
}

#[test]
fn conversion_is_by_nothing_or_by_a_webhook() {
    assert_eq!(
        errors_with(&["spec", "conversion", "strategy"], "Foo".into()),
        ["spec.conversion.strategy: Unsupported value: \"Foo\": supported values: \"None\", \"Webhook\""]
    );
    assert_eq!(
        errors_with(&["spec", "conversion", "strategy"], "Webhook".into()),
        [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ]
    );
}

#[test]
fn groups_of_the_community_need_an_approval() {
    let mut crd = definition(value!({ "type": "object" }));
    crd.set_at(&["spec", "group"], "foo.k8s.io");
    crd.set_at(&["metadata", "name"], "ts.foo.k8s.io");
    assert_eq!(
        texts(&check::create(&crd)),
        [
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval \
          annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"
        ]
    );
    crd.set_at(
        &["metadata", "annotations", "api-approved.kubernetes.io"],
        "https://github.com/x/y/pull/1",
    );
    assert_eq!(check::create(&crd), []);
}

#[test]
fn schemas_must_be_structural() {
    let path = "spec.validation.openAPIV3Schema.properties[spec]";
    let cases = [
        (
            r#"{"properties":{}}"#,
            ".type: Required value: must not be empty for specified object fields",
        ),
        (r#"{"type":"array"}"#, ".items: Required value: must be specified"),
        (
            r#"{"type":"foo"}"#,
            ".type: Unsupported value: \"foo\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \
             \"object\", \"string\"",
        ),
        (
            r#"{"type":"string","pattern":"["}"#,
            ".pattern: Invalid value: \"[\": must be a valid regular expression, but isn't: error parsing regexp: \
             missing closing ]: `[`",
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}"#,
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            r#"{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"foo"}"#,
            ".x-kubernetes-list-type: Unsupported value: \"foo\": supported values: \"atomic\", \"set\", \"map\"",
        ),
        (
            r#"{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map",
                "x-kubernetes-list-map-keys":["k"]}"#,
            ".x-kubernetes-list-map-keys: Invalid value: [\"k\"]: entries must all be names of item properties",
        ),
        (
            r#"{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}},
                "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]}"#,
            ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it \
             must have a default or be a required property",
        ),
        (
            r#"{"type":"string","default":1}"#,
            ".default: Invalid value: \"integer\":  in body must be of type string: \"integer\"",
        ),
        (
            r#"{"type":"object","default":{"x":1}}"#,
            ".default: Invalid value: {\"x\":1}: must not have unknown fields",
        ),
        (
            r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
    ];
    for (schema, error) in cases {
        assert_eq!(
            schema_errors(parse(schema)),
            [format!("{path}{error}")],
            "{schema}"
        );
    }
}

#[test]
fn what_differs_between_versions_is_named_by_its_version() {
    let mut crd = definition(value!({ "type": "object" }));
    let mut versions = crd.list_at(&["spec", "versions"]).to_vec();
    versions.push(parse(
        r#"{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"string"}}}"#,
    ));
    crd.set_at(&["spec", "versions"], Value::from(versions));
    assert_eq!(
        texts(&check::create(&crd)),
        [
            "spec.versions[1].schema.openAPIV3Schema.type: Invalid value: \"string\": must be object at the root"
        ]
    );
}

#[test]
fn an_established_definition_keeps_its_scope_and_kind() {
    let mut old = definition(value!({ "type": "object" }));
    conditions(&mut old, [], "2026-01-01T00:00:00Z");
    let mut crd = old.clone();
    crd.set_at(&["spec", "scope"], "Cluster");
    crd.set_at(&["spec", "names", "kind"], "U");
    crd.set_at(&["spec", "group"], "u.example.com");
    assert_eq!(
        texts(&check::update(&crd, &old)),
        [
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "spec.names.kind: Invalid value: \"U\": field is immutable",
            "spec.group: Invalid value: \"u.example.com\": field is immutable",
        ]
    );
}

#[test]
fn a_definition_gets_its_names_and_is_established() {
    let mut crd = definition(value!({ "type": "object" }));
    crd.set_at(&["spec", "names", "shortNames"], value!(["tt"]));
    conditions(&mut crd, [], "2026-01-01T00:00:00Z");
    let status = parse(
        r#"{"storedVersions":["v1"],
            "acceptedNames":{"plural":"ts","singular":"t","kind":"T","listKind":"TList","shortNames":["tt"]},
            "conditions":[
              {"type":"NamesAccepted","status":"True","reason":"NoConflicts","message":"no conflicts found",
               "lastTransitionTime":"2026-01-01T00:00:00Z"},
              {"type":"Established","status":"True","reason":"InitialNamesAccepted",
               "message":"the initial names have been accepted","lastTransitionTime":"2026-01-01T00:00:00Z"}]}"#,
    );
    assert_eq!(crd.get("status"), Some(&status));
    let before = crd.clone();
    conditions(&mut crd, [], "2027-01-01T00:00:00Z");
    assert_eq!(crd, before, "nothing changes when nothing changed");
}

#[test]
fn names_that_others_have_are_refused() {
    let mut first = definition(value!({ "type": "object" }));
    first.set_at(&["spec", "names", "shortNames"], value!(["a", "b"]));
    conditions(&mut first, [], "2026-01-01T00:00:00Z");
    let mut second = definition(value!({ "type": "object" }));
    second.set_at(&["metadata", "name"], "us.t.example.com");
    second.set_at(
        &["spec", "names"],
        parse(r#"{"plural":"us","singular":"u","kind":"U","listKind":"UList","shortNames":["a","t"]}"#),
    );
    conditions(&mut second, [&first], "2026-01-01T00:00:00Z");
    let found = second.list_at(&["status", "conditions"]);
    assert_eq!(found[0].str_at(&["reason"]), "ShortNamesConflict");
    assert_eq!(
        found[0].str_at(&["message"]),
        "[\"a\" is already in use, \"t\" is already in use]"
    );
    assert_eq!(found[1].str_at(&["reason"]), "NotAccepted");
    assert!(!is_true(&second, "Established"));
    // Once the names are free, they are given.
    conditions(&mut second, [], "2026-01-02T00:00:00Z");
    assert!(is_true(&second, "Established"));
    assert_eq!(
        second.list_at(&["status", "acceptedNames", "shortNames"]).len(),
        2
    );
}
