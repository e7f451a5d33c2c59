//! What is written is read back.

use model::{Map, Value};
use proptest::prelude::*;

#[test]
fn maps_lists_and_texts_are_written_in_block_style() {
    let text = r#"{"a":{"b":[1,{"c":"x","d":[]},["y","no"]],"empty":{}},"many":"one\ntwo\n","s":"1.0","t":"a: b","u":"x y"}"#;
    let value = model::json::parse(text.as_bytes()).unwrap();
    let expected = "\
a:
  b:
  - 1
  - c: x
    d: []
  - - y
    - \"no\"
  empty: {}
many: |
  one
  two
s: \"1.0\"
t: \"a: b\"
u: x y
";
    let expected = expected.replace("- - y", "- - \"y\"");
    assert_eq!(yaml::write(&value), expected);
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        "[a-z :#\n\t-]{0,20}",
        any::<String>(),
        "[0-9yn.~e+_:-]{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-1e30..1e30f64).prop_map(Value::Float),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn what_is_written_is_read_back_as_it_was(value in any_value()) {
        let text = yaml::write(&value);
        let back = yaml::parse(text.as_bytes());
        prop_assert_eq!(back.as_ref(), Ok(&value), "{}", text);
    }
}
