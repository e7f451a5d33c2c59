use model::json::{self, MAX_DEPTH};
use proptest::prelude::*;

fn message(text: &str) -> String {
    yaml::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(yaml::parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(
        message(&nested(MAX_DEPTH + 1)),
        "yaml: line 1: exceeded max depth of 256"
    );
    assert_eq!(
        message(&"[".repeat(1_000_000)),
        "yaml: line 1: exceeded max depth of 256"
    );
    assert_eq!(
        message(&"- ".repeat(100_000)),
        "yaml: line 1: exceeded max depth of 256"
    );
    assert_eq!(
        message(&"{a: ".repeat(100_000)),
        "yaml: line 1: exceeded max depth of 256"
    );
}

#[test]
fn many_keys_take_no_quadratic_time() {
    let same = "a: 1\n".repeat(200_000);
    assert_eq!(
        json::to_string(&yaml::parse(same.as_bytes()).unwrap()),
        r#"{"a":1}"#
    );
    let different: String = (0..100_000)
        .rev()
        .map(|number| format!("k{number}: 1\n"))
        .collect();
    assert_eq!(
        yaml::parse_strict(different.as_bytes())
            .unwrap()
            .as_object()
            .unwrap()
            .len(),
        100_000
    );
}

#[test]
fn many_tag_directives_are_refused() {
    let text = "%TAG !a! tag:x\n".repeat(100_000) + "--- a";
    assert_eq!(message(&text), "yaml: more than 64 %TAG directives");
}

#[test]
fn a_long_text_of_any_style_is_read() {
    let long = "word ".repeat(200_000);
    let long = long.trim_end();
    for text in [
        long.to_owned(),
        format!("'{long}'"),
        format!("\"{long}\""),
        format!("|-\n  {long}"),
    ] {
        assert_eq!(yaml::parse(text.as_bytes()).unwrap().as_str(), Some(long));
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text: String) {
        let _ = yaml::parse(text.as_bytes());
        let _ = yaml::documents(&text).count();
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = yaml::parse(&bytes);
    }

    #[test]
    fn nothing_that_looks_like_yaml_makes_the_reader_panic(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b", ": ", ":", "- ", "\n", "\n  ", "[", "]", "{", "}", ", ", "\"", "'", "|\n", ">-\n", "&a ", "*a", "!!int ",
                "!!binary ", "#", "%", "? ", "<<: ", "---\n", "...\n", "\t", "\r\n", "\\", "\\x41", "1", "0x1", ".5", "é", "~",
            ]),
            0..24,
        )
    ) {
        let text = parts.concat();
        let lenient = yaml::parse(text.as_bytes());
        if let Ok(strict) = yaml::parse_strict(text.as_bytes()) {
            prop_assert_eq!(lenient, Ok(strict));
        }
        let _ = yaml::documents(&text).count();
    }

    #[test]
    fn json_is_read_as_json(text in r#"(\{"[a-c]":|\[|"x y"|-?[1-9][0-9]{0,5}|true|null|\]|\}|, ){1,8}"#) {
        if let Ok(value) = json::parse(text.as_bytes()) {
            prop_assert_eq!(yaml::parse(text.as_bytes()), Ok(value));
        }
    }
}
