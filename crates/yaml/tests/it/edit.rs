//! Scalars are changed in place; everything else stays.

use proptest::prelude::*;
use yaml::Step;
use yaml::edit::{Edit, Refused, Style};

/// The text with the scalar that a path of words and numbers leads to set to something else.
fn set(text: &str, path: &str, value: &str) -> Result<String, Refused> {
    let steps: Vec<Step> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.parse()
                .map_or_else(|_| Step::Key(part.to_owned()), Step::Item)
        })
        .collect();
    let mut edit = Edit::read(text).unwrap();
    let number = edit
        .find(0, &steps)
        .unwrap_or_else(|| panic!("{path} is not in {text}"));
    edit.set(number, value)?;
    edit.finish()
}

fn check(text: &str, path: &str, value: &str, want: &str) {
    assert_eq!(set(text, path, value).as_deref(), Ok(want), "{text}");
}

#[test]
fn quotes_are_kept() {
    check("a: x # c\n", "a", "w", "a: w # c\n");
    check("a: 'x'   # c\n", "a", "it's", "a: 'it''s'   # c\n");
    check("a: \"x\"\n", "a", "y\"\\", "a: \"y\\\"\\\\\"\n");
}

/// A23 of the contract of image automation.
#[test]
fn a_plain_value_that_would_not_be_a_string_gets_double_quotes() {
    for value in [
        "1.0",
        "123",
        "yes",
        "null",
        "~",
        "0x1f",
        "1e3",
        "2001-01-01",
        "",
        "true",
        "1_000",
        "12:30",
        "on",
        ".5",
    ] {
        check("tag: v1 # c\n", "tag", value, &format!("tag: \"{value}\" # c\n"));
    }
    for value in [
        "v1.0",
        "1.0.0",
        "latest",
        "a/b:c@sha256:00",
        "1.2.3-rc.1",
        "20210101T1",
    ] {
        check("tag: v1 # c\n", "tag", value, &format!("tag: {value} # c\n"));
    }
}

#[test]
fn values_that_need_quotes_get_them() {
    check("a: x\n", "a", "y # z", "a: \"y # z\"\n");
    check("a: x\n", "a", "y: z", "a: \"y: z\"\n");
    check("a: x\n", "a", "- y", "a: \"- y\"\n");
    check("a: 'x'\n", "a", "y\nz", "a: \"y\\nz\"\n");
    check("a: x\n", "a", " y", "a: \" y\"\n");
    check("x\n", "", "---", "\"---\"\n");
}

#[test]
fn brackets_ask_for_more_quotes() {
    check("a: [x, y]\n", "a/0", "p,q", "a: [\"p,q\", y]\n");
    check("{a: {b: x}}\n", "a/b", "p:1", "{a: {b: p:1}}\n");
    check("{a: x,b: y}\n", "b", "{", "{a: x,b: \"{\"}\n");
    check("{\"a\":\"x\",\"b\":1}", "a", "y", "{\"a\":\"y\",\"b\":1}");
}

#[test]
fn layout_comments_and_ends_of_lines_stay() {
    let text = "\u{feff}# head\r\na:   x   \t# é\r\n\r\n\r\nb:\r\n    - y\r\n    -    z\r\n...\r\n# end";
    check(text, "a", "ü", &text.replace("a:   x", "a:   ü"));
    check(text, "b/1", "w", &text.replace("   z", "   w"));
    assert_eq!(Edit::read(text).unwrap().finish().unwrap(), text);
}

#[test]
fn anchors_stay_and_aliases_are_no_scalars() {
    check("a: &x 1 # c\nb: *x\n", "a", "w", "a: &x w # c\nb: *x\n");
    check("a: &x # c\n  1\nb: *x\n", "a", "w", "a: &x # c\n  w\nb: *x\n");
    let edit = Edit::read("a: &x 1\nb: *x\nc: {<<: *x}\n").unwrap();
    assert_eq!(edit.scalars().len(), 1);
}

#[test]
fn several_lines_become_one() {
    check("a: x\n  y\n  z # c\nb: 1\n", "a", "w", "a: w # c\nb: 1\n");
    check("a: \"x\n  y\" # c\n", "a", "w", "a: \"w\" # c\n");
}

#[test]
fn what_is_empty_is_filled() {
    check("a: # c\nb: 1\n", "a", "x", "a: x # c\nb: 1\n");
    check("a:\nb: 1\n", "a", "x", "a: x\nb: 1\n");
    check("-\n- 1\n", "0", "x", "- x\n- 1\n");
    check("{a: , b: 1}\n", "a", "x", "{a: x, b: 1}\n");
    assert!(set("{a, b: 1}\n", "a", "x").is_err());
}

#[test]
fn blocks_and_tags_are_refused() {
    assert_eq!(set("a: |\n  x # c\n", "a", "y"), Err(Refused::Block { line: 1 }));
    assert_eq!(
        set("b: 1\na: !!int 1\n", "a", "y"),
        Err(Refused::Tagged { line: 2 })
    );
    assert_eq!(set("a: !x &y z\n", "a", "y"), Err(Refused::Tagged { line: 1 }));
}

