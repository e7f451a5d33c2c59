//! What holds for all schemas and objects.

use apiserver::crd::{Definition, check};
use apiserver::strategy::{Part, Strategy as _};
use model::{Map, Value, value};
use proptest::prelude::*;

use super::{definition, shared};

/// Any JSON.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i64..4).prop_map(Value::Int),
        Just(Value::Float(1.5)),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Things that look like schemas, right and wrong ones.
fn any_schema() -> impl Strategy<Value = Value> {
    let keyword = prop_oneof![
        ("[a-c]{0,2}|object|array|string|integer|number|boolean")
            .prop_map(|kind| ("type", Value::from(kind))),
        any_value().prop_map(|value| ("default", value)),
        any_value().prop_map(|value| ("enum", value)),
        (0i64..4).prop_map(|number| ("maxLength", Value::Int(number))),
        (0i64..4).prop_map(|number| ("minItems", Value::Int(number))),
        (-2i64..4).prop_map(|number| ("multipleOf", Value::Int(number))),
        any::<bool>().prop_map(|flag| ("nullable", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-preserve-unknown-fields", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-embedded-resource", Value::Bool(flag))),
        any::<bool>().prop_map(|flag| ("x-kubernetes-int-or-string", Value::Bool(flag))),
        "set|map|atomic|x".prop_map(|kind| ("x-kubernetes-list-type", Value::from(kind))),
        Just(("x-kubernetes-list-map-keys", value!(["a"]))),
        "[a\\[\\](){}*+?.^$|\\\\d]{0,6}".prop_map(|pattern| ("pattern", Value::from(pattern))),
        "date-time|uri|byte|duration|email|x".prop_map(|format| ("format", Value::from(format))),
        prop::sample::select(vec![
            "self",
            "oldSelf == self",
            "self.a == 1",
            "size(self) > 0",
            "self.all(x, x)",
            "[1]("
        ])
        .prop_map(|rule| ("x-kubernetes-validations", value!([{ "rule": rule }]))),
        any_value().prop_map(|value| ("required", value)),
    ];
    let node = prop::collection::vec(keyword, 0..4)
        .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map>()));
    node.prop_recursive(3, 20, 3, |inner| {
        let child = prop_oneof![
            ("[a-c]", inner.clone()).prop_map(|(name, node)| {
                (
                    "properties",
                    Value::Object([(name, node)].into_iter().collect::<Map>()),
                )
            }),
            inner.clone().prop_map(|node| ("items", node)),
            inner.clone().prop_map(|node| ("additionalProperties", node)),
            inner.clone().prop_map(|node| ("anyOf", Value::from(vec![node]))),
            inner.clone().prop_map(|node| ("not", node)),
        ];
        (inner, child).prop_map(|(mut node, (name, value))| {
            node.make_object().insert(name, value);
            node
        })
    })
}

/// Schemas that are accepted.
fn right_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(value!({ "type": "string", "minLength": 1 })),
        Just(value!({ "type": "string", "default": "x" })),
        Just(value!({ "type": "string", "default": "x", "nullable": true })),
        Just(value!({ "type": "integer", "maximum": 1 })),
        Just(value!({ "type": "boolean", "nullable": true })),
        Just(value!({ "x-kubernetes-int-or-string": true })),
        Just(value!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })),
        Just(value!({ "type": "object", "additionalProperties": true })),
    ];
    leaf.prop_recursive(3, 20, 3, |inner| {
        let fields = prop::collection::vec(("[a-c]", inner.clone()), 1..3);
        prop_oneof![
            (fields, any::<bool>(), any::<bool>()).prop_map(|(fields, nullable, default)| {
                let fields = Value::Object(fields.into_iter().collect::<Map>());
                let mut node = value!({ "type": "object", "properties": fields, "nullable": nullable });
                if default {
                    node.set_at(&["default"], value!({}));
                }
                node
            }),
            inner
                .clone()
                .prop_map(|node| value!({ "type": "array", "items": node })),
            inner.prop_map(|node| value!({ "type": "object", "additionalProperties": node })),
        ]
    })
}

fn root(schema: Value) -> Value {
    value!({ "type": "object", "properties": { "spec": schema } })
}

fn object(spec: Value) -> Value {
    value!({ "apiVersion": "t.example.com/v1", "kind": "T", "metadata": { "name": "x" }, "spec": spec })
}

proptest! {
    #[test]
    fn no_schema_and_no_object_makes_a_panic(schema in any_schema(), new in any_value(), old in any_value()) {
        let crd = definition(root(schema));
        let _ = check::create(&crd);
        // Also definitions that nobody would accept are read, and used.
        let read = Definition::read(&crd, &shared());
        let version = read.version("v1").unwrap();
        let (mut new, mut old) = (object(new), object(old));
        for object in [&mut new, &mut old] {
            let _ = version.decode(object);
            version.default(object);
        }
        let _ = version.validate_create(&new);
        let _ = version.validate_update(Part::Main, &new, &old);
        let _ = version.validate_update(Part::Status, &new, &old);
    }

    #[test]
    fn pruning_and_defaulting_twice_is_once(schema in right_schema(), spec in any_value()) {
        let crd = definition(root(schema));
        prop_assert_eq!(check::create(&crd), []);
        let read = Definition::read(&crd, &shared());
        let version = read.version("v1").unwrap();
        let mut once = object(spec);
        prop_assume!(version.decode(&mut once).is_ok());
        version.default(&mut once);
        let mut twice = once.clone();
        prop_assert_eq!(version.decode(&mut twice).unwrap(), Vec::<String>::new());
        version.default(&mut twice);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn what_did_not_change_is_not_held_against_an_update(schema in right_schema(), spec in any_value()) {
        let crd = definition(root(schema));
        let read = Definition::read(&crd, &shared());
        let version = read.version("v1").unwrap();
        let mut new = object(spec);
        prop_assume!(version.decode(&mut new).is_ok());
        version.default(&mut new);
        let created = version.validate_create(&new).len();
        let updated = version.validate_update(Part::Main, &new, &new).len();
        prop_assert!(updated <= created);
    }
}
