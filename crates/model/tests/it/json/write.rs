//! Every expectation was compared with what kube-apiserver 1.35 sends or with Go 1.26's `encoding/json`.

use model::json::{parse, to_string, to_vec, write_pretty};
use model::{Map, Value, value};
use proptest::prelude::*;

#[test]
fn strings_are_escaped_as_the_api_server_does() {
    let text = "<>&'\"\\/\u{2028}\u{2029}\u{1}\u{8}\u{c}\n\r\t\u{7f}\u{80}é😀\u{fffd}…x";
    let expected =
        "\"\\u003c\\u003e\\u0026'\\\"\\\\/\\u2028\\u2029\\u0001\\b\\f\\n\\r\\t\u{7f}\u{80}é😀\u{fffd}…x\"";
    assert_eq!(to_string(&Value::str(text)), expected);
    assert_eq!(to_string(&value!({ "<": "" })), r#"{"\u003c":""}"#);
    assert_eq!(to_string(&Value::str("\u{1f}\0")), r#""\u001f\u0000""#);
}

#[test]
fn floats_are_written_as_go_writes_them() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (-1.25, "-1.25"),
        (100000000000000000000.0, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (0.000001, "0.000001"),
        (0.0000001, "1e-7"),
        (1.234e-9, "1.234e-9"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ];
    for (number, expected) in cases {
        assert_eq!(to_string(&Value::Float(number)), expected);
    }
}

#[test]
fn keys_are_written_in_the_order_of_the_map() {
    let mut map = Map::new();
    map.push("b".into(), Value::Int(i64::MIN));
    map.push("a".into(), value!([null, true, false, {}, []]));
    assert_eq!(
        to_string(&Value::Object(map)),
        r#"{"b":-9223372036854775808,"a":[null,true,false,{},[]]}"#
    );
}

#[test]
fn pretty_json_is_laid_out_as_kubectl_does() {
    let mut out = Vec::new();
    write_pretty(&value!({ "a": [1, { "b": {} }], "c": [] }), 4, &mut out);
    let expected = r#"{
    "a": [
        1,
        {
            "b": {}
        }
    ],
    "c": []
}"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

proptest! {
    #[test]
    fn strings_come_back_as_they_were(text: String) {
        let value = Value::str(&text);
        prop_assert_eq!(parse(&to_vec(&value)).unwrap(), value);
    }

    #[test]
    fn floats_come_back_as_they_were(number: f64) {
        prop_assume!(number.is_finite());
        let text = to_string(&Value::Float(number));
        prop_assert_eq!(parse(text.as_bytes()).unwrap().as_f64(), Some(number), "{}", text);
    }
}
