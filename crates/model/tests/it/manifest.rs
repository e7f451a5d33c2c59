use model::manifest::{Origin, Problem};
use model::{Manifest, Value, value};

fn deployment() -> Value {
    value!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "shop", "name": "web" } })
}

fn origin() -> Option<Origin> {
    Some(Origin {
        file: "apps/web.yaml".into(),
        line: 12,
    })
}

#[test]
fn a_manifest_knows_what_it_is_and_where_it_came_from() {
    let manifest = Manifest::new(deployment(), origin()).unwrap();
    assert_eq!(
        (manifest.group(), manifest.version(), manifest.kind()),
        ("apps", "v1", "Deployment")
    );
    assert_eq!((manifest.namespace(), manifest.name()), ("shop", "web"));
    assert_eq!(manifest.key().to_string(), "Deployment/shop/web");
    assert_eq!(manifest.origin().unwrap().to_string(), "apps/web.yaml:12");
    assert_eq!(manifest.into_value(), deployment());
}

#[test]
fn a_value_that_cannot_be_applied_is_refused_with_the_place_and_the_field() {
    let message = |value: Value| Manifest::new(value, origin()).unwrap_err().to_string();
    assert_eq!(
        message(value!([])),
        "apps/web.yaml:12: a manifest must be an object, not array"
    );
    assert_eq!(
        message(value!({})),
        "apps/web.yaml:12: apiVersion of the manifest must be a non-empty string"
    );
    assert_eq!(
        message(value!({ "apiVersion": "v1", "metadata": { "name": "x" } })),
        "apps/web.yaml:12: kind of the manifest /x must be a non-empty string"
    );
    assert_eq!(
        message(value!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "a", "name": 5 } })),
        "apps/web.yaml:12: metadata.name of the manifest Pod/a/ must be a non-empty string"
    );
    let nowhere = Manifest::new(Value::Null, None).unwrap_err();
    assert_eq!(nowhere.to_string(), "a manifest must be an object, not null");
    assert_eq!(nowhere.problem, Problem::NotAnObject("null"));
}

#[test]
fn an_edited_manifest_is_checked_again() {
    let manifest = Manifest::new(deployment(), None).unwrap();
    let renamed = manifest
        .clone()
        .edit(|value| value.set_at(&["metadata", "name"], "db"))
        .unwrap();
    assert_eq!(renamed.name(), "db");
    assert!(manifest.edit(|value| *value = Value::Null).is_err());
}
