//! Laws that hold for all objects, and input that means harm.

use std::sync::Arc;

use engine::diff::expression::Expression;
use engine::diff::{Drift, IgnoreRule, IgnoreRules, Normaliser, Takeover, digest, drift, mask, unified};
use engine::health::cel::{Check, Checks};
use engine::health::{Overrides, Rules};
use model::{Map, Value, json};
use proptest::prelude::*;
use smd::Schema;

/// Values that objects are made of, with names that mean something to us.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i64..3).prop_map(Value::Int),
        Just(Value::Float(0.5)),
        "[a-c~/]{0,3}".prop_map(Value::from),
        Just(Value::str("Apply")),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let name = prop_oneof![
            "[a-c]",
            Just("name".to_owned()),
            Just("metadata".to_owned()),
            Just("labels".to_owned()),
            Just("annotations".to_owned()),
            Just("managedFields".to_owned()),
            Just("manager".to_owned()),
            Just("operation".to_owned()),
            Just("fieldsV1".to_owned()),
            Just("f:a".to_owned()),
            Just("f:spec".to_owned()),
            Just("k:{\"name\":\"a\"}".to_owned()),
            Just("v:1".to_owned()),
            Just("i:0".to_owned()),
            Just(".".to_owned()),
            Just("spec".to_owned()),
            Just("data".to_owned()),
            Just("status".to_owned()),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().collect::<Map>().into()),
        ]
    })
}

/// An object of some kind, with a version.
fn any_object() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        Just(("v1", "Secret")),
        Just(("v1", "ConfigMap")),
        Just(("apps/v1", "Deployment")),
        Just(("a/v1", "Thing"))
    ];
    (any_value(), any_value(), any_value(), kind).prop_map(|(metadata, spec, data, (version, kind))| {
        let mut object = Value::object();
        object.set_at(&["metadata"], metadata);
        object.set_at(&["metadata", "resourceVersion"], "1");
        object.set_at(&["spec"], spec);
        object.set_at(&["data"], data);
        object.set_at(&["apiVersion"], version);
        object.set_at(&["kind"], kind);
        object
    })
}

fn rules() -> IgnoreRules {
    IgnoreRules::new(&[IgnoreRule {
        paths: vec![
            "/spec/a".to_owned(),
            "/spec/a/0".to_owned(),
            "/metadata/labels/b".to_owned(),
        ],
        expressions: vec!["..|.c?".to_owned(), ".spec[]?|select(.name==\"a\")".to_owned()],
        managers: vec!["a".to_owned(), "Apply".to_owned(), String::new()],
        ..IgnoreRule::default()
    }])
    .expect("the rules are right")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_object_does_not_differ_from_itself(object in any_object()) {
        prop_assert_eq!(drift(Some(&object), &object, &IgnoreRules::default()), Drift::None);
        prop_assert_eq!(drift(Some(&object), &object, &rules()), Drift::None);
        prop_assert_eq!(unified(Some(&object), Some(&object)), "");
    }

    #[test]
    fn what_differs_is_named(a in any_object(), b in any_object()) {
        if let Drift::Changed(fields) = drift(Some(&a), &b, &IgnoreRules::default()) {
            prop_assert!(!fields.is_empty());
            prop_assert!(fields.iter().all(|field| field.live != field.desired));
        }
        // Nothing here may panic, whatever the objects are.
        let _ = drift(Some(&a), &b, &rules());
        let _ = rules().settle(&mut b.clone(), &a, &b, "a");
        let _ = Takeover::flux("a", "x", ["b"]).patch(&a, &b);
        let _ = unified(Some(&a), Some(&b));
    }

    #[test]
    fn equal_objects_and_no_others_have_one_digest(a in any_object(), b in any_object()) {
        prop_assert_eq!(digest(&a, &[]) == digest(&b, &[]), a == b);
    }

    #[test]
    fn masked_values_are_gone_and_differ_as_before(a in any_value(), b in any_value()) {
        let secret = |data: &Value| {
            let mut secret = model::value!({ "apiVersion": "v1", "kind": "Secret" });
            secret.set_at(&["data"], data.clone());
            secret
        };
        let (mut live, mut desired) = (secret(&a), secret(&b));
        let differs = live != desired;
        mask(Some(&mut live), Some(&mut desired));
        if let (Value::Object(_), Value::Object(_)) = (&a, &b) {
            prop_assert_eq!(live != desired, differs);
        }
        for object in [live, desired] {
            if let Some(Value::Object(data)) = object.get("data") {
                prop_assert!(data.values().all(|value| value.as_str().is_some_and(|text| text.starts_with("***"))));
            }
        }
    }

    #[test]
    fn texts_that_are_no_expressions_do_no_harm(text in "[.a-c\\[\\]()|,?\"/=<>0-9 -]{0,40}", object in any_object()) {
        if let Ok(expression) = Expression::read(&text) {
            let _ = expression.paths(&object);
        }
    }

    #[test]
    fn texts_that_are_no_checks_do_no_harm(text in "[a-c.?()\\[\\]{}'\"0-9 +!<>=&|,:-]{0,40}", object in any_object()) {
        let check = Check { api_version: "a/v1".to_owned(), current: text, ..Check::default() };
        if let Ok(checks) = Checks::new(&[check]) {
            let overrides = Overrides { cel: Some(checks), ..Overrides::from(Rules::Kstatus) };
            let _ = overrides.assess(&object, jiff::Timestamp::UNIX_EPOCH);
        }
    }
}

#[test]
fn normalising_twice_is_normalising_once() {
    let normaliser = Normaliser::new(Arc::new(Schema::builtin()));
    for case in super::recorded("normalise") {
        let mut object = case.get("object").expect("a case has an object").clone();
        normaliser.normalise(&mut object);
        let once = object.clone();
        normaliser.normalise(&mut object);
        assert_eq!(
            json::to_string(&object),
            json::to_string(&once),
            "{}",
            case.str_at(&["name"])
        );
    }
}
