//! Paths as printer columns have them, with results seen on `kubectl get -o jsonpath` of version 1.35.

use apiserver::jsonpath::{JsonPath, Template, print};
use model::Value;
use proptest::prelude::*;

const OBJECT: &str = r#"{
    "kind": "List",
    "items": [
        {"name": "a", "size": 1, "tags": ["x", "y"], "ready": true},
        {"name": "b", "size": 2, "tags": []},
        {"name": "c", "size": 3, "weird.key": "dots", "ratio": 0.5}
    ],
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Stalled", "status": "False"}]}
}"#;

fn find(path: &str) -> Result<Vec<String>, String> {
    let object = model::json::parse(OBJECT.as_bytes()).unwrap();
    let path = JsonPath::parse(path).map_err(|error| error.to_string())?;
    let found = path.find(&object).map_err(|error| error.to_string())?;
    Ok(found.into_iter().map(print).collect())
}

#[test]
fn paths_find_what_kubectl_finds() {
    let cases: [(&str, &[&str]); 24] = [
        ("{.kind}", &["List"]),
        ("{$.kind}", &["List"]),
        ("{@.kind}", &["List"]),
        ("{.missing.more}", &[]),
        ("{.items[0].name}", &["a"]),
        ("{.items[-1].name}", &["c"]),
        ("{.items[-2].name}", &["b"]),
        ("{.items[*].name}", &["a", "b", "c"]),
        ("{.items[:].name}", &["a", "b", "c"]),
        ("{.items[0:2].name}", &["a", "b"]),
        ("{.items[1:].name}", &["b", "c"]),
        ("{.items[-2:].name}", &["b", "c"]),
        ("{.items[0:3:2].name}", &["a", "c"]),
        ("{.items[0,2].name}", &["a", "c"]),
        ("{.items[0]['name','size']}", &["a", "1"]),
        ("{.items[2]['weird\\.key']}", &["dots"]),
        ("{.items[2].weird\\.key}", &["dots"]),
        ("{..name}", &["a", "b", "c"]),
        ("{.status.conditions[?(@.type==\"Ready\")].status}", &["True"]),
        ("{.status.conditions[?(@.type=='Stalled')].status}", &["False"]),
        ("{.items[?(@.size>=2)].name}", &["b", "c"]),
        ("{.items[?(@.ready==true)].name}", &["a"]),
        ("{.items[?(@.ratio)].name}", &["c"]),
        ("{.items[0].tags}", &["[\"x\",\"y\"]"]),
    ];
    for (path, wanted) in cases {
        assert_eq!(find(path).unwrap(), wanted, "{path}");
    }
}

#[test]
fn what_cannot_be_followed_is_told() {
    let cases = [
        ("{.items[3].name}", "array index out of bounds: index 3, length 3"),
        ("{.kind[0]}", "string is not array or slice"),
        ("{.items[2:1]}", "starting index 2 is greater than ending index 1"),
        ("{.items[0:3:0]}", "step must be > 0"),
        ("{.items[?(@.name==1)]}", "incompatible types for comparison"),
        ("{.items[x]}", "invalid array index x"),
        ("{.items[0}", "unterminated array"),
        ("{.items[?(@.name==\"a\"}", "unterminated filter"),
        ("{....name}", "invalid multiple recursive descent"),
        ("{.a", "unclosed action"),
    ];
    for (path, error) in cases {
        assert_eq!(find(path), Err(error.to_owned()), "{path}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_panic(text in "[{}.a-c0-9\\[\\]?()@$'\"=<>!:,* \\\\-]{0,24}") {
        let object = model::json::parse(OBJECT.as_bytes()).unwrap();
        if let Ok(path) = JsonPath::parse(&text) {
            let _ = path.find(&object).map(|found| found.into_iter().map(print).collect::<Vec<_>>());
            let _ = path.find(&Value::Null);
        }
    }
}

#[test]
fn texts_with_paths_are_printed_as_helm_prints_them() {
    let object = model::json::parse(OBJECT.as_bytes()).unwrap();
    let print = |text: &str| Template::parse(text)?.print(&object);
    for (text, printed) in [
        ("plain", "plain"),
        (".kind", ".kind"),
        ("{.kind}: {.items[*].name}!", "List: a b c!"),
        (
            "{range .items[*]}{.name}={.size}{\"\\n\"}{end}end",
            "a=1\nb=2\nc=3\nend",
        ),
        (
            "{range .items[0:2]}{.name}{range .tags[*]}<{@}>{end};{end}",
            "a<x><y>;b;",
        ),
        ("{range .items[1].tags[*]}x{end}y", "y"),
        ("{true} {1}", "true 1"),
        (
            "{.items[0]}",
            r#"{"name":"a","ready":true,"size":1,"tags":["x","y"]}"#,
        ),
    ] {
        assert_eq!(print(text).unwrap(), printed, "{text}");
    }
    for (text, problem) in [
        ("{.kind", "unclosed action"),
        ("a{.missing}", "missing is not found"),
        ("{.items[?(@.ratio==0.5)].name}", "ratio is not found"),
        ("{end}", "not in range, nothing to end"),
        ("{foo}", "unrecognized identifier foo"),
        ("{range .items[*]}{.name}", "a range has no end"),
        (&"{range .items[*]}".repeat(100), "ranges are nested too deeply"),
    ] {
        assert_eq!(print(text).unwrap_err().to_string(), problem, "{text}");
    }
}
