//! Every expectation is what `LabelSelectorAsSelector` of k8s.io/apimachinery 0.35.8 says, but for values of wrong
//! types, which Go refuses earlier.

use model::json;
use model::selector::LabelSelector;

fn read(text: &str) -> Result<LabelSelector, String> {
    LabelSelector::from_value(&json::parse(text.as_bytes()).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn labels_and_expressions_are_joined() {
    let cases = [
        (r#"{"matchLabels":{"b":"1","a":"2"}}"#, "a=2,b=1"),
        (
            r#"{"matchLabels":{"a":"2"},"matchExpressions":[{"key":"a","operator":"In","values":["z","y"]},
                {"key":"b","operator":"NotIn","values":["x"]},{"key":"c","operator":"Exists"},
                {"key":"d","operator":"DoesNotExist"}]}"#,
            "a=2,a in (y,z),b notin (x),c,!d",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).unwrap().to_string(), expected);
    }
}

#[test]
fn an_empty_selector_selects_everything_and_null_selects_nothing() {
    for text in [
        "{}",
        r#"{"matchLabels":{}}"#,
        r#"{"matchLabels":null,"matchExpressions":[]}"#,
    ] {
        assert!(read(text).unwrap().is_everything());
    }
    assert_eq!(read("null").unwrap(), LabelSelector::nothing());
}

#[test]
fn wrong_selectors_are_refused_in_gos_words() {
    let cases = [
        (
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}"#,
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}"#,
            r#"values: Invalid value: ["x"]: values set must be empty for exists and does not exist"#,
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"Gt","values":["x"]}]}"#,
            r#""Gt" is not a valid label selector operator"#,
        ),
        (
            r#"{"matchExpressions":[{"key":"a"}]}"#,
            r#""" is not a valid label selector operator"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).unwrap_err(), expected);
    }
    let several = read(r#"{"matchLabels":{"a b":"\u0001\""}}"#).unwrap_err();
    assert!(
        several.starts_with(r#"[key: Invalid value: "a b": name part must consist of"#),
        "{several}"
    );
    assert!(
        several.contains(r#", values[0][a b]: Invalid value: "\x01\"": a valid label must be"#),
        "{several}"
    );
}

#[test]
fn values_of_wrong_types_are_refused() {
    let cases = [
        ("[]", "a label selector must be an object, not an array"),
        (
            r#"{"matchLabels":["a"]}"#,
            "matchLabels must be an object, not an array",
        ),
        (
            r#"{"matchLabels":{"a":1}}"#,
            "a value of matchLabels must be a string, not an integer",
        ),
        (
            r#"{"matchExpressions":{}}"#,
            "matchExpressions must be an array, not an object",
        ),
        (
            r#"{"matchExpressions":[{"key":true}]}"#,
            "key must be a string, not a boolean",
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":[null]}]}"#,
            "an element of values must be a string, not null",
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"In","values":"x"}]}"#,
            "values must be an array, not a string",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).unwrap_err(), expected);
    }
}
