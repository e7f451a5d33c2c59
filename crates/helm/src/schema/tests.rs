use super::*;
use crate::values::{floats, read};

fn check(schema: &str, values: &str) -> Result<(), String> {
    let mut values = read(values.as_bytes()).unwrap();
    floats(&mut values);
    let mut warnings = Vec::new();
    check_one(
        schema.as_bytes(),
        values.as_object().unwrap(),
        (&mut warnings, None),
    )
}

/// What Helm 4.2.4 prints, below the name of the chart.
#[test]
fn what_does_not_fit_is_told_in_the_words_of_helm() {
    for (schema, values, wanted) in [
        (
            r#"{"properties":{"a":{"maximum":65535}}}"#,
            "a: 70000",
            "- at '/a': maximum: got 70,000, want 65,535\n",
        ),
        (
            r#"{"properties":{"c":{"enum":["a",1,true,null,2.5,100000]}}}"#,
            "c: abc",
            "- at '/c': value must be one of 'a', 1, true, <nil>, 2.5, 100000\n",
        ),
        (
            r#"{"properties":{"c":{"const":100000}}}"#,
            "c: abc",
            "- at '/c': value must be 100000\n",
        ),
        (
            r##"{"properties":{"c":{"format":"email"}},"$schema":"http://json-schema.org/draft-07/schema#"}"##,
            "c: abc",
            "- at '/c': 'abc' is not valid email: missing @\n",
        ),
        (
            r##"{"properties":{"c":{"$ref":"#/definitions/x"}}}"##,
            "c: abc",
            "json-pointer in \"file:///values.schema.json#/definitions/x\" not found",
        ),
        (
            r##"{"properties":{"c":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":["integer","null"],"minimum":3}}}"##,
            "c: abc",
            "- at '/c': got string, want null or integer\n",
        ),
        (
            r#"{"properties":{"c":{"anyOf":[{"type":"integer"},{"minLength":5,"pattern":"^[0-9]+$"}]}},"additionalProperties":false}"#,
            "c: abc\nx: 1",
            "- at '/c': 'anyOf' failed\n  - at '/c': got string, want integer\n  - at '/c': validation failed\n    - at '/c': minLength: got 3, want 5\n    - at '/c': 'abc' does not match pattern '^[0-9]+$'\n- at '': additional properties 'x' not allowed\n",
        ),
        (
            r#"{"properties":{"c":{"oneOf":[{"type":"string"},{"minLength":1}]}}, "required":["q","r"]}"#,
            "c: abc\nx: 1",
            "- at '': missing properties 'q', 'r'\n- at '/c': 'oneOf' failed, subschemas 0, 1 matched\n",
        ),
        (
            r#"{"properties":{"c":{"uniqueItems":true,"contains":{"type":"string"}}}}"#,
            "c: [1, 2, 1]",
            "- at '/c': items at 0 and 2 are equal\n- at '/c': no items match contains schema\n  - at '/c/0': got number, want string\n  - at '/c/1': got number, want string\n  - at '/c/2': got number, want string\n",
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"c":{"propertyNames":{"pattern":"^x"}}}}"##,
            "c: {\"a'b\": 1}",
            "- at '': invalid propertyName 'a\\'b'\n  - at '': 'a\\'b' does not match pattern '^x'\n",
        ),
    ] {
        assert_eq!(check(schema, values).unwrap_err(), wanted, "{schema}");
    }
}

