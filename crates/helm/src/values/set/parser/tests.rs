use model::{Map, Value};

use crate::values::{read, set};

fn plain(text: &str) -> Result<Value, String> {
    let mut values = Map::new();
    set::plain(text, &mut values).map_err(|error| error.to_string())?;
    Ok(Value::Object(values))
}

/// What Helm 4.2.4 makes of `--set`.
#[test]
fn texts_set_what_they_set_in_helm() {
    for (text, wanted) in [
        ("", "{}"),
        ("a=1", "a: 1"),
        ("a=b", "a: b"),
        ("a=", "a: ''"),
        ("a=,b=c", "{a: '', b: c}"),
        ("a=0", "a: 0"),
        ("a=007", "a: '007'"),
        ("a=-5,b=+5", "{a: -5, b: 5}"),
        ("a=1.5", "a: '1.5'"),
        ("a=True,b=FALSE,c=Null", "{a: true, b: false, c: null}"),
        ("a=9223372036854775808", "a: '9223372036854775808'"),
        ("a.b.c=1", "a: {b: {c: 1}}"),
        ("a.b=1,a.c=2", "a: {b: 1, c: 2}"),
        (r"a\.b=1", "a.b: 1"),
        (r"a=b\,c", "a: b,c"),
        (r"a=b\\c", r"a: b\c"),
        ("a={x,z,3}", "a: [x, z, 3]"),
        ("a={}", "a: ['']"),
        ("a={x},b=1", "{a: [x], b: 1}"),
        ("a[0]=1,a[2]=3", "a: [1, null, 3]"),
        ("a[0].b=1,a[0].c=2", "a: [{b: 1, c: 2}]"),
        ("a[0][1]=x", "a: [[null, x]]"),
        ("a[1].b=1,a[0].b=2", "a: [{b: 2}, {b: 1}]"),
        ("a=b=c", "a: b=c"),
        ("a= b ", "a: ' b '"),
        ("a[0].b=", "a: []"),
        // Helm 4 takes these for finished.
        ("a[0", "{}"),
        ("a[0]", "a: []"),
    ] {
        assert_eq!(plain(text).unwrap(), read(wanted.as_bytes()).unwrap(), "{text}");
    }
}

#[test]
fn texts_that_set_nothing_are_refused_as_in_helm() {
    for (text, message) in [
        ("a", "key \"a\" has no value"),
        ("a,b=1", "key \"a\" has no value (cannot end with ,)"),
        ("a.b", "key \"b\" has no value"),
        ("a={x", "list must terminate with '}'"),
        (
            "a[x]=1",
            "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        ("a[-1]=1", "negative -1 index not allowed"),
        (
            "a[65537]=1",
            "index of 65537 is greater than maximum supported index of 65536",
        ),
        ("a[0]x=1", "unexpected data at end of array index: \"x\""),
        (
            "a=1,a.b=2",
            "unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}",
        ),
        (
            "a.b=2,a[0]=1",
            "unable to parse key: interface conversion: interface {} is map[string]interface {}, not []interface {}",
        ),
    ] {
        assert_eq!(plain(text).unwrap_err(), message, "{text}");
    }
    let deep = "a.".repeat(31) + "b=1";
    assert_eq!(
        plain(&deep).unwrap_err(),
        "value name nested level is greater than maximum supported nested level of 30"
    );
}

#[test]
fn strings_and_literals_are_strings() {
    let mut values = Map::new();
    set::string("a=1,b={true,x}", &mut values).unwrap();
    set::literal(r"c[0].d=1,e={2}\", &mut values).unwrap();
    let wanted = r#"{a: "1", b: ["true", x], c: [{d: "1,e={2}\\"}]}"#;
    assert_eq!(Value::Object(values), read(wanted.as_bytes()).unwrap());
}

#[test]
fn json_values_stand_between_commas() {
    let mut values = Map::new();
    set::json(r#"a={"x": [1, 2]},b[1]="t",c=null,d=,e.f=1.5"#, &mut values).unwrap();
    let wanted = "{a: {x: [1, 2]}, b: [null, t], c: null, d: null, e: {f: 1.5}}";
    assert_eq!(Value::Object(values), read(wanted.as_bytes()).unwrap());
    assert!(set::json("a=x", &mut Map::new()).is_err());
}

#[test]
fn files_are_read_by_whoever_can() {
    let mut values = Map::new();
    let mut read_file = |name: &str| match name {
        "f" => Ok("content".to_owned()),
        other => Err(format!("open {other}: no such file or directory")),
    };
    set::file("a=f", &mut values, &mut read_file).unwrap();
    assert_eq!(values.get("a"), Some(&Value::str("content")));
    let error = set::file("a=g", &mut values, &mut read_file).unwrap_err();
    assert_eq!(error.to_string(), "open g: no such file or directory");
}
