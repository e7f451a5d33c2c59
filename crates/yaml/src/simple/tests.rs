use super::*;
use crate::Options;
use proptest::prelude::*;

/// What libyaml makes of a text that is one document.
fn through_events(text: &str) -> Result<Option<(Value, usize)>, crate::Error> {
    let mut documents = Options::default().through_events(text.as_bytes());
    let first = documents.next().transpose()?;
    assert!(
        !matches!(documents.next(), Some(Ok(_))),
        "another document: {text:?}"
    );
    Ok(first.map(|document| (document.value, document.line)))
}

/// What is read here is what libyaml reads.
fn check(text: &str) -> Option<Value> {
    let (value, line) = read(text.as_bytes(), Keep::All)?;
    assert_eq!(through_events(text), Ok(Some((value.clone(), line))), "{text:?}");
    Some(value)
}

#[test]
fn what_manifests_are_written_in_is_read_here() {
    for text in [
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {}\ndata: {a: b, \"c\": [1, 'x']}\n",
        "---\n# Source: a/b\n\na:\n- b: 1 # c\n  c: \"x\\ny\"\n-\n  d: e\n- - 1\n  - 'it''s'\n- |\n  x\n\n   y\n-\nb: -1\n",
        "a: |-\n    x\n  # no comment\n    y\nb: >-\n  one\n  two\n\n  three\nc: |+\n  x\n\nd: http://a:80/#b\n",
        "  a: yes\n  b: 012\n  1.5: ~\n  \"quoted\": null\n",
        "- a\n- b: c\n  d:\n  - e\n",
        "a:\n    {}\nb:\n  text\nc:\n- 'x'\n-\n  y\n",
        "a: 'x' # y\nb: [a, b] \nc: x #y\nd: 1_000\n",
    ] {
        let text = match text.contains("# no comment") {
            // A comment that is less far in ends a text, and what follows belongs nowhere.
            true => {
                assert!(read(text.as_bytes(), Keep::All).is_none());
                text.replace("  # no comment\n", "")
            }
            false => text.to_owned(),
        };
        assert!(check(&text).is_some(), "{text:?}");
    }
}

#[test]
fn of_the_outermost_map_only_the_wanted_fields_are_kept() {
    let text = b"a: 1\nb:\n  c: 2\nd: [1]\n";
    let kept = read(text, Keep::Fields(&["b"])).map(|(value, _)| value);
    assert_eq!(kept, Some(model::value!({"b": {"c": 2}})));
    // What is not kept is looked at all the same.
    assert!(read(b"a: .nan\nb: 1\n", Keep::Fields(&["b"])).is_none());
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "b: ",
        "c:",
        "- ",
        "-",
        "  ",
        "    ",
        " ",
        "\n",
        "\n",
        "\n",
        "\n  ",
        "\n    ",
        "\n- ",
        "\n  - ",
        "|",
        "|-",
        "|+",
        ">",
        ">-",
        "'",
        "\"",
        "''",
        "\\",
        "\\n",
        "# x",
        " #",
        "{",
        "}",
        "[",
        "]",
        "{}",
        "[]",
        ", ",
        ",",
        ": ",
        ":",
        "1",
        "1.0",
        "~",
        "yes",
        "null",
        ".nan",
        "&x",
        "*x",
        "!t",
        "---",
        "...",
        "%",
        "\t",
        "é",
        "\u{85}",
        "?",
        "? ",
        "x y",
        "<<",
        "<<: ",
        "0x1f",
        "012",
        "-1",
        "\r",
        "k: v\n",
        "\n\n",
        "\na: ",
        "\nb:",
        "\nc: |\n  ",
        "\"q\": ",
        "'q': ",
        "a: b\n",
        "- a\n",
        "\u{2028}",
        "18446744073709551615",
        "~: ",
        "@",
        "`",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_read_here_libyaml_reads_the_same(pieces in prop::collection::vec(piece(), 0..24)) {
        check(&pieces.concat());
    }

    /// More of what is nearly right.
    #[test]
    fn lines_in_odd_columns_are_read_as_libyaml_reads_them(
        lines in prop::collection::vec((0usize..6, piece(), prop::sample::select(vec!["a: ", "b:", "- ", "- c: ", "", "'d': ", "x"]), piece(), piece()), 0..9)
    ) {
        let text: String = lines
            .iter()
            .map(|(column, before, key, value, more)| format!("{}{}{key}{value}{more}\n", " ".repeat(*column), if before.starts_with('-') { before } else { "" }))
            .collect();
        check(&text);
        // The same without the end of its last line.
        check(text.trim_end_matches('\n'));
    }
}
