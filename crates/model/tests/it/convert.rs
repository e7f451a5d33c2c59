use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use model::convert::{from_serde, to_serde};
use model::{Map, Value, json, value};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

fn deployment() -> Value {
    value!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "namespace": "shop", "labels": { "app": "web" }, "creationTimestamp": "2026-01-02T03:04:05Z" },
        "spec": {
            "replicas": 3,
            "selector": { "matchLabels": { "app": "web" } },
            "strategy": { "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": 0 } },
            "template": { "spec": { "containers": [{
                "name": "web",
                "image": "nginx:1.27",
                "resources": { "limits": { "cpu": "500m" } },
                "readinessProbe": { "httpGet": { "port": "http" } },
            }] } },
        },
    })
}

#[test]
fn a_typed_object_is_read_out_of_a_value_and_comes_back_the_same() {
    let read: Deployment = to_serde(&deployment()).unwrap();
    assert_eq!(read.metadata.name.as_deref(), Some("web"));
    let spec = read.spec.as_ref().unwrap();
    assert_eq!(spec.replicas, Some(3));
    let rolling = spec
        .strategy
        .as_ref()
        .and_then(|strategy| strategy.rolling_update.as_ref())
        .unwrap();
    assert_eq!(rolling.max_surge, Some(IntOrString::String("25%".to_owned())));
    assert_eq!(rolling.max_unavailable, Some(IntOrString::Int(0)));
    assert_eq!(from_serde(&read).unwrap(), deployment());
}

#[test]
fn binary_data_passes_as_base64() {
    let source =
        value!({ "apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": { "password": "c2VjcmV0" } });
    let secret: Secret = to_serde(&source).unwrap();
    assert_eq!(secret.data.as_ref().unwrap()["password"].0, b"secret");
    assert_eq!(from_serde(&secret).unwrap(), source);
}

#[test]
fn a_value_of_the_wrong_type_is_refused_in_serdes_words() {
    let mut wrong = deployment();
    wrong.set_at(&["spec", "replicas"], "three");
    let error = to_serde::<Deployment>(&wrong).unwrap_err().to_string();
    assert_eq!(error, "invalid type: string \"three\", expected i32");
    let error = to_serde::<Service>(&deployment()).unwrap_err().to_string();
    assert_eq!(error, "invalid value: string \"apps/v1\", expected v1");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    name: String,
    ratio: f32,
    letter: char,
    nothing: (),
    maybe: Option<Box<Everything>>,
    shapes: Vec<Shape>,
    by_number: BTreeMap<u16, bool>,
    by_flag: BTreeMap<bool, i8>,
    big: u64,
    rest: Value,
    map: Map,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i64, i64),
    Box { width: u8, height: u8 },
}

fn everything() -> Everything {
    let inner = Everything {
        name: "inner".to_owned(),
        ratio: 0.5,
        letter: 'é',
        nothing: (),
        maybe: None,
        shapes: vec![
            Shape::Point,
            Shape::Circle(1.5),
            Shape::Line(-1, 2),
            Shape::Box { width: 1, height: 2 },
        ],
        by_number: [(10, true), (9, false)].into(),
        by_flag: [(false, -1)].into(),
        big: u64::MAX / 2,
        rest: deployment(),
        map: [("b", 1i64), ("a", 2)].into_iter().collect(),
    };
    Everything {
        maybe: Some(Box::new(inner)),
        ..everything_else()
    }
}

fn everything_else() -> Everything {
    let empty = Value::Null;
    Everything {
        name: String::new(),
        ratio: 0.0,
        letter: 'x',
        nothing: (),
        maybe: None,
        shapes: vec![],
        by_number: BTreeMap::new(),
        by_flag: BTreeMap::new(),
        big: 0,
        rest: empty,
        map: Map::new(),
    }
}

#[test]
fn every_shape_of_serde_comes_out_as_in_serde_json_and_back() {
    let ours = from_serde(&everything()).unwrap();
    let theirs = serde_json::to_string(&everything()).unwrap();
    assert_eq!(ours, json::parse(theirs.as_bytes()).unwrap());
    assert_eq!(to_serde::<Everything>(&ours).unwrap(), everything());
}

#[test]
fn a_list_that_is_too_long_is_refused() {
    assert!(to_serde::<(i64, i64)>(&value!([1, 2])).is_ok());
    assert!(to_serde::<(i64, i64)>(&value!([1, 2, 3])).is_err());
    assert!(to_serde::<(i64, i64)>(&value!([1])).is_err());
}

#[test]
fn numbers_beyond_64_bits_become_floats_and_nan_becomes_null() {
    assert_eq!(from_serde(&u64::MAX).unwrap(), Value::Float(u64::MAX as f64));
    assert!(from_serde(&f64::NAN).unwrap().is_null());
    assert!(matches!(
        serde_json::from_str("18446744073709551615").unwrap(),
        Value::Float(_)
    ));
}

proptest! {
    #[test]
    fn a_value_is_itself_to_serde(text in r#"[\[\]{},:"0-9a-c. ]{0,16}"#) {
        if let Ok(value) = json::parse(text.as_bytes()) {
            prop_assert_eq!(&from_serde(&value).unwrap(), &value);
            prop_assert_eq!(&to_serde::<Value>(&value).unwrap(), &value);
        }
    }
}
