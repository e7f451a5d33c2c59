//! Charts of strangers.

use crate::charts::{load, make, request};

fn failure(template: &str) -> String {
    let mut request = request(load(&[("templates/a.yaml", template)]), "");
    request.options.limits.steps = 200_000;
    request.options.limits.memory = 10 << 20;
    make(request).unwrap_err()
}

#[test]
fn templates_that_include_themselves_are_stopped() {
    let text = failure("{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}");
    assert!(
        text.contains("rendering template has a nested reference name: x"),
        "{text}"
    );
    let text = failure("{{ define \"x\" }}{{ template \"x\" . }}{{ end }}{{ template \"x\" . }}");
    assert!(text.contains("exceeded maximum template depth"), "{text}");
    let text =
        failure("{{ define \"x\" }}{{ tpl \"{{ include \\\"x\\\" . }}\" . }}{{ end }}{{ include \"x\" . }}");
    assert!(text.contains("template"), "{text}");
}

#[test]
fn ranges_without_end_are_stopped() {
    let text = failure("{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}");
    assert!(text.contains("steps"), "{text}");
    let text = failure("{{ repeat 1000000000 \"x\" }}");
    assert!(text.contains("bytes"), "{text}");
}

/// Pieces of templates that mean something, to be put together at random.
const PIECES: [&str; 24] = [
    "{{",
    "}}",
    "{{- ",
    " -}}",
    ".Values",
    ".a",
    " | ",
    "toYaml ",
    "include \"x\" ",
    "tpl ",
    "\"{{\"",
    "range ",
    "end ",
    "if ",
    "define \"x\" ",
    "$y := ",
    "fromYaml ",
    "\n---\n",
    "a: b",
    "(",
    ")",
    "required ",
    "1e9 ",
    "index . ",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn no_template_and_no_values_make_it_panic(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..20),
        values in "[a-z:{}\\[\\]\n \"-]{0,40}",
    ) {
        let template: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let files = [("Chart.yaml", "name: app\nversion: 1.0.0\n"), ("templates/a.yaml", &template), ("values.yaml", &values)];
        let tree = helm::chart::MemoryTree::new(files);
        if let Ok(chart) = helm::chart::Chart::from_tree(&tree, "", &helm::chart::Limits::default()) {
            let mut request = request(chart, "");
            request.options.limits.steps = 100_000;
            request.options.limits.memory = 10 << 20;
            let _ = make(request);
        }
    }
}