#[test]
fn each_draft_has_its_own_rules() {
    let with = |draft: &str, rest: &str| format!(r#"{{"$schema":"{draft}",{rest}}}"#);
    let draft4 = |rest: &str| with("http://json-schema.org/draft-04/schema#", rest);
    let draft7 = |rest: &str| with("http://json-schema.org/draft-07/schema#", rest);
    let draft2019 = |rest: &str| with("https://json-schema.org/draft/2019-09/schema", rest);
    let draft2020 = |rest: &str| with("https://json-schema.org/draft/2020-12/schema", rest);
    let exclusive = r#""properties":{"a":{"minimum":1,"exclusiveMinimum":true}}"#;
    assert!(check(&draft4(exclusive), "a: 1").is_err());
    assert!(check(&draft4(exclusive), "a: 2").is_ok());
    // A `$ref` stands alone before 2019.
    let beside = r##""definitions":{"x":{}},"properties":{"a":{"$ref":"#/definitions/x","type":"string"}}"##;
    assert!(check(&draft7(beside), "a: 1").is_ok());
    assert!(check(&draft2019(beside), "a: 1").is_err());
    // `format` is a remark from 2019 on.
    let format = r#""properties":{"a":{"format":"ipv4"}}"#;
    assert!(check(&draft7(format), "a: x").is_err());
    assert!(check(&draft2020(format), "a: x").is_ok());
    // Lists of schemas for items have another name in 2020.
    let items = r#""properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}"#;
    assert!(check(&draft7(items), "a: [x, y]").is_err());
    let prefix = r#""properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}"#;
    assert!(check(&draft2020(prefix), "a: [x, y]").is_err());
    assert!(check(&draft2020(prefix), "a: [x]").is_ok());
    // Conditions are there from 7 on.
    let condition = r#""if":{"required":["a"]},"then":{"required":["b"]}"#;
    assert!(check(&draft4(condition), "a: 1").is_ok());
    assert!(check(&draft7(condition), "a: 1").is_err());
}

#[test]
fn names_and_anchors_are_found() {
    let schema = r##"{"$id":"https://example.com/root.json","$defs":{
        "port":{"$anchor":"port","type":"integer"},
        "other":{"$id":"other.json","$defs":{"name":{"type":"string"}}}},
      "properties":{"a":{"$ref":"#port"},"b":{"$ref":"other.json#/$defs/name"},"c":{"$ref":"https://example.com/root.json"}}}"##;
    assert!(check(schema, "a: 1\nb: x\nc: {a: 2}").is_ok());
    assert_eq!(
        check(schema, "c: {c: {a: x}}").unwrap_err(),
        "- at '/c/c/a': got string, want integer\n"
    );
    assert_eq!(
        check(schema, "b: 1").unwrap_err(),
        "- at '/b': got number, want string\n"
    );
}

#[test]
fn what_nothing_has_looked_at_can_be_refused() {
    let schema = r#"{"allOf":[{"properties":{"a":{}}}],"anyOf":[{"properties":{"b":{}}},{"properties":{"c":{}}}],"unevaluatedProperties":false}"#;
    assert!(check(schema, "a: 1\nb: 1\nc: 1").is_ok());
    assert_eq!(check(schema, "d: 1").unwrap_err(), "- at '/d': false schema\n");
}

#[test]
fn schemas_elsewhere_are_refused_and_urns_allow_everything() {
    let elsewhere = check(r#"{"$ref":"https://example.com/x.json"}"#, "a: 1").unwrap_err();
    assert!(
        elsewhere.starts_with("failing loading \"https://example.com/x.json\""),
        "{elsewhere}"
    );
    assert!(check(r#"{"$ref":"urn:example:x"}"#, "a: 1").is_ok());
    assert!(check(r#"{"$ref":"file:///etc/passwd"}"#, "a: 1").is_err());
}

#[test]
fn schemas_without_end_end() {
    let itself = check(r##"{"$ref":"#"}"##, "a: 1").unwrap_err();
    assert!(itself.contains("refers to itself"), "{itself}");
    let mut levels = String::new();
    for level in 0..40 {
        let next = level + 1;
        levels += &format!(
            r##""l{level}":{{"allOf":[{{"$ref":"#/$defs/l{next}"}},{{"$ref":"#/$defs/l{next}"}}]}},"##
        );
    }
    let schema = format!(r##"{{"$ref":"#/$defs/l0","$defs":{{{levels}"l40":{{"type":"string"}}}}}}"##);
    assert!(check(&schema, "a: 1").is_err());
}

/// A schema that refuses is no schema that `not` may turn into one that allows.
#[test]
fn a_check_that_is_stopped_says_why_whatever_the_schema_says() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stop = move || {
        let asked = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (asked >= 10).then(|| "it takes too long".to_owned())
    };
    let values = read(b"{a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}").unwrap();
    for schema in [
        r#"{"properties":{"a":{"items":{"type":"number"}}}}"#,
        r#"{"properties":{"a":{"items":{"not":{"not":{}}}}}}"#,
        r#"{"anyOf":[{"properties":{"a":{"items":{"type":"string"}}}},true]}"#,
    ] {
        let mut warnings = Vec::new();
        let checked = check_one(
            schema.as_bytes(),
            values.as_object().unwrap(),
            (&mut warnings, Some(&stop)),
        );
        assert_eq!(checked.unwrap_err(), "- at '': it takes too long\n", "{schema}");
    }
}

/// Each failure had the list of all that is allowed, and the path to its value.
#[test]
fn what_is_told_of_many_failures_has_a_largest_size() {
    let allowed = vec![format!("\"{}\"", "a".repeat(100)); 100].join(",");
    let schema = format!(r#"{{"additionalProperties":{{"items":{{"enum":[{allowed}]}}}}}}"#);
    let values = format!("{}: [{}]\n", "k".repeat(1000), "1, ".repeat(5000));
    let told = check(&schema, &values).unwrap_err();
    assert!(told.contains("value must be one of"));
    assert!(told.len() < 4 << 20, "{}", told.len());
}
