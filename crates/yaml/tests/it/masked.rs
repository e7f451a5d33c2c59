//! Messages in which nothing is told that may be a secret: Go's own tell values.

use yaml::node;

/// What is told with values and without, by the reader of values and by that of trees.
fn told(text: &str) -> Vec<(String, String)> {
    let errors = [yaml::parse(text.as_bytes()).err(), node::read(text).err()];
    let told = errors.into_iter().flatten();
    told.map(|error| (error.to_string(), error.without_values()))
        .collect()
}

#[test]
fn values_are_told_in_the_words_of_go_and_not_in_ours() {
    for (text, go) in [
        ("a: *hunter2\n", "yaml: unknown anchor 'hunter2' referenced"),
        (
            "a: &hunter2 [*hunter2]\n",
            "yaml: anchor 'hunter2' value contains itself",
        ),
        (
            "a: !!int hunter2\n",
            "yaml: cannot decode !!str `hunter2` as a !!int",
        ),
        (
            "a: {{hunter2}}\n",
            r#"yaml: invalid map key: map[interface {}]interface {}{"hunter2":interface {}(nil)}"#,
        ),
        (
            "~: hunter2\n",
            r#"unsupported map key of type: %!s(<nil>), key: <nil>, value: "hunter2""#,
        ),
    ] {
        let told = told(text);
        assert_eq!(told.first().map(|(with, _)| with.as_str()), Some(go), "{text}");
        for (_, without) in told {
            assert!(!without.contains("hunter2") && !without.is_empty(), "{without}");
        }
    }
}

#[test]
fn what_tells_no_value_is_told_as_it_is_but_for_the_line() {
    for text in ["a: [\n", "a: .inf\n", "a: 1\na: 2\n---\n"] {
        for error in [yaml::parse_strict(text.as_bytes()).err(), node::read(text).err()] {
            let Some(error) = error else { continue };
            assert_eq!(error.without_values(), error.without_line());
        }
    }
}
