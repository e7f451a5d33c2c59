//! Objects of custom kinds: subresources, generations, versions, columns and selectors.

use apiserver::crd::Definition;
use apiserver::strategy::{Part, Strategy};
use model::{Value, value};

use super::{definition, parse, shared, texts};

const VERSIONS: &str = r#"[
    {"name":"v1","served":true,"storage":true,
     "schema":{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","properties":{
            "replicas":{"type":"integer"},"name":{"type":"string"},"size":{"type":"integer","default":3},
            "template":{"type":"object","x-kubernetes-embedded-resource":true,
                        "x-kubernetes-preserve-unknown-fields":true}}},
        "status":{"type":"object","properties":{"replicas":{"type":"integer"},"selector":{"type":"string"}}}}}},
     "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas",
                                          "labelSelectorPath":".status.selector"}},
     "selectableFields":[{"jsonPath":".spec.name"},{"jsonPath":".spec.size"}],
     "additionalPrinterColumns":[
        {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
        {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]},
    {"name":"v2","served":true,"storage":false,"deprecated":true,
     "schema":{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","properties":{"replicas":{"type":"integer"},"extra":{"type":"string","default":"x"}}}}}}}
]"#;

fn example() -> Definition {
    let mut crd = definition(Value::Null);
    crd.set_at(&["spec", "versions"], parse(VERSIONS));
    Definition::compile(&crd, &shared()).unwrap()
}

fn object(spec: Value) -> Value {
    value!({ "apiVersion": "t.example.com/v1", "kind": "T", "metadata": { "name": "x" }, "spec": spec })
}

#[test]
fn a_new_object_has_no_status_and_the_first_generation() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let mut new = object(value!({ "replicas": 1 }));
    new.set_at(&["status", "replicas"], 5i64);
    version.prepare_create(&mut new);
    assert_eq!(new.get("status"), None);
    assert_eq!(new.at(&["metadata", "generation"]), Some(&Value::Int(1)));
}

#[test]
fn only_changes_beyond_metadata_and_status_raise_the_generation() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let mut old = object(value!({ "replicas": 1 }));
    old.set_at(&["metadata", "generation"], 4i64);
    old.set_at(&["status", "replicas"], 1i64);
    let generation = |change: &dyn Fn(&mut Value), part| {
        let mut new = old.clone();
        change(&mut new);
        version.prepare_update(part, &mut new, &old);
        (
            new.at(&["metadata", "generation"]).and_then(Value::as_i64),
            new.at(&["status", "replicas"]).cloned(),
        )
    };
    let label = |new: &mut Value| new.set_at(&["metadata", "labels", "a"], "b");
    let spec = |new: &mut Value| new.set_at(&["spec", "replicas"], 2i64);
    let status = |new: &mut Value| new.set_at(&["status", "replicas"], 9i64);
    assert_eq!(generation(&label, Part::Main), (Some(4), Some(Value::Int(1))));
    assert_eq!(generation(&spec, Part::Main), (Some(5), Some(Value::Int(1))));
    assert_eq!(generation(&status, Part::Main), (Some(4), Some(Value::Int(1))));
    assert_eq!(generation(&status, Part::Status), (Some(4), Some(Value::Int(9))));
    assert_eq!(generation(&spec, Part::Status), (Some(4), Some(Value::Int(1))));
}

#[test]
fn an_object_of_another_kind_is_refused() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let mut other = object(value!({}));
    other.set_at(&["kind"], "U");
    other.set_at(&["apiVersion"], "t.example.com/v2");
    assert_eq!(
        texts(&version.validate_create(&other)),
        [
            "kind: Invalid value: \"U\": must be T",
            "apiVersion: Invalid value: \"t.example.com/v2\": must be t.example.com/v1",
        ]
    );
}

#[test]
fn metadata_is_read_as_that_of_every_kind() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let mut new = object(value!({ "foo": 1, "template": { "metadata": { "bar": 1 }, "x": { "y": 1 } } }));
    new.set_at(&["metadata", "labels"], value!({ "a": "b" }));
    new.set_at(&["metadata", "nope"], 1i64);
    let unknown = version.decode(&mut new).unwrap();
    assert_eq!(
        unknown,
        ["metadata.nope", "spec.foo", "spec.template.metadata.bar"]
    );
    assert_eq!(
        new,
        parse(
            r#"{"apiVersion":"t.example.com/v1","kind":"T","metadata":{"name":"x","labels":{"a":"b"}},
                "spec":{"template":{"metadata":{},"x":{"y":1}}}}"#
        )
    );
    let mut wrong = object(value!({}));
    wrong.set_at(&["metadata", "labels"], value!({ "a": 1 }));
    assert_eq!(
        version.decode(&mut wrong).unwrap_err().message,
        "T in version \"v1\" cannot be handled as a T: json: cannot unmarshal number into Go struct field \
         ObjectMeta.labels of type string"
    );
}

