//! Comparing without a server.

use std::sync::Arc;

use engine::diff::{Drift, IgnoreRules, Normaliser, drift, drop_unreadable_authority, offline};
use model::{Value, value};
use smd::Schema;

const MANAGER: &str = "kustomize-controller";

fn service(port: i64, selector: &str) -> Value {
    value!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web", "namespace": "x" },
        "spec": { "ports": [{ "port": port, "name": "http" }], "selector": { "app": selector } } })
}

/// The object as the cluster has it after it was applied.
fn live(schema: &Schema, desired: &Value) -> Value {
    let mut live = offline(None, desired, schema, MANAGER).expect("it fits its type");
    live.set_at(&["metadata", "resourceVersion"], "1");
    live.set_at(&["spec", "clusterIP"], "10.0.0.1");
    live
}

fn names(live: &Value, desired: &Value, schema: &Schema) -> Vec<String> {
    let merged = offline(Some(live), desired, schema, MANAGER).expect("it fits its type");
    match drift(Some(live), &merged, &IgnoreRules::default()) {
        Drift::None => Vec::new(),
        Drift::Created => panic!("it is there"),
        Drift::Changed(fields) => fields.into_iter().map(|field| field.name).collect(),
    }
}

#[test]
fn changes_are_found_without_a_server() {
    let schema = Arc::new(Schema::builtin());
    let normaliser = Normaliser::new(Arc::clone(&schema));
    let desired = |port, selector: &str| {
        let mut object = service(port, selector);
        normaliser.normalise(&mut object);
        object
    };
    let live = live(&schema, &desired(80, "a"));
    assert!(names(&live, &desired(80, "a"), &schema).is_empty());
    assert_eq!(names(&live, &desired(80, "b"), &schema), [".spec.selector.app"]);
    assert_eq!(
        names(&live, &desired(81, "a"), &schema).len(),
        2,
        "one port comes and one goes"
    );
    let merged = offline(None, &desired(80, "a"), &schema, MANAGER).unwrap();
    assert_eq!(drift(None, &merged, &IgnoreRules::default()), Drift::Created);
}

#[test]
fn what_we_no_longer_want_goes_and_what_others_set_stays() {
    let schema = Schema::default();
    let thing = |spec: Value| value!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "a" }, "spec": spec });
    let mut live = offline(None, &thing(value!({ "a": 1, "b": 2 })), &schema, MANAGER).unwrap();
    live.set_at(&["metadata", "resourceVersion"], "1");
    live.set_at(&["spec", "c"], 3i64);
    assert_eq!(names(&live, &thing(value!({ "a": 1 })), &schema), [".spec.b"]);
}

#[test]
fn what_does_not_fit_its_type_is_refused() {
    let mut wrong = service(80, "a");
    wrong.set_at(&["spec", "nothing"], 1i64);
    assert!(offline(None, &wrong, &Schema::builtin(), MANAGER).is_err());
}

/// Servers refuse definitions with authorities that are none; Flux leaves them out.
#[test]
fn authorities_that_cannot_be_read_are_dropped() {
    let definition = |bundle: &str| {
        value!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": { "conversion": {
            "webhook": { "clientConfig": { "caBundle": bundle } } } } })
    };
    let path = ["spec", "conversion", "webhook", "clientConfig", "caBundle"];
    for (bundle, stays) in [("", true), ("Cg==", false), ("!!", false), (CERTIFICATE, true)] {
        let mut object = definition(bundle);
        drop_unreadable_authority(&mut object);
        assert_eq!(object.at(&path).is_some(), stays, "{bundle}");
    }
}

/// A certificate that signs itself, in base64.
const CERTIFICATE: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJkakNDQVJ1Z0F3SUJBZ0lVSDlDUStKUjVmR1N4OXJGKysvcmtxNk0rQ3VVd0NnWUlLb1pJemowRUF3SXcKRHpFTk1Bc0dBMVVFQXd3RWRHVnpkREFnRncweU5qRXhNVFl3T1RFMk5ESmFHQTh5TVRJMk1UQXlNekE1TVRZMApNbG93RHpFTk1Bc0dBMVVFQXd3RWRHVnpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCRWE1CnRWa0RtWlpTQjBGN2xlbmxRZ0IxMW5td0N2d21CYkFUWXlMT3pOWm5sa0hJbTVacURxMzdPZ3gyNUVtUXhWaTQKWG9LdGM0b2tZa2RpMVBlTVNrZWpVekJSTUIwR0ExVWREZ1FXQkJRem5GNGNWWGdac3Jad3ZSUXE2cTlGeW1pMQpkREFmQmdOVkhTTUVHREFXZ0JRem5GNGNWWGdac3Jad3ZSUXE2cTlGeW1pMWREQVBCZ05WSFJNQkFmOEVCVEFECkFRSC9NQW9HQ0NxR1NNNDlCQU1DQTBrQU1FWUNJUURqZUFNWmdzMDF3QTUvSHVYeHlJSDNPUGdiQVFuNG44a3IKRkg1WnJKTlJnQUloQU5SU2RXcFltVmJicysrR2hyOS9qWE9ZVTFEQlNFS01Vd0dCUGNDWExCMWIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
