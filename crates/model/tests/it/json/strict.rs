use model::json::parse_strict;
use model::value;

fn duplicates(text: &str) -> Vec<String> {
    parse_strict(text.as_bytes()).unwrap().1
}

#[test]
fn duplicate_fields_are_told_by_their_paths() {
    assert_eq!(duplicates(r#"{"a":1,"b":2}"#), [""; 0]);
    assert_eq!(
        duplicates(r#"{"spec":{"replicas":1,"replicas":2}}"#),
        ["spec.replicas"]
    );
    assert_eq!(
        duplicates(r#"{"spec":{"containers":[{"name":"a"},{"name":"b","image":"x","name":"c"}]}}"#),
        ["spec.containers[1].name"]
    );
    assert_eq!(duplicates(r#"[{"a":1,"a":2}]"#), ["[0].a"]);
    assert_eq!(
        duplicates(r#"{"m":[[1,{"x":1,"x":2}],{"y":{},"y":{"z":[],"z":0}}]}"#),
        ["m[0][1].x", "m[1].y", "m[1].y.z"]
    );
    assert_eq!(duplicates(r#"{"a":1,"a":2}"#), ["a"]);
}

#[test]
fn a_field_is_told_once_however_often_it_is_there() {
    assert_eq!(
        duplicates(r#"{"b":1,"a":{"x":1,"x":1},"a":{"x":2,"x":2},"b":1,"b":1}"#),
        ["a.x", "a", "b"]
    );
}

#[test]
fn the_last_value_is_kept() {
    let (read, _) = parse_strict(br#"{"a":1,"a":2}"#).unwrap();
    assert_eq!(read, value!({ "a": 2 }));
}

#[test]
fn duplicates_are_found_among_many_keys_too() {
    let mut text = String::from("{");
    for number in (0..50).rev() {
        text += &format!("\"k{number:02}\":{number},");
    }
    text += "\"k49\":0,\"k07\":0,\"new\":1,\"new\":2}";
    assert_eq!(duplicates(&text), ["k49", "k07", "new"]);
}
