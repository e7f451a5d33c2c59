use model::json;
use yaml::{Duplicates, Options, Order};

fn kept(text: &str) -> String {
    let options = Options {
        order: Order::Kept,
        ..Options::default()
    };
    json::to_string(&options.parse(text.as_bytes()).unwrap())
}

#[test]
fn keys_are_sorted_unless_their_order_is_to_be_kept() {
    let text = "b: {z: 1, x: 2}\na: 0\n";
    assert_eq!(
        json::to_string(&yaml::parse(text.as_bytes()).unwrap()),
        r#"{"a":0,"b":{"x":2,"z":1}}"#
    );
    assert_eq!(kept(text), r#"{"b":{"z":1,"x":2},"a":0}"#);
}

#[test]
fn a_repeated_key_keeps_its_first_place_and_its_last_value() {
    assert_eq!(kept("b: 1\na: 2\nb: 3\n"), r#"{"b":3,"a":2}"#);
    assert_eq!(
        kept("x: &x {c: 1, a: 2}\nw:\n  z: 0\n  <<: *x\n  a: 3\n"),
        r#"{"x":{"c":1,"a":2},"w":{"z":0,"c":1,"a":3}}"#
    );
}

#[test]
fn every_repeated_key_is_told_with_its_line() {
    let error = yaml::parse_strict(b"a: 1\nb: {c: 1, c: 2}\n'a': 3\n1: x\n1: y\n").unwrap_err();
    let expected = "yaml: unmarshal errors:\n  line 2: key \"c\" already set in map\n  line 3: key \"a\" already set in map\n  line 5: key 1 already set in map";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.line(), 2);
}

#[test]
fn repeated_keys_are_found_among_many() {
    let mut text: String = (0..100).map(|number| format!("k{number}: {number}\n")).collect();
    let strict = Options {
        duplicates: Duplicates::Refuse,
        order: Order::Kept,
    };
    assert!(strict.parse(text.as_bytes()).is_ok());
    text += "k7: 0\n";
    let error = strict.parse(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "yaml: unmarshal errors:\n  line 101: key \"k7\" already set in map"
    );
    let last = Options {
        order: Order::Kept,
        ..Options::default()
    }
    .parse(text.as_bytes())
    .unwrap();
    let map = last.as_object().unwrap();
    assert_eq!(map.len(), 100);
    assert_eq!(map.get("k7").and_then(model::Value::as_i64), Some(0));
    assert_eq!(map.keys().nth(7), Some("k7"));
}
