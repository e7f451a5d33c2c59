//! Charts of strangers.

use helm::values::Given;

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

#[test]
fn what_is_nested_very_deep_is_refused_or_read_but_never_exhausts_the_stack() {
    for template in [
        "{{ $x := list }}{{ range 20000 }}{{ $x = list $x }}{{ end }}a: {{ toYaml $x | len }}",
        "{{ $x := dict }}{{ range 20000 }}{{ $x = dict \"a\" $x }}{{ end }}a: {{ toJson $x | len }}{{ toYamlPretty $x | len }}{{ toToml $x | len }}",
        "a: {{ fromJson (repeat 300000 \"{\\\"a\\\":\") | len }}",
        "a: {{ fromJsonArray (repeat 1000000 \"[\") | len }}",
        "a: {{ fromYaml (repeat 1000000 \"[\") | len }}",
        "a: {{ fromYamlArray (repeat 300000 \"- \") | len }}",
        "a: {{ fromYaml (repeat 300000 \"? \") | len }}",
        "a: {{ fromToml (printf \"a=%s\" (repeat 300000 \"[\")) | len }}",
        "{{ $s := \"{{ tpl . . }}\" }}a: {{ tpl $s $s }}",
        "a: {{ tpl (repeat 2000 \"{{ if true }}\") . }}",
    ] {
        let mut request = request(load(&[("templates/a.yaml", template)]), "");
        request.options.limits.memory = 64 << 20;
        let begun = std::time::Instant::now();
        let _ = make(request);
        assert!(
            begun.elapsed().as_secs() < 30,
            "{template}: {:?}",
            begun.elapsed()
        );
    }
}

/// Each list holds the one before twice, so that a thousand bytes in memory are a terabyte when they are written.
#[test]
fn values_that_share_parts_are_not_written_beyond_the_limits() {
    for call in [
        "toYaml $x",
        "mustToYaml $x",
        "toYamlPretty $x",
        "toToml (dict \"a\" $x)",
        "toJson $x",
    ] {
        let text = failure(&format!(
            "{{{{ $x := list \"a\" }}}}{{{{ range 40 }}}}{{{{ $x = list $x $x }}}}{{{{ end }}}}{{{{ {call} }}}}"
        ));
        assert!(
            text.contains("bytes") || text.contains("limits"),
            "{call}: {text}"
        );
    }
    let text = failure(
        "{{ $x := dict \"a\" 1 }}{{ range 40 }}{{ $x = dict (repeat 1000 \"a\") $x (repeat 1000 \"b\") $x }}{{ end }}{{ toToml $x }}",
    );
    assert!(text.contains("bytes"), "{text}");
}

#[test]
fn files_that_are_read_again_and_again_are_counted() {
    let content = "x".repeat(1 << 20);
    for call in [
        "$x := .Files.big",
        "$x := index .Files \"big\"",
        "$x := .Files.Get \"big\"",
        "$x := get .Files \"big\"",
        "$x := .Files.Lines \"big\"",
        "$x := .Files.AsConfig",
    ] {
        let template = format!(
            "{{{{ range 100 }}}}{{{{ {} }}}}{{{{ end }}}}",
            call.replace(".Files", "$.Files")
        );
        let mut request = request(load(&[("templates/a.yaml", &template), ("big", &content)]), "");
        request.options.limits.steps = 200_000;
        request.options.limits.memory = 64 << 20;
        let text = make(request).unwrap_err();
        assert!(text.contains("steps") || text.contains("bytes"), "{call}: {text}");
    }
}

#[test]
fn a_rendering_is_stopped_when_asked_and_says_in_which_template() {
    let mut request = request(
        load(&[("templates/slow.yaml", "{{ range 1000000000 }}{{ end }}")]),
        "",
    );
    request.options.stop = Some(std::sync::Arc::new(|| Some("the time is up".to_owned())));
    let text = make(request).unwrap_err();
    assert!(text.contains("templates/slow.yaml:1:"), "{text}");
    assert!(text.contains("the time is up"), "{text}");
}

#[test]
fn templates_that_take_more_memory_than_allowed_once_they_are_parsed_are_refused() {
    let text = failure(&"{{ 1 }}".repeat(100_000));
    assert!(text.contains("once they are parsed"), "{text}");
    let text = failure("a: {{ tpl (repeat 100000 \"{{ 1 }}\") . }}");
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

const VALUES: [&str; 22] = [
    "a:",
    "b: ",
    "global:",
    "sub:",
    "tags:",
    "t: ",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "null",
    "true",
    "1e400",
    "{}",
    "[1, {a: b}]",
    "&x ",
    "*x",
    "<<: ",
    "---\n",
    "|\n  x",
    "\"q\"",
    ": ",
];

/// Pieces of what `--set` and its relatives take.
const SETS: [&str; 22] = [
    "a",
    "b",
    ".",
    "=",
    ",",
    "[0]",
    "[1]",
    "[-1]",
    "[99999999999]",
    "{",
    "}",
    "\\",
    "\\,",
    "null",
    "global",
    "sub",
    "\"",
    "[",
    "]",
    "1e9",
    "é",
    "[65537]",
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

    /// Files, `--set` and its relatives, over defaults of a chart with one below it, a schema, tags, conditions and imports.
    #[test]
    fn no_given_values_make_it_panic(
        files in proptest::collection::vec(proptest::collection::vec(0..VALUES.len(), 0..16), 0..3),
        sets in proptest::collection::vec(proptest::collection::vec(0..SETS.len(), 0..14), 5),
    ) {
        let joined = |pieces: &[usize], of: &[&str]| pieces.iter().map(|piece| of[*piece]).collect::<String>();
        let text = |at: usize| vec![joined(&sets[at], &SETS)];
        let given = Given {
            files: files.iter().map(|pieces| ("v.yaml".to_owned(), joined(pieces, &VALUES).into_bytes())).collect(),
            json: text(0),
            set: text(1),
            strings: text(2),
            set_files: text(3),
            literals: text(4),
        };
        let alone = |given: Given| given.merge(&mut |_| Ok("content".to_owned()));
        // What is wrong with one hides the others, so each is tried alone too.
        let plain = Given { set: given.set.clone(), ..Given::default() };
        let strings = Given { strings: given.strings.clone(), ..Given::default() };
        let literals = Given { literals: given.literals.clone(), ..Given::default() };
        let json = Given { json: given.json.clone(), ..Given::default() };
        let read = Given { files: given.files.clone(), ..Given::default() };
        for given in [given, plain, strings, literals, json, read] {
            let Ok(values) = alone(given) else { continue };
            let mut request = request(load(&[
                ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: sub, version: '*', condition: a.b, tags: [t], import-values: [x, {child: c, parent: a}]}\n"),
                ("values.yaml", "a: {b: true, c: [1]}\nglobal: {g: 1}\nsub: {c: {d: 1}}\n"),
                ("values.schema.json", "{\"properties\":{\"a\":{\"type\":\"object\"}}}"),
                ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
                ("charts/sub/values.yaml", "exports: {x: {y: 1}}\nc: {d: 2}\n"),
                ("charts/sub/templates/a.yaml", "a: {{ .Values | toJson | quote }}\n"),
                ("templates/a.yaml", "a: {{ .Values | toYaml | quote }}\n"),
            ]), "");
            request.given = values;
            let _ = make(request);
        }
    }
}
