//! Every expectation was compared with Go 1.26's `encoding/json`.

use model::json::{self, MAX_DEPTH, parse};
use model::{Value, value};
use proptest::prelude::*;

fn parsed(text: &str) -> Value {
    parse(text.as_bytes()).unwrap()
}

fn message(input: impl AsRef<[u8]>) -> String {
    parse(input.as_ref()).unwrap_err().to_string()
}

#[test]
fn reads_every_kind_of_value() {
    let read = parsed(
        r#" { "a" : [ 1 , -2.5 , "x" , true , false , null , { } , [ ] ] , "b" : {"c":{"d":[[1]]}} } "#,
    );
    let expected = value!({
        "a": [1, (-2.5), "x", true, false, null, {}, []],
        "b": { "c": { "d": [[1]] } },
    });
    assert_eq!(read, expected);
}

#[test]
fn maps_come_out_sorted_and_the_last_of_equal_keys_wins() {
    let read = parsed(r#"{"b":1,"a":2,"c":3,"a":4,"b":5}"#);
    assert_eq!(json::to_string(&read), r#"{"a":4,"b":5,"c":3}"#);
    assert!(read.as_object().unwrap().is_sorted());
}

#[test]
fn whole_numbers_that_fit_are_whole_and_all_others_floats() {
    for (text, number) in [
        ("0", 0),
        ("-0", 0),
        ("42", 42),
        ("-9223372036854775808", i64::MIN),
    ] {
        assert!(
            matches!(parsed(text), Value::Int(read) if read == number),
            "{text}"
        );
    }
    for (text, number) in [
        ("1.0", 1.0),
        ("1e2", 100.0),
        ("9223372036854775808", 9223372036854775808.0),
        ("-0.0", -0.0),
    ] {
        assert!(
            matches!(parsed(text), Value::Float(read) if read == number),
            "{text}"
        );
    }
    assert!(matches!(parsed("1e-400"), Value::Float(0.0)));
}

#[test]
fn escapes_are_taken_out() {
    assert_eq!(
        parsed(r#""\"\\\/\b\f\n\r\tA\u00e9\u20AC\ud83d\ude00""#).as_str(),
        Some("\"\\/\u{8}\u{c}\n\r\tAé€😀")
    );
    assert_eq!(parsed(r#""\u003c\u0000""#).as_str(), Some("<\0"));
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    assert_eq!(parsed(r#""\ud800x""#).as_str(), Some("\u{fffd}x"));
    assert_eq!(parsed(r#""\ud800\u0041""#).as_str(), Some("\u{fffd}A"));
    assert_eq!(parsed(r#""\ud800\ud83d\ude00""#).as_str(), Some("\u{fffd}😀"));
    assert_eq!(parsed(r#""\ude00\ud83d""#).as_str(), Some("\u{fffd}\u{fffd}"));
    assert_eq!(parsed(r#""\ud83d\n""#).as_str(), Some("\u{fffd}\n"));
}

#[test]
fn each_byte_that_is_no_utf8_becomes_one_replacement_character() {
    let read = parse(b"[\"\xe2\x82 x\", \"\xff\xfe\", \"a\\n\xc3\xa9\xed\xa0\x80\"]").unwrap();
    let expected = value!([
        "\u{fffd}\u{fffd} x",
        "\u{fffd}\u{fffd}",
        "a\né\u{fffd}\u{fffd}\u{fffd}"
    ]);
    assert_eq!(read, expected);
}

#[test]
fn syntax_errors_are_told_in_gos_words() {
    let cases: &[(&str, &str)] = &[
        ("", "unexpected end of JSON input"),
        ("  ", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        (r#"{"a""#, "unexpected end of JSON input"),
        (r#"{"a":"#, "unexpected end of JSON input"),
        (r#"{"a":1"#, "unexpected end of JSON input"),
        (r#"{"a":1,"#, "unexpected end of JSON input"),
        ("[1", "unexpected end of JSON input"),
        ("-", "invalid character ' ' in numeric literal"),
        (
            "1.",
            "invalid character ' ' after decimal point in numeric literal",
        ),
        ("1e", "invalid character ' ' in exponent of numeric literal"),
        ("1e+", "invalid character ' ' in exponent of numeric literal"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        (r#""abc"#, "unexpected end of JSON input"),
        (r#""abc\"#, "invalid character ' ' in string escape code"),
        (
            r#""\u12"#,
            "invalid character ' ' in \\u hexadecimal character escape",
        ),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("'a'", r"invalid character '\'' looking for beginning of value"),
        ("+1", "invalid character '+' looking for beginning of value"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        (
            "{1:2}",
            "invalid character '1' looking for beginning of object key string",
        ),
        (
            r#"{"a":1,}"#,
            "invalid character '}' looking for beginning of object key string",
        ),
        (r#"{"a" 1}"#, "invalid character '1' after object key"),
        (
            r#"{"a":1 "b":2}"#,
            r#"invalid character '"' after object key:value pair"#,
        ),
        (r#"{"a":1]"#, "invalid character ']' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1}", "invalid character '}' after array element"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("01", "invalid character '1' after top-level value"),
        ("-x", "invalid character 'x' in numeric literal"),
        (
            "1.x",
            "invalid character 'x' after decimal point in numeric literal",
        ),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ("fals3", "invalid character '3' in literal false (expecting 'e')"),
        ("nil", "invalid character 'i' in literal null (expecting 'u')"),
        ("\"a\nb\"", r"invalid character '\n' in string literal"),
        ("\"a\u{1}\"", r"invalid character '\x01' in string literal"),
        (r#""\q""#, "invalid character 'q' in string escape code"),
        (
            r#""\u12g4""#,
            r"invalid character 'g' in \u hexadecimal character escape",
        ),
        ("\\", r"invalid character '\\' looking for beginning of value"),
        (
            "\u{7f}",
            r"invalid character '\x7f' looking for beginning of value",
        ),
        ("é", "invalid character 'Ã' looking for beginning of value"),
    ];
    for (input, expected) in cases {
        assert_eq!(&message(input), expected, "{input:?}");
    }
    assert_eq!(
        message(b"\x80"),
        r"invalid character '\u0080' looking for beginning of value"
    );
    assert_eq!(
        message(b"\xa0"),
        r"invalid character '\u00a0' looking for beginning of value"
    );
    assert_eq!(
        message(b"\xff"),
        "invalid character 'ÿ' looking for beginning of value"
    );
}

#[test]
fn errors_say_where_they_are() {
    let error = parse(b"{\n  \"a\": 1,\n  b\n}").unwrap_err();
    assert_eq!((error.offset, error.line), (14, 3));
    let error = parse(b"[1,\n").unwrap_err();
    assert_eq!((error.offset, error.line), (4, 2));
}

#[test]
fn a_number_that_no_float_can_hold_is_refused_unless_the_syntax_is_wrong_too() {
    assert_eq!(
        message("[1e400]"),
        "json: cannot unmarshal number 1e400 into Go value of type float64"
    );
    assert_eq!(message("[1e400"), "unexpected end of JSON input");
    assert_eq!(
        message("[1e400,-2e999]"),
        "json: cannot unmarshal number 1e400 into Go value of type float64"
    );
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(
        message(nested(MAX_DEPTH + 1)),
        "invalid character '[' exceeded max depth"
    );
    assert_eq!(
        message(r#"{"a":"#.repeat(1_000_000)),
        "invalid character '{' exceeded max depth"
    );
}

#[test]
fn many_equal_and_many_descending_keys_take_no_quadratic_time() {
    let same = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(300_000));
    assert_eq!(parsed(&same), value!({ "a": 1 }));
    let mut descending = String::from("{");
    for number in (0..100_000).rev() {
        descending += &format!("\"{number:06}\":1,\"{number:06}\":2,");
    }
    descending.pop();
    descending.push('}');
    let (read, duplicates) = json::parse_strict(descending.as_bytes()).unwrap();
    assert_eq!(read.as_object().unwrap().len(), 100_000);
    assert_eq!(duplicates.len(), 100);
}

fn same_as_serde(ours: &Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Theirs;
    match (ours, theirs) {
        (Value::Null, Theirs::Null) => true,
        (Value::Bool(a), Theirs::Bool(b)) => a == b,
        (Value::Int(a), Theirs::Number(b)) => b.as_i64() == Some(*a),
        (Value::Float(a), Theirs::Number(b)) => b.as_f64() == Some(*a),
        (Value::Str(a), Theirs::String(b)) => a == b,
        (Value::Array(a), Theirs::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_as_serde(a, b))
        }
        (Value::Object(a), Theirs::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((key, a), (other, b))| key == other && same_as_serde(a, b))
        }
        _ => false,
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value as Theirs;
    let leaf = prop_oneof![
        Just(Theirs::Null),
        any::<bool>().prop_map(Theirs::from),
        any::<i64>().prop_map(Theirs::from),
        any::<f64>()
            .prop_filter("JSON has no other floats", |number| number.is_finite())
            .prop_map(Theirs::from),
        ".*".prop_map(Theirs::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Theirs::from),
            prop::collection::btree_map(".*", inner, 0..8)
                .prop_map(|map| Theirs::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_read_the_same(tree in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&tree) } else { serde_json::to_string(&tree) }.unwrap();
        let ours = parse(text.as_bytes()).unwrap();
        prop_assert!(same_as_serde(&ours, &tree), "{text} was read as {ours:?}");
        prop_assert_eq!(json::parse_strict(text.as_bytes()).unwrap().1, Vec::<String>::new());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
        let _ = json::parse_strict(&bytes);
    }

    #[test]
    fn what_looks_like_json_is_taken_or_refused_as_serde_json_does(text in r#"[\[\]{},:"\\u0-9a-f.eE+\- ntrlsx]{0,24}"#) {
        let ours = parse(text.as_bytes());
        match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(theirs) => prop_assert!(same_as_serde(&ours.unwrap(), &theirs)),
            // serde_json alone refuses half surrogate pairs.
            Err(error) if error.to_string().contains("surrogate") || error.to_string().contains("hex escape") => {}
            Err(_) => prop_assert!(ours.is_err()),
        }
    }
}

#[test]
fn of_a_number_out_of_range_only_the_start_is_told() {
    let message = json::parse("9".repeat(1_000_000).as_bytes())
        .unwrap_err()
        .to_string();
    let start = "9".repeat(100);
    assert_eq!(
        message,
        format!("json: cannot unmarshal number {start}... into Go value of type float64")
    );
}
