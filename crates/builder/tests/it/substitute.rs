//! Variables in objects: VS1 to VS9, as far as they are the build's. The grammar itself has its tests in `kustomize`.

use builder::{Request, Substitution};
use kustomize::substitute::Variables;

use super::{build, config, problems, text};

fn with(variables: &[(&str, &str)]) -> Request {
    let mut all = Variables::default();
    for (name, value) in variables {
        all.insert(*name, value);
    }
    Request {
        substitution: Some(Substitution {
            variables: all,
            always: false,
        }),
        ..Request::default()
    }
}

fn strict(variables: &[(&str, &str)]) -> Request {
    let mut request = with(variables);
    request.substitution.as_mut().unwrap().variables.strict = true;
    request
}

/// What the field `v` of a ConfigMap becomes.
fn value(written: &str, request: &Request) -> String {
    let file = format!("{}data:\n  v: {written}\n", config("a"));
    let text = text(&[("a.yaml", &file)], request);
    let (_, rest) = text.split_once("  v: ").unwrap_or_else(|| panic!("{text}"));
    rest.split_once("\nkind").unwrap().0.to_owned()
}

/// VS1: of equal names the last that was added wins; whoever asks adds `substitute` after `substituteFrom`.
#[test]
fn vs1_a_later_variable_replaces_an_earlier_one() {
    assert_eq!(value("${x}", &with(&[("x", "from"), ("x", "inline")])), "inline");
}

/// VS2: values lose their ends of lines.
#[test]
fn vs2_values_are_one_line() {
    assert_eq!(value("${x}", &with(&[("x", "a\nb\n")])), "ab");
}

/// VS3: one name that nothing could refer to fails the build, whether it is used or not; all of them are told.
#[test]
fn vs3_names_that_are_none_fail_the_build() {
    let request = with(&[("good", "1"), ("not-good", "2"), ("1st", "3")]);
    assert_eq!(
        problems(&[("a.yaml", &config("a"))], &request),
        ["1st", "not-good"].map(|name| format!(
            "'{name}' var name is invalid, must match '^[_[:alpha:]][_[:alpha:][:digit:]]*$'"
        ))
    );
}

/// VS4: without a variable nothing is substituted, unless that is wanted always.
#[test]
fn vs4_without_variables_texts_stay_unless_told_otherwise() {
    let mut request = with(&[]);
    assert_eq!(value("${x:=d}$$", &request), "${x:=d}$$");
    request.substitution.as_mut().unwrap().always = true;
    assert_eq!(value("${x:=d}$$", &request), "d$");
    assert_eq!(value("${x:=d}", &Request::default()), "${x:=d}");
}

/// VS4: the object is read again from its text, so that quotes around a variable are lost.
#[test]
fn vs4_what_is_substituted_is_read_again() {
    let request = with(&[
        ("n", "8080"),
        ("q", "\""),
        ("t", "yes"),
        ("big", "12345678901234567890123"),
    ]);
    assert_eq!(value("\"${n}\"", &request), "8080");
    assert_eq!(value("${q}${n}${q}", &request), "\"8080\"");
    assert_eq!(value("${t}", &request), "true");
    assert_eq!(value("9007199254740993", &request), "9007199254740992");
}

/// VS5: in strict mode a variable that is not there is an error of its object; one with a default is none.
#[test]
fn vs5_strict_mode_wants_every_variable_without_a_default() {
    let request = strict(&[("x", "1")]);
    assert_eq!(value("${y:=d}${x}", &request), "d1");
    let files = [
        ("a.yaml", format!("{}data:\n  v: ${{missing}}\n", config("a"))),
        ("b.yaml", format!("{}data:\n  v: ${{gone^^}}\n", config("b"))),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let problems = problems(&files, &request);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("post build failed for 'v1/ConfigMap/a': variable substitution failed: ")
            && problems[0].contains("variable not set (strict mode): \"missing\""),
        "{problems:?}"
    );
    assert!(problems[1].contains("strict mode): \"gone\""), "{problems:?}");
    assert_eq!(value("a${y}b", &with(&[("x", "1")])), "ab");
}

/// VS6, VS7: a sample of the grammar, in an object.
#[test]
fn vs6_the_grammar_works_in_objects() {
    let request = with(&[("v", "Hello"), ("e", "")]);
    for (written, expected) in [
        ("${v}", "Hello"),
        ("${#v}", "5"),
        ("${v^^}", "HELLO"),
        ("${v,,}", "hello"),
        ("${v:1:3}", "ell"),
        ("${v#H}", "ello"),
        ("${v%l*}", "Hel"),
        ("${e:-d}", "d"),
        ("${e:=a-${v}-b}", "a-Hello-b"),
        ("${v/l/L}", "HeLlo"),
        ("${v//l/L}", "HeLLo"),
    ] {
        assert_eq!(value(written, &request), expected, "{written}");
    }
    for (written, expected) in [("${e:+d}", "d"), ("${e:?d}", "d"), ("${e=d}", "d")] {
        assert_eq!(
            value(&format!("'{written}'"), &request),
            expected,
            "VS7: {written}"
        );
    }
}

