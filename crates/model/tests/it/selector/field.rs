//! Every expectation is what `fields.ParseSelector` of k8s.io/apimachinery 0.35.8 says.

use model::selector::FieldSelector;
use proptest::prelude::*;

fn parse(text: &str) -> FieldSelector {
    text.parse().unwrap()
}

#[test]
fn selectors_are_read_and_printed_as_in_go() {
    let cases = [
        ("", ""),
        ("metadata.name=x", "metadata.name=x"),
        ("metadata.name==x", "metadata.name=x"),
        ("metadata.name!=x", "metadata.name!=x"),
        ("a=b,c!=d", "a=b,c!=d"),
        ("c=1,a=2", "a=2,c=1"),
        ("a=,b=", "a=,b="),
        ("=b", "=b"),
        (r"a=b\=c", r"a=b\=c"),
        (r"a=b\,c", r"a=b\,c"),
        (r"a=b\\", r"a=b\\"),
        (",,a=b,,", "a=b"),
        ("a==", "a="),
        ("a = b", "a = b"),
        (r"\,=a", r"\,=a"),
        (r"a\=b", r"a\=b"),
        ("é=ü", "é=ü"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).to_string(), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_selector_is_refused_in_gos_words() {
    let cases = [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("a,b=c", "invalid selector: 'a,b=c'; can't understand 'a'"),
        (
            "a=b=c",
            "invalid field selector: unescaped character in value: 61",
        ),
        (r"a=b\x", r"invalid field selector: invalid escape sequence: \x"),
        (r"a=b\", r"invalid field selector: invalid escape sequence: \"),
        ("a!b", "invalid selector: 'a!b'; can't understand 'a!b'"),
        (
            "a!=b!=c",
            "invalid field selector: unescaped character in value: 61",
        ),
        (
            "a!==b",
            "invalid field selector: unescaped character in value: 61",
        ),
        ("a>b", "invalid selector: 'a>b'; can't understand 'a>b'"),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
        (r"a=é\é", r"invalid field selector: invalid escape sequence: \é"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            text.parse::<FieldSelector>().unwrap_err().to_string(),
            expected,
            "{text:?}"
        );
    }
}

#[test]
fn a_missing_field_counts_as_empty() {
    let get = |field: &str| (field == "metadata.name").then_some("web");
    for text in [
        "",
        "metadata.name=web",
        "metadata.name!=db",
        "spec.nodeName=",
        "spec.nodeName!=a,metadata.name==web",
    ] {
        assert!(parse(text).matches(get), "{text}");
    }
    for text in [
        "metadata.name=db",
        "metadata.name!=web",
        "spec.nodeName=a",
        "spec.nodeName!=",
    ] {
        assert!(!parse(text).matches(get), "{text}");
    }
}

#[test]
fn the_one_value_a_field_must_have_is_told() {
    let selector = parse("metadata.name=web,spec.nodeName!=a");
    assert_eq!(selector.exact("metadata.name"), Some("web"));
    assert_eq!(selector.exact("spec.nodeName"), None);
    assert_eq!(selector.exact("other"), None);
}

proptest! {
    #[test]
    fn any_value_can_be_asked_for(value: String) {
        let mut selector = parse("metadata.name=x");
        selector.requirements[0].value = value;
        prop_assert_eq!(parse(&selector.to_string()), selector);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in r"[a-b,=!\\é]{0,16}", any: String) {
        let _ = text.parse::<FieldSelector>();
        let _ = any.parse::<FieldSelector>();
    }
}