#[test]
fn the_comment_of_a_line_is_that_of_the_scalar_that_ends_there() {
    let text = "# top\na: x # {\"$imagepolicy\": \"n:p\"}\nb: 'y#z' #c\nc: |\n  text # none\nd: [p, # of p\n  q] # of the list\n\
                e: r#s\n\"f\": \"t\" \t # last \n";
    let edit = Edit::read(text).unwrap();
    let comments: Vec<_> = edit
        .scalars()
        .iter()
        .map(|scalar| (scalar.value.as_str(), scalar.line, scalar.comment))
        .collect();
    assert_eq!(
        comments,
        [
            ("x", 2, Some("# {\"$imagepolicy\": \"n:p\"}")),
            ("y#z", 3, Some("#c")),
            ("text # none\n", 4, None),
            ("p", 6, Some("# of p")),
            ("q", 7, None),
            ("r#s", 8, None),
            ("t", 9, Some("# last")),
        ]
    );
}

#[test]
fn an_element_of_a_list_has_the_comment_above_it_too() {
    let text = "a:\n# one\n- x\n# two\n\n- y\n  # three\n  # four\n- - z\n- p # five\n- {k: v}\n";
    let edit = Edit::read(text).unwrap();
    let comments: Vec<_> = edit
        .scalars()
        .iter()
        .map(|scalar| (scalar.value.as_str(), scalar.above))
        .collect();
    assert_eq!(
        comments,
        [
            ("x", Some("# one")),
            ("y", None),
            ("z", Some("# three\n  # four")),
            ("p", None),
            ("v", None),
        ]
    );
}

#[test]
fn documents_are_told_apart() {
    let text = "a: x\n---\na: y\n---\n---\na: z\n";
    let mut edit = Edit::read(text).unwrap();
    let path = [Step::Key("a".to_owned())];
    let number = edit.find(1, &path).unwrap();
    assert!(edit.set(number, "w").unwrap());
    assert_eq!(edit.finish().unwrap(), "a: x\n---\na: w\n---\n---\na: z\n");
    assert!(edit.find(3, &path).is_some() && edit.find(2, &path).is_none());
    assert!(!edit.set(number, "y").unwrap(), "it is so already");
    assert_eq!(edit.finish().unwrap(), text);
}

#[test]
fn several_scalars_change_at_once() {
    let mut edit = Edit::read("a: 1\nb: [2, 3]\nc: four\n").unwrap();
    for number in 0..4 {
        edit.set(number, "longer than before").unwrap();
    }
    assert_eq!(
        edit.finish().unwrap(),
        "a: longer than before\nb: [longer than before, longer than before]\nc: longer than before\n"
    );
}

#[test]
fn keys_of_all_kinds_are_no_scalars() {
    let edit = Edit::read("? [p, {q: r}]\n: x\n? s\n: y\n").unwrap();
    let values: Vec<_> = edit
        .scalars()
        .iter()
        .map(|scalar| scalar.value.as_str())
        .collect();
    assert_eq!(values, ["x", "y"]);
}

/// Texts that are mostly YAML.
fn text() -> impl Strategy<Value = String> {
    let parts = vec![
        "a",
        "b",
        ": ",
        ":",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "\"",
        "'",
        "|\n",
        ">-\n",
        "&a ",
        "*a",
        "!!int ",
        "# c",
        " # c\n",
        "? ",
        "<<: ",
        "---\n",
        "...\n",
        "\t",
        "\r\n",
        "\\",
        "1",
        "é",
        "~",
        "\u{feff}",
        "猫",
        "a: b\n",
        "- x # y\n",
        "''",
        "\"\"",
        "a: 'b' # c\r\n",
        "\u{2028}",
        "\u{85}",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..20).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9./:@-]{0,20}", ".{0,10}", "[ -~\n\t]{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn without_an_edit_nothing_changes(text in text()) {
        if let Ok(edit) = Edit::read(&text) {
            prop_assert_eq!(edit.finish().unwrap(), text);
        }
    }

    #[test]
    fn an_edit_changes_its_range_alone_and_is_read_again(text in text(), at: prop::sample::Index, value in value()) {
        let Ok(mut edit) = Edit::read(&text) else { return Ok(()) };
        if edit.scalars().is_empty() {
            return Ok(());
        }
        let number = at.index(edit.scalars().len());
        let scalar = edit.scalars()[number].clone();
        let Ok(changed) = edit.set(number, &value) else {
            prop_assert!(matches!(scalar.style, Style::Block | Style::Tagged));
            return Ok(());
        };
        let Ok(after) = edit.finish() else {
            // There may be no place for anything where there was nothing, or where a tab follows that only a longer scalar
            // may be followed by.
            let odd = text.contains(['\t', '\u{2028}', '\u{85}', '\u{feff}']);
            prop_assert!(scalar.style == Style::Empty || odd, "{:?} in {:?}", value, text);
            return Ok(());
        };
        prop_assert_eq!(changed, scalar.value != value);
        let tail = text.len() - scalar.range.end;
        prop_assert_eq!(&after[..scalar.range.start], &text[..scalar.range.start]);
        prop_assert_eq!(&after[after.len() - tail..], &text[scalar.range.end..]);
        let again = Edit::read(&after).unwrap();
        prop_assert_eq!(&again.scalars()[number].value, &value);
        prop_assert_eq!(&again.scalars()[number].path, &scalar.path);
        let strict = yaml::Options { duplicates: yaml::Duplicates::Refuse, ..yaml::Options::default() };
        let documents: Result<Vec<_>, _> = strict.documents(&after).collect();
        if let (true, Ok(documents)) = (changed, documents) {
            let document = &documents[scalar.document].value;
            if let Some(read) = reach(document, &scalar.path) {
                prop_assert_eq!(read, &model::Value::from(value.as_str()), "{:?}", after);
            }
        }
    }
}

fn reach<'v>(value: &'v model::Value, path: &[Step]) -> Option<&'v model::Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Item(number) => value.as_array()?.get(*number),
    })
}
