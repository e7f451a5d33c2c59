//! Whatever a client sends, built-in kinds answer and do not panic.

use std::sync::{Arc, LazyLock};

use apiserver::builtin::{admission, convert, service};
use apiserver::strategy::{Part, Strategy as KindStrategy};
use model::{Map, Value};
use proptest::prelude::*;
use smd::schema::Gvk;

use super::{Fixed, Server, cases, kind};

/// A well-formed object of a kind.
struct Sample {
    gvk: Gvk,
    strategy: Arc<dyn KindStrategy>,
    object: Value,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let server = Server::new();
    let cases = cases().into_values();
    cases
        .filter(|(_, answer)| answer.get("answer").is_some())
        .map(|(case, _)| {
            let (gvk, _) = kind(&server.catalog, case.str_at(&["path"]));
            Sample {
                strategy: server.strategy(&gvk),
                gvk,
                object: case.get("given").unwrap().clone(),
            }
        })
        .collect()
});

/// Values of any shape, with keys that fields have.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>()
            .prop_filter("JSON has no such number", |n| n.is_finite())
            .prop_map(Value::Float),
        "[-+]?[0-9.]{0,30}[eEinumkKMGTP]{0,2}[-+0-9]{0,12}".prop_map(Value::from),
        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})"
            .prop_map(Value::from),
        "[A-Za-z0-9+/=]{0,9}".prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        "spec",
        "name",
        "template",
        "containers",
        "metadata",
        "labels",
        ".{0,4}"
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|pairs| Map::from_iter(pairs).into()),
        ]
    })
}

/// Puts `new` in the place of the `at`th value of the tree.
fn replace(tree: &mut Value, at: &mut usize, new: &Value) {
    if *at == 0 {
        *tree = new.clone();
    }
    *at = at.wrapping_sub(1);
    match tree {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, new)),
        Value::Object(map) => map.iter_mut().for_each(|(_, value)| replace(value, at, new)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_value_in_any_place_is_read_or_refused(sample in 0usize..1000, at in 1usize..60, new in any_value()) {
        let sample = &SAMPLES[sample % SAMPLES.len()];
        let mut object = sample.object.clone();
        replace(&mut object, &mut { at }, &new);
        let strategy = &sample.strategy;
        if strategy.decode(&mut object).is_err() {
            return Ok(());
        }
        let before = object.clone();
        prop_assert_eq!(strategy.decode(&mut object), Ok(Vec::new()));
        prop_assert_eq!(&object, &before);

        strategy.default(&mut object);
        let before = object.clone();
        prop_assert_eq!(strategy.decode(&mut object), Ok(Vec::new()));
        strategy.default(&mut object);
        prop_assert_eq!(&object, &before);

        let mut new = object.clone();
        admission::service_account(&mut new, None);
        admission::default_tolerations(&mut new);
        admission::storage_protection(&sample.gvk.kind, &mut new);
        strategy.prepare_create(&mut new);
        strategy.prepare_update(Part::Main, &mut object.clone(), &new);
        strategy.prepare_update(Part::Status, &mut object.clone(), &new);
        strategy.selectable(&new);
        if sample.gvk.kind == "Service" {
            service::allocate(&mut new, &mut Fixed(0));
            service::reallocate(&mut object, &new, &mut Fixed(0));
        }
        convert::convert(&mut new, &sample.gvk, &convert::stored_as(&sample.gvk));
    }
}
