//! Every expectation is what `labels.Parse` of k8s.io/apimachinery 0.35.8 says; some were also seen from kube-apiserver.

use model::selector::{LabelSelector, Operator, Requirement};
use model::value;
use proptest::prelude::*;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn parse(text: &str) -> LabelSelector {
    text.parse().unwrap()
}

#[test]
fn selectors_are_read_and_printed_as_in_go() {
    let cases = [
        ("", ""),
        ("a", "a"),
        ("!a", "!a"),
        ("a=b", "a=b"),
        ("a==b", "a==b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("a==", "a=="),
        ("a!=", "a!="),
        ("a=,b=c", "a=,b=c"),
        ("a in (b,c)", "a in (b,c)"),
        ("a in (c,b,c)", "a in (b,c)"),
        ("a notin (x)", "a notin (x)"),
        ("a in ()", "a in ()"),
        ("a in (,)", "a in ()"),
        ("a in (,b)", "a in (,b)"),
        ("a in (b,)", "a in (,b)"),
        ("a in (b,,c)", "a in (,b,c)"),
        ("a in (in,notin)", "a in (in,notin)"),
        ("in in (in)", "in in (in)"),
        ("notin", "notin"),
        ("in", "in"),
        ("a>1", "a>1"),
        ("a<2", "a<2"),
        ("a>1,b<2", "a>1,b<2"),
        ("x/y=z", "x/y=z"),
        ("example.com/app in (a)", "example.com/app in (a)"),
        ("  a  =  b  ,  c  ", "a=b,c"),
        ("a,b", "a,b"),
        ("b,a,!c", "a,b,!c"),
        ("! a", "!a"),
        ("a==b,c!=d,e in (x,y),!f,g>1", "a==b,c!=d,e in (x,y),!f,g>1"),
        ("a=b,a=c", "a=b,a=c"),
        ("b=1,a=2,b=0", "a=2,b=1,b=0"),
        ("\0a", ""),
        ("a\0,b", "a,b"),
        ("x in (a),x notin (b)", "x in (a),x notin (b)"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).to_string(), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_selector_is_refused_in_gos_words() {
    let cases = [
        (
            "a>-1",
            r#"unable to parse requirement: values[0][a]: Invalid value: "-1": VALUE_RULE"#,
        ),
        (
            "a>x",
            r#"unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer"#,
        ),
        (
            "a>",
            r#"unable to parse requirement: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer"#,
        ),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        (
            "!!a",
            "unable to parse requirement: found '!', expected: identifier",
        ),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("!a in (b)", "found 'in', expected: ',' or 'end of string'"),
        (
            "a b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        (
            "a in (",
            "unable to parse requirement: found '', expected: ',', ')' or identifier",
        ),
        (
            "a in (b",
            "unable to parse requirement: found '', expected: ',' or ')'",
        ),
        (
            "a in (b c)",
            "unable to parse requirement: found 'c', expected: ',' or ')'",
        ),
        (
            "a in (,",
            "unable to parse requirement: found '', expected: ',', or identifier",
        ),
        (
            "a in (=)",
            "unable to parse requirement: found '=', expected: ',', ')' or identifier",
        ),
        (
            "a in (b=c)",
            "unable to parse requirement: found '=', expected: ',' or ')'",
        ),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        (
            "a===b",
            "unable to parse requirement: found '=', expected: identifier",
        ),
        (
            "a!b",
            "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (
            "a=!b",
            "unable to parse requirement: found '!', expected: identifier",
        ),
        (
            "a=(b)",
            "unable to parse requirement: found '(', expected: identifier",
        ),
        ("(a)", "found '(', expected: !, identifier, or 'end of string'"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        ("==b", "found '==', expected: !, identifier, or 'end of string'"),
        (
            "a=>b",
            "unable to parse requirement: found '>', expected: identifier",
        ),
        (
            "a<>b",
            "unable to parse requirement: found '>', expected: identifier",
        ),
        ("a=b,c in", "unable to parse requirement: found '' expected: '('"),
        (
            "a/b/c=d",
            r#"unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key NAME_RULE with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"#,
        ),
        (
            "/b=c",
            r#"unable to parse requirement: <nil>: Invalid value: "/b": prefix part must be non-empty"#,
        ),
        (
            "a/=c",
            r#"unable to parse requirement: <nil>: Invalid value: "a/": name part must be non-empty; name part NAME_RULE"#,
        ),
        (
            "A.b/c=d",
            r#"unable to parse requirement: <nil>: Invalid value: "A.b/c": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
        ),
        (
            "a@b=c",
            r#"unable to parse requirement: <nil>: Invalid value: "a@b": name part NAME_RULE"#,
        ),
        (
            "a=b@c",
            r#"unable to parse requirement: values[0][a]: Invalid value: "b@c": VALUE_RULE"#,
        ),
        (
            "-a=b",
            r#"unable to parse requirement: <nil>: Invalid value: "-a": name part NAME_RULE"#,
        ),
        (
            "a-=b",
            r#"unable to parse requirement: <nil>: Invalid value: "a-": name part NAME_RULE"#,
        ),
        (
            "a=-b",
            r#"unable to parse requirement: values[0][a]: Invalid value: "-b": VALUE_RULE"#,
        ),
        (
            "a=b-",
            r#"unable to parse requirement: values[0][a]: Invalid value: "b-": VALUE_RULE"#,
        ),
        (
            "a=.b",
            r#"unable to parse requirement: values[0][a]: Invalid value: ".b": VALUE_RULE"#,
        ),
        (
            "a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            r#"unable to parse requirement: values[0][a]: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be no more than 63 bytes"#,
        ),
        (
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx=b",
            r#"unable to parse requirement: <nil>: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": name part must be no more than 63 bytes"#,
        ),
        (
            "a in (b@,c)",
            r#"unable to parse requirement: values[0][a]: Invalid value: "b@": VALUE_RULE"#,
        ),
        (
            "a in (b@,c!)",
            "unable to parse requirement: found '!', expected: ',' or ')'",
        ),
        ("a notin", "unable to parse requirement: found '' expected: '('"),
        ("a=b\tc", "found 'c', expected: ',' or 'end of string'"),
        (
            "é=b",
            r#"unable to parse requirement: <nil>: Invalid value: "é": name part NAME_RULE"#,
        ),
        (
            "a=é",
            r#"unable to parse requirement: values[0][a]: Invalid value: "é": VALUE_RULE"#,
        ),
        (
            "a>1.5",
            r#"unable to parse requirement: values[0]: Invalid value: "1.5": for 'Gt', 'Lt' operators, the value must be an integer"#,
        ),
        (
            "a>9223372036854775808",
            r#"unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer"#,
        ),
        (
            "a in (x",
            "unable to parse requirement: found '', expected: ',' or ')'",
        ),
        (")", "found ')', expected: !, identifier, or 'end of string'"),
        (
            "a)",
            "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt",
        ),
        ("a=b)", "found ')', expected: ',' or 'end of string'"),
        (
            "a gt 1",
            "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (
            "a\nb",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (
            "a>=1",
            "unable to parse requirement: found '=', expected: identifier",
        ),
        (
            "a in (x y,z)",
            "unable to parse requirement: found 'y', expected: ',' or ')'",
        ),
        (
            "a=1,!",
            "unable to parse requirement: found '', expected: identifier",
        ),
    ];
    for (text, expected) in cases {
        let expected = expected
            .replace("NAME_RULE", NAME_RULE)
            .replace("VALUE_RULE", VALUE_RULE);
        assert_eq!(
            text.parse::<LabelSelector>().unwrap_err().to_string(),
            expected,
            "{text:?}"
        );
    }
}

#[test]
fn every_operator_matches_as_it_should() {
    let labels = [("app", "web"), ("n", "5"), ("empty", "")];
    let get = |key: &str| {
        labels
            .iter()
            .find(|(label, _)| *label == key)
            .map(|(_, value)| *value)
    };
    let selected = [
        "",
        "app",
        "app=web",
        "app==web",
        "app!=db",
        "x!=y",
        "app in (db,web)",
        "app notin (db)",
        "x notin (a)",
        "!x",
        "n>4",
        "n<6",
        "empty",
        "empty=",
        "empty in ()",
        "app=web,n>4,!x",
    ];
    for text in selected {
        assert!(parse(text).matches(get), "{text}");
    }
    let refused = [
        "x",
        "app=db",
        "app!=web",
        "x=",
        "x=y",
        "app in (db)",
        "app notin (web,db)",
        "x in (a)",
        "!app",
        "n>5",
        "n<5",
        "app>1",
        "x>1",
        "empty>0",
        "empty!=",
        "app=web,n>5",
    ];
    for text in refused {
        assert!(!parse(text).matches(get), "{text}");
    }
}

#[test]
fn nothing_and_everything_are_told_apart() {
    assert!(LabelSelector::everything().matches(|_| None));
    assert!(!LabelSelector::nothing().matches(|_| None));
    assert!(parse("").is_everything());
    assert!(!LabelSelector::nothing().is_everything());
    assert_eq!(LabelSelector::nothing().requirements(), None);
}

#[test]
fn the_labels_of_an_object_are_looked_at() {
    let object = value!({ "metadata": { "labels": { "app": "web", "odd": 5 } } });
    assert!(parse("app=web,!odd").matches_object(&object));
    assert!(!parse("app=web").matches_object(&value!({})));
}

#[test]
fn a_requirement_tells_all_that_is_wrong_with_it() {
    let error = Requirement::new("a", Operator::Gt, vec!["x".into(), "1".into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"[values: Invalid value: ["x","1"]: for 'Gt', 'Lt' operators, exactly one value is required, values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer]"#
    );
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(text in "[a-c]( in \\(,?x,y\\)| notin \\(z\\)|=q|!=|==1|>3|<4)?(,!?[d-f]){0,3}") {
        let selector = parse(&text);
        prop_assert_eq!(parse(&selector.to_string()), selector);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-c/. ,=!<>()\\-\\x00éin@]{0,24}", any: String) {
        for text in [text, any] {
            if let Ok(selector) = text.parse::<LabelSelector>() {
                prop_assert_eq!(selector.to_string().parse::<LabelSelector>(), Ok(selector));
            }
        }
    }
}
