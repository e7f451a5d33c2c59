//! The table in `as_go_reads_it.jsonl`: one text per line with what `sigs.k8s.io/yaml` 1.6.0 (go-yaml 2.4.3) makes of it,
//! from `YAMLToJSON` and `YAMLToJSONStrict`, the JSON read as apimachinery does. Without `strict` both are the same.

use model::{Value, json};

fn check(text: &str, read: Result<Value, yaml::Error>, expected: &Value) {
    let expected = match expected.get("value") {
        Some(value) => Ok(json::to_string(value)),
        None => Err(expected.str_at(&["error"]).to_owned()),
    };
    let read = read
        .map(|value| json::to_string(&value))
        .map_err(|error| error.to_string());
    assert_eq!(read, expected, "{text:?}");
}

#[test]
fn every_text_of_the_table_is_read_as_go_reads_it() {
    let table = include_str!("as_go_reads_it.jsonl");
    for line in table.lines() {
        let case = json::parse(line.as_bytes()).unwrap();
        let text = case.str_at(&["text"]);
        let lenient = case.get("lenient").unwrap();
        check(text, yaml::parse(text.as_bytes()), lenient);
        check(
            text,
            yaml::parse_strict(text.as_bytes()),
            case.get("strict").unwrap_or(lenient),
        );
    }
    assert!(table.lines().count() > 250);
}

#[test]
fn numbers_are_whole_or_not_as_in_the_json_that_go_writes() {
    for (text, number) in [
        ("1.0", 1),
        ("08", 8),
        ("1e3", 1000),
        ("-0.0", 0),
        ("1e18", 1_000_000_000_000_000_000),
    ] {
        assert!(
            matches!(yaml::parse(text.as_bytes()), Ok(Value::Int(read)) if read == number),
            "{text}"
        );
    }
    for (text, number) in [
        ("1.5", 1.5),
        ("1e19", 1e19),
        ("18446744073709551615", 18446744073709551615.0),
    ] {
        assert!(
            matches!(yaml::parse(text.as_bytes()), Ok(Value::Float(read)) if read == number),
            "{text}"
        );
    }
}

#[test]
fn what_only_go_refuses_is_taken() {
    assert_eq!(yaml::parse(b"%YAML 1.2\n---\na").unwrap().as_str(), Some("a"));
    assert_eq!(yaml::parse(br#""\/""#).unwrap().as_str(), Some("/"));
}

#[test]
fn what_only_go_takes_is_refused() {
    assert_eq!(
        yaml::parse(b"{a :}").unwrap_err().to_string(),
        "yaml: found unexpected ':'"
    );
    assert!(yaml::parse(b"!a] b").is_err());
}

#[test]
fn bytes_that_are_no_utf8_are_refused() {
    assert_eq!(
        yaml::parse(b"a: \xff").unwrap_err().to_string(),
        "yaml: invalid leading UTF-8 octet"
    );
    assert_eq!(
        yaml::parse(b"a: \xc3").unwrap_err().to_string(),
        "yaml: incomplete UTF-8 octet sequence"
    );
}

#[test]
fn utf16_is_read_by_its_byte_order_mark() {
    let text: Vec<u8> = "\u{feff}a: é".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(json::to_string(&yaml::parse(&text).unwrap()), r#"{"a":"é"}"#);
}
