use model::json;
use yaml::{Document, Error};

fn read(text: &str) -> Vec<Result<(usize, String), String>> {
    let shown = |document: Result<Document, Error>| {
        let document = document.map_err(|error| format!("{}: {error}", error.line()))?;
        Ok((document.line, json::to_string(&document.value)))
    };
    yaml::documents(text).map(shown).collect()
}

fn ok(line: usize, json: &str) -> Result<(usize, String), String> {
    Ok((line, json.to_owned()))
}

#[test]
fn each_document_has_the_line_its_content_begins_on() {
    let text = "# head\na: 1\n---\n\n# note\nb:\n  c: 2\n--- {d: 3}\n---\n- e\n...\n---\nf\n";
    assert_eq!(
        read(text),
        [
            ok(2, r#"{"a":1}"#),
            ok(6, r#"{"b":{"c":2}}"#),
            ok(8, r#"{"d":3}"#),
            ok(10, r#"["e"]"#),
            ok(13, r#""f""#)
        ]
    );
}

#[test]
fn a_text_without_content_has_no_documents() {
    for text in ["", "\n\n", "# only a comment\n", "   "] {
        assert_eq!(read(text), []);
    }
}

#[test]
fn empty_documents_are_null() {
    assert_eq!(
        read("---\n---\na\n---\n"),
        [ok(2, "null"), ok(3, r#""a""#), ok(5, "null")]
    );
}

#[test]
fn documents_before_a_mistake_in_the_syntax_are_read() {
    let read = read("a: 1\n---\nb: [\n---\nc: 3\n");
    assert_eq!(
        read,
        [
            ok(1, r#"{"a":1}"#),
            Err("4: yaml: line 3: did not find expected node content".to_owned())
        ]
    );
}

#[test]
fn documents_after_a_mistake_in_the_content_are_read() {
    let read = read("a: .inf\n---\n{{ x }}: 1\n---\nc: 3\n");
    assert_eq!(
        read,
        [
            Err("1: json: unsupported value: +Inf".to_owned()),
            Err(
                r#"3: yaml: invalid map key: map[interface {}]interface {}{"x":interface {}(nil)}"#
                    .to_owned()
            ),
            ok(5, r#"{"c":3}"#)
        ]
    );
}

#[test]
fn an_anchor_counts_in_its_document_alone() {
    assert_eq!(
        read("a: &x 1\nb: *x\n---\nc: *x\n---\nd: 1\n"),
        [
            ok(1, r#"{"a":1,"b":1}"#),
            Err("4: yaml: unknown anchor 'x' referenced".to_owned())
        ]
    );
}

#[test]
fn a_byte_order_mark_may_begin_any_document() {
    assert_eq!(
        read("\u{feff}a: 1\n---\n\u{feff}b: 2\n"),
        [ok(1, r#"{"a":1}"#), ok(3, r#"{"b":2}"#)]
    );
}

#[test]
fn the_first_document_alone_is_parsed() {
    assert_eq!(
        json::to_string(&yaml::parse(b"a: 1\n---\nb: [").unwrap()),
        r#"{"a":1}"#
    );
    assert!(yaml::parse(b"").unwrap().is_null());
}