/// VS8: two dollar signs are one, and a name without braces is plain text.
#[test]
fn vs8_dollar_signs_are_escaped_by_doubling() {
    let request = with(&[("v", "x")]);
    assert_eq!(value("$${v} $v $$", &request), "${v} $v $");
}

/// VS9: what looks like a substitution and is none fails the build, unless its object opts out by annotation or label.
#[test]
fn vs9_a_malformed_substitution_fails_unless_its_object_opts_out() {
    let request = with(&[("x", "1")]);
    let broken = |metadata: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{metadata}}}\ndata: {{v: '${{a-b}} ${{x}}'}}\n"
        )
    };
    let problems = problems(&[("a.yaml", &broken(""))], &request).join("\n");
    assert!(problems.contains("'v1/ConfigMap/a'"), "{problems}");
    for field in ["annotations", "labels"] {
        let file = broken(&format!(
            ", {field}: {{kustomize.toolkit.fluxcd.io/substitute: disabled}}"
        ));
        let text = text(&[("a.yaml", &file)], &request);
        assert!(text.contains("v: ${a-b} ${x}"), "{field}: {text}");
    }
    let file = broken(", annotations: {kustomize.toolkit.fluxcd.io/substitute: Disabled}");
    assert!(build(&[("a.yaml", &file)], &request).is_err());
}

/// Quotes around a variable are gone before it is substituted, as with Flux; what is advised helps.
#[test]
fn a_value_with_a_colon_needs_quotes_of_its_own() {
    let file = format!("{}data:\n  v: \"${{x}}\"\n", config("a"));
    let files = [("a.yaml", file.as_str())];
    assert!(build(&files, &with(&[("x", "a: b")])).is_err());
    assert!(text(&files, &with(&[("x", "\"a: b\"")])).contains("  v: 'a: b'\n"));
}

/// A value that breaks the YAML of its object is not shown: it may be a secret.
#[test]
fn what_breaks_an_object_is_not_shown() {
    let request = with(&[("x", "{hunter2: [*unknown")]);
    let file = format!("{}data:\n  v: ${{x}}\n", config("a"));
    let problems = problems(&[("a.yaml", &file)], &request);
    assert_eq!(
        problems,
        [
            "post build failed for 'v1/ConfigMap/a': data.v (a.yaml:6): with its variables substituted, it is no YAML object any \
          more: give the value quotes of its own, such as '\"a: b\"' (those around a variable in a file are gone by then)"
        ]
    );
    assert!(!format!("{request:?}").contains("hunter2"));
}

/// All mistakes of all objects are told, each with the object, the field, the variable and the line of the file.
#[test]
fn vs9_all_mistakes_of_all_objects_are_told_with_field_and_line() {
    let first = "# two of them\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: apps\n  annotations:\n    example.com/x: \"${gone}\"\ndata:\n  ok: ${x}\n  text: |\n    first\n    ${also_gone} and ${a-b}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: b}\nspec:\n  ports:\n  - {name: \"${}\", port: 80}\n";
    let second = "namePrefix: p-\nresources: [first.yaml]\nconfigMapGenerator:\n- name: c\n  literals: ['v=${gone}']\n";
    let found = problems(
        &[("kustomization.yaml", second), ("first.yaml", first)],
        &strict(&[("x", "1")]),
    );
    let wanted = [
        "'v1/ConfigMap/apps/p-a': variable substitution failed: data.text (first.yaml:14): variable not set (strict mode): \
         \"also_gone\"",
        "'v1/ConfigMap/apps/p-a': variable substitution failed: data.text (first.yaml:14): missing closing brace of the \
         variable 'a'",
        "'v1/ConfigMap/apps/p-a': variable substitution failed: metadata.annotations[\"example.com/x\"] (first.yaml:9): \
         variable not set (strict mode): \"gone\"",
        "'v1/Service/p-b': variable substitution failed: spec.ports[0].name (first.yaml:21): unable to parse variable name",
    ];
    assert_eq!(found.len(), 5, "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        let wanted = format!("post build failed for {wanted}");
        assert!(found.starts_with(&wanted), "{wanted}\n{found}");
    }
    assert!(
        found[4].contains("/p-c-") && found[4].contains("data.v (kustomization.yaml:4): variable not set"),
        "{found:#?}"
    );
}

/// What looks like a variable in a Secret may be a part of it.
#[test]
fn vs9_no_part_of_a_secret_is_told() {
    let file =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 'pa${hunter2-', b: '${known}'}\n";
    let found = problems(&[("s.yaml", file)], &strict(&[("x", "1")]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(!found.concat().contains("hunter2"), "{found:?}");
    assert!(
        found[0].contains("stringData.a (s.yaml:4): bad substitution"),
        "{found:?}"
    );
}

#[test]
fn objects_that_become_the_same_are_refused() {
    let files = [("a.yaml", config("x")), ("b.yaml", config("${n}"))];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let problems = problems(&files, &with(&[("n", "x")]));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("'v1/ConfigMap/x'"), "{problems:?}");
}