#[test]
fn resources_inside_of_others_need_a_type() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let new = object(value!({ "template": { "kind": "a b", "metadata": { "labels": { "x": "-" } } } }));
    assert_eq!(
        texts(&version.validate_create(&new)),
        [
            "spec.template.apiVersion: Required value",
            "spec.template.kind: Invalid value: \"a b\": may have mixed case, but should otherwise match: a DNS-1035 \
             label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and \
             end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
             '[a-z]([-a-z0-9]*[a-z0-9])?')",
            "spec.template.metadata.labels: Invalid value: \"-\": a valid label must be an empty string or consist of \
             alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
             'MyValue',  or 'my_value',  or '12345', regex used for validation is \
             '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ]
    );
}

#[test]
fn what_the_stored_version_does_not_know_is_not_stored() {
    let definition = example();
    let (stored, other) = (
        definition.version("v1").unwrap(),
        definition.version("v2").unwrap(),
    );
    let spec = value!({ "replicas": 1, "unknown": "n" });
    let mut new = object(spec.clone());
    definition.store(&mut new, other);
    assert_eq!(new.get("spec"), Some(&value!({ "replicas": 1 })));
    let mut new = object(spec.clone());
    definition.store(&mut new, stored);
    assert_eq!(
        new.get("spec"),
        Some(&spec),
        "what comes in the stored version was pruned already"
    );
    assert_eq!(
        other.deprecation_warning.as_deref(),
        Some("t.example.com/v2 T is deprecated")
    );
}

#[test]
fn a_webhook_that_would_be_needed_is_named_in_the_error() {
    let mut crd = definition(Value::Null);
    crd.set_at(&["spec", "versions"], parse(VERSIONS));
    crd.set_at(
        &["spec", "conversion"],
        parse(
            r#"{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
                "clientConfig":{"url":"https://example.com"}}}"#,
        ),
    );
    let definition = Definition::compile(&crd, &shared()).unwrap();
    definition
        .check_conversion(definition.version("v1").unwrap())
        .unwrap();
    let error = definition.check_conversion(definition.version("v2").unwrap());
    let error = error.unwrap_err();
    assert!(error.message.contains("this server calls no webhooks"), "{error}");
}

#[test]
fn the_scale_is_read_and_set_at_its_paths() {
    let definition = example();
    let scale = definition.version("v1").unwrap().scale.clone().unwrap();
    let mut new = object(value!({ "replicas": 3 }));
    new.set_at(&["metadata", "uid"], "u");
    new.set_at(&["status"], value!({ "replicas": 2, "selector": "a=b" }));
    assert_eq!(
        scale.get(&new).unwrap(),
        parse(
            r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"x","uid":"u"},
                "spec":{"replicas":3},"status":{"replicas":2,"selector":"a=b"}}"#
        )
    );
    scale.set(&mut new, &value!({ "spec": { "replicas": 7 } }));
    assert_eq!(new.at(&["spec", "replicas"]), Some(&Value::Int(7)));
    let without = scale.get(&object(value!({}))).unwrap_err();
    assert_eq!(
        without.message,
        "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist"
    );
}

#[test]
fn replicas_are_not_negative() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    assert_eq!(
        texts(&version.validate_create(&object(value!({ "replicas": (-1i64) })))),
        [".spec.replicas: Invalid value: -1: should be a non-negative integer"]
    );
}

#[test]
fn fields_can_be_selected_by() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let found = version.selectable(&object(value!({ "size": 3 })));
    assert_eq!(
        found,
        [("spec.name".into(), "".into()), ("spec.size".into(), "3".into())]
    );
    assert_eq!(version.field_label("spec.name"), Ok("spec.name"));
    assert_eq!(
        version.field_label("metadata.namespace"),
        Ok("metadata.namespace")
    );
    assert_eq!(
        version.field_label("spec.foo"),
        Err("field label not supported: spec.foo".into())
    );
}

#[test]
fn columns_find_their_values() {
    let definition = example();
    let columns = &definition.version("v1").unwrap().columns;
    assert_eq!(columns.len(), 2);
    let new = object(value!({ "replicas": 3 }));
    assert_eq!((columns[0].find)(&new), Some(&Value::Int(3)));
    assert_eq!((columns[1].find)(&new), None);
}

#[test]
fn finalizers_without_a_domain_are_warned_of() {
    let definition = example();
    let version = definition.version("v1").unwrap();
    let mut new = object(value!({}));
    new.set_at(
        &["metadata", "finalizers"],
        value!(["a", "b.c", "d.e/f", "orphan"]),
    );
    let why = "to avoid accidental conflicts with other finalizer writers";
    assert_eq!(
        version.warnings(&new),
        [
            format!("metadata.finalizers: \"a\": prefer a domain-qualified finalizer name {why}"),
            format!(
                "metadata.finalizers: \"b.c\": prefer a domain-qualified finalizer name including a path (/) {why}"
            ),
        ]
    );
}

#[test]
fn what_is_stored_is_shown_with_the_defaults_of_the_stored_version() {
    let definition = example();
    let stored = object(value!({ "replicas": 1, "gone": true }));
    let show = |name: &str| {
        let mut shown = stored.clone();
        definition.show(&mut shown, definition.version(name).unwrap());
        shown.remove_at(&["spec"]).unwrap()
    };
    assert_eq!(show("v1"), value!({ "replicas": 1, "size": 3 }));
    assert_eq!(show("v2"), value!({ "replicas": 1 }));
}
