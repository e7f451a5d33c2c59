//! Ignore rules beyond those of Flux, and who owns what differs.

use engine::diff::{Drift, Field, IgnoreRule, IgnoreRules, drift};
use model::{Value, value};

fn deployment() -> Value {
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "web", "resourceVersion": "7", "managedFields": [
            { "manager": "kustomize-controller", "operation": "Apply", "time": "2024-01-01T00:00:00Z", "fieldsV1": {
                "f:spec": { "f:replicas": {}, "f:template": { "f:spec": { "f:containers": {
                    "k:{\"name\":\"app\"}": { ".": {}, "f:name": {}, "f:image": {} } } } } } } },
            { "manager": "scaler", "operation": "Update", "time": "2024-01-02T00:00:00Z", "subresource": "scale", "fieldsV1": {
                "f:spec": { "f:replicas": {} } } },
            { "manager": "injector", "operation": "Apply", "time": "2024-01-03T00:00:00Z", "fieldsV1": {
                "f:metadata": { "f:annotations": { "f:injected": {} } },
                "f:spec": { "f:template": { "f:spec": { "f:containers": {
                    "k:{\"name\":\"sidecar\"}": { ".": {}, "f:name": {}, "f:image": {} } } } } } } },
        ] },
        "spec": { "replicas": 5, "template": { "spec": { "containers": [
            { "name": "app", "image": "app:1" }, { "name": "sidecar", "image": "side:1" } ] } } },
    })
}

fn image_of_sidecar(object: &mut Value, image: &str) {
    let containers = object.at_mut(&["spec", "template", "spec", "containers"]);
    let containers = containers
        .and_then(Value::as_array_mut)
        .expect("it has containers");
    containers[1].set_at(&["image"], image);
}

/// The live object with some fields changed.
fn changed(live: &Value) -> Value {
    let mut merged = live.clone();
    merged.set_at(&["spec", "replicas"], 3i64);
    image_of_sidecar(&mut merged, "side:2");
    merged
}

fn fields(live: &Value, merged: &Value, rules: &[IgnoreRule]) -> Vec<Field> {
    match drift(
        Some(live),
        merged,
        &IgnoreRules::new(rules).expect("the rules are right"),
    ) {
        Drift::Changed(fields) => fields,
        Drift::None => Vec::new(),
        Drift::Created => panic!("it is there"),
    }
}

fn names(fields: &[Field]) -> Vec<&str> {
    fields.iter().map(|field| field.name.as_str()).collect()
}

#[test]
fn each_differing_field_has_its_owner() {
    let live = deployment();
    let found = fields(&live, &changed(&live), &[]);
    let owners: Vec<_> = found
        .iter()
        .map(|field| {
            (
                field.name.as_str(),
                field.path.as_str(),
                field.owner.as_deref(),
                field.operation.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        owners,
        [
            (".spec.replicas", "/spec/replicas", Some("scaler"), Some("Update")),
            (
                ".spec.template.spec.containers[name=\"sidecar\"].image",
                "/spec/template/spec/containers/1/image",
                Some("injector"),
                Some("Apply")
            ),
        ]
    );
    assert_eq!(
        (&found[0].live, &found[0].desired),
        (&Some(value!(5)), &Some(value!(3)))
    );
}

#[test]
fn fields_are_ignored_by_expression() {
    let live = deployment();
    let rule = IgnoreRule {
        expressions: vec![".spec.template.spec.containers[] | select(.name == \"sidecar\")".to_owned()],
        ..IgnoreRule::default()
    };
    assert_eq!(
        names(&fields(&live, &changed(&live), &[rule])),
        [".spec.replicas"]
    );
}

#[test]
fn fields_are_ignored_by_manager() {
    let live = deployment();
    let rule = |manager: &str| IgnoreRule {
        managers: vec![manager.to_owned()],
        ..IgnoreRule::default()
    };
    let merged = changed(&live);
    let sidecar = ".spec.template.spec.containers[name=\"sidecar\"].image";
    assert_eq!(names(&fields(&live, &merged, &[rule("scaler")])), [sidecar]);
    assert_eq!(
        names(&fields(&live, &merged, &[rule("injector")])),
        [".spec.replicas"]
    );
    assert!(fields(&live, &merged, &[rule("injector"), rule("scaler")]).is_empty());
    assert_eq!(fields(&live, &merged, &[rule("nobody")]).len(), 2);
}

#[test]
fn what_a_manager_added_is_ignored_too() {
    let mut live = deployment();
    let mut merged = live.clone();
    live.set_at(&["metadata", "annotations", "injected"], "yes");
    let containers = merged
        .at_mut(&["spec", "template", "spec", "containers"])
        .unwrap();
    containers.as_array_mut().unwrap().remove(1);
    assert_eq!(fields(&live, &merged, &[]).len(), 2);
    let rule = IgnoreRule {
        managers: vec!["injector".to_owned()],
        ..IgnoreRule::default()
    };
    assert!(fields(&live, &merged, &[rule]).is_empty());
}

/// AP8 for rules that Flux has not: what is ignored by expression or manager is kept as well.
#[test]
fn ignored_fields_of_all_rules_are_kept_when_applying() {
    let live = deployment();
    let merged = changed(&live);
    let rules = IgnoreRules::new(&[IgnoreRule {
        expressions: vec![
            ".spec.template.spec.containers[] | select(.name == \"sidecar\") | .image".to_owned(),
        ],
        managers: vec!["scaler".to_owned()],
        ..IgnoreRule::default()
    }])
    .unwrap();
    // The order of the list is not that of the cluster.
    let mut applied = value!({ "spec": { "replicas": 3, "template": { "spec": { "containers": [
        { "name": "sidecar", "image": "side:2" }, { "name": "app", "image": "app:1" } ] } } } });
    rules
        .settle(&mut applied, &live, &merged, "kustomize-controller")
        .unwrap();
    let wanted = value!({ "spec": { "replicas": 5, "template": { "spec": { "containers": [
        { "name": "sidecar" }, { "name": "app", "image": "app:1" } ] } } } });
    assert_eq!(applied, wanted);
}

#[test]
fn rules_that_cannot_be_read_are_refused() {
    let target = |kind: &str| IgnoreRule {
        target: Some(engine::diff::ignore::Target {
            kind: kind.to_owned(),
            ..Default::default()
        }),
        ..IgnoreRule::default()
    };
    let paths = |path: &str| IgnoreRule {
        paths: vec![path.to_owned()],
        ..IgnoreRule::default()
    };
    for rule in [target("("), paths("spec/replicas")] {
        assert!(IgnoreRules::new(&[rule]).is_err());
    }
}

/// Values of Secrets are in no field.
#[test]
fn fields_of_secrets_are_masked() {
    let secret = |text: &str| value!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "resourceVersion": "1" }, "data": { "a": text } });
    let found = fields(&secret("b2xk"), &secret("bmV3"), &[]);
    assert_eq!(found[0].live, Some(value!("*** (before)")));
    assert_eq!(found[0].desired, Some(value!("*** (after)")));
}
