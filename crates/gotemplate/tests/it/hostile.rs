//! No template makes it panic, hang, or take more than its limits allow.

use std::sync::Arc;

use gotemplate::{ErrorKind, FixedWorld, Functions, Limits, Map, Session, Templates, Value};
use proptest::prelude::*;

const SMALL: Limits = Limits {
    depth: 50,
    steps: 20_000,
    output: 1 << 20,
    memory: 4 << 20,
};

fn data() -> Value {
    Value::Map(Map::from_iter([
        ("s", Value::str("hello wörld")),
        ("n", Value::Nil),
        ("one", Value::Float(1.0)),
        (
            "list",
            Value::list(vec![Value::str("a"), Value::Float(2.0), Value::Nil]),
        ),
        (
            "map",
            Value::Map(Map::from_iter([
                ("a", Value::Float(1.0)),
                ("b", Value::Map(Map::new())),
            ])),
        ),
    ]))
}

fn render(text: &str, limits: Limits) -> Result<Vec<u8>, gotemplate::Error> {
    let mut templates = Templates::new(Arc::new(Functions::sprig()));
    templates.parse("t", text)?;
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().expect("it is a time"), 7);
    let mut session = Session::new(limits, &mut world);
    templates.execute("t", &data(), &mut session)
}

#[test]
fn what_exceeds_the_limits_is_an_error_of_that_kind() {
    let deep = "{{ define \"x\" }}{{ template \"x\" . }}{{ end }}{{ template \"x\" . }}";
    let cases = [
        deep,
        "{{ range 1000000000 }}x{{ end }}",
        "{{ range 1000000000 }}{{ end }}",
        "{{ repeat 1000000000 \"x\" }}",
        "{{ until 1000000000 }}",
        "{{ untilStep 0 9000000000000000000 1 }}",
        "{{ seq 1000000000 }}",
        "{{ indent 1000000000 \"a\" }}",
        "{{ randAlphaNum 1000000000 }}",
        "{{ randBytes 1000000000 }}",
        "{{ $x := \"ab\" }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}",
        "{{ $x := \"ab\" }}{{ range 100 }}{{ $x = replace \"b\" (print $x $x) $x }}{{ end }}",
        "{{ $x := list 1 }}{{ range 100 }}{{ $x = concat $x $x }}{{ end }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ toJson $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ deepCopy $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" (list $d) }}{{ printf \"%d\" $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ merge $d $e }}",
        "{{ printf \"%1000000d%1000000d%1000000d%1000000d%1000000d\" 1 2 3 4 5 }}",
        "{{ range 100 }}{{ regexReplaceAll \"\" (repeat 10000 \"x\") (repeat 10000 \"y\") }}{{ end }}",
        "{{ uniq (until 100000) }}",
    ];
    for text in cases {
        let error = render(text, SMALL).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Limit, "{text}: {error}");
    }
}

/// With the limits that charts are rendered with; what is not optimised gets a part of them, as it takes so much longer.
#[test]
fn what_would_take_minutes_is_stopped_within_seconds() {
    let limits = match cfg!(debug_assertions) {
        true => Limits {
            steps: 1_000_000,
            memory: 64 << 20,
            ..Limits::default()
        },
        false => Limits::default(),
    };
    for text in [
        "{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}",
        "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}",
        "{{ range 100000 }}{{ range 100000 }}x{{ end }}{{ end }}",
        "{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}",
        "{{ range $i, $x := until 100000 }}{{ range $x := until 100000 }}{{ continue }}{{ end }}{{ end }}",
        "{{ range 100000 }}{{ range 100000 }}{{ break }}{{ end }}{{ range 100000 }}{{ if false }}{{ end }}{{ end }}{{ end }}",
        "{{ define \"x\" }}{{ range 100000 }}{{ template \"y\" }}{{ end }}{{ end }}{{ define \"y\" }}{{ end }}{{ range 100000 }}{{ template \"x\" }}{{ end }}",
        "{{ repeat 100000 (repeat 100000 \"x\") }}",
        "{{ range 1000000 }}{{ $x := repeat 100000 \"x\" }}{{ end }}",
        "{{ range 1000000 }}{{ $x := seq 1 100000 }}{{ end }}",
        "{{ $x := \"a\" }}{{ range 100 }}{{ $x = regexReplaceAll \"a\" $x \"aaaa\" }}{{ end }}",
        "{{ $x := \"a\" }}{{ range 100 }}{{ $x = regexReplaceAll \"(.*)\" $x \"$1$1$1$1\" }}{{ end }}",
        "{{ $x := \"a\" }}{{ range 100 }}{{ $x = regexReplaceAllLiteral \"\" $x \"aaaa\" }}{{ end }}",
        "{{ range 100000 }}{{ $x := genPrivateKey \"dsa\" }}{{ end }}",
        "{{ range 100000 }}{{ $x := htpasswd \"a\" \"b\" }}{{ end }}",
        "{{ range 100000 }}{{ $x := derivePassword 1 \"long\" \"a\" \"b\" \"c\" }}{{ end }}",
    ] {
        let begun = std::time::Instant::now();
        let error = render(text, limits).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Limit, "{text}: {error}");
        assert!(begun.elapsed().as_secs() < 60, "{text}: {:?}", begun.elapsed());
    }
}

/// Each call took one step, however much it had to do.
#[test]
fn functions_over_long_texts_cost_steps_for_their_length() {
    let limits = Limits {
        steps: 100_000,
        ..Limits::default()
    };
    for call in [
        "sha1sum $x",
        "sha256sum $x",
        "sha512sum $x",
        "adler32sum $x",
        "contains \"z\" $x",
        "eq $x (print $x)",
        "deepEqual (list $x) (list (print $x))",
        "has (print $x) (list $x)",
        "without (list $x) (print $x)",
        "regexMatch \"z\" $x",
        "regexFindAll \"z\" $x -1",
        "regexSplit \"z\" $x -1",
        "regexReplaceAll \"z\" $x \"y\"",
        "trimAll \"yz\" $x",
        "upper $x",
        "snakecase $x",
        "b64enc $x | len",
        "htpasswd $x $x",
        "fromJson $x",
        "urlParse $x",
    ] {
        let text = format!(
            "{{{{ $x := repeat 100000 \"x\" }}}}{{{{ range 1000 }}}}{{{{ $y := {call} }}}}{{{{ end }}}}"
        );
        let error = render(&text, limits).expect_err(call);
        assert_eq!(error.kind(), ErrorKind::Limit, "{call}: {error}");
        assert!(error.message().contains("steps"), "{call}: {error}");
    }
}

/// Keys and hashes counted nothing, or as memory, and so did what an expression has to go through.
#[test]
fn what_takes_long_is_counted_before_it_begins() {
    let limits = Limits {
        steps: 4_000,
        ..Limits::default()
    };
    let key = "-----BEGIN RSA PRIVATE KEY-----\n\
        MIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n-----END RSA PRIVATE KEY-----\n";
    for call in [
        "genPrivateKey \"rsa\"",
        "genPrivateKey \"dsa\"",
        "genPrivateKey \"ecdsa\"",
        "genCA \"a\" 1",
        "genSelfSignedCert \"a\" nil nil 1",
        &format!("genCAWithKey \"a\" 1 {key:?}"),
        "bcrypt \"a\"",
        "htpasswd \"a\" \"b\"",
        "derivePassword 1 \"long\" \"a\" \"b\" \"c\"",
        "getHostByName \"a\"",
        "randAlpha 10000",
        "regexMatch \"(a{1,100}){100}\" (repeat 1000 \"a\")",
    ] {
        let begun = std::time::Instant::now();
        let error = render(&format!("{{{{ {call} }}}}"), limits).expect_err(call);
        assert_eq!(error.kind(), ErrorKind::Limit, "{call}: {error}");
        assert!(error.message().contains("steps"), "{call}: {error}");
        assert!(begun.elapsed().as_secs() < 2, "{call}: {:?}", begun.elapsed());
    }
}

#[test]
fn private_keys_of_more_than_8192_bits_are_refused() {
    let body = "QUFB".repeat(2_000);
    let text = format!(
        "{{{{ genCAWithKey \"a\" 1 \"-----BEGIN RSA PRIVATE KEY-----\\n{body}\\n-----END RSA PRIVATE KEY-----\\n\" }}}}"
    );
    let error = render(&text, Limits::default()).unwrap_err();
    assert!(error.message().contains("8192 bits"), "{error}");
}

#[test]
fn expressions_cost_steps_for_their_size() {
    let steps = |expression: &str| {
        let mut templates = Templates::new(Arc::new(Functions::sprig()));
        let text = format!("{{{{ regexMatch {expression:?} (repeat 1000 \"a\") }}}}");
        templates.parse("t", &text).unwrap();
        let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 7);
        let mut session = Session::new(Limits::default(), &mut world);
        templates.execute("t", &data(), &mut session).unwrap();
        session.steps()
    };
    let (small, large) = (steps("a+b"), steps("(a{1,100}){20}b"));
    assert!(small < 5_000, "{small}");
    assert!(large > 8 * small, "{large} {small}");
}

/// What a function makes of its arguments was counted only when all of it was made.
#[test]
fn texts_that_functions_would_make_much_of_are_refused_before() {
    let limits = Limits {
        memory: 32 << 20,
        ..Limits::default()
    };
    let arguments = "$x ".repeat(100);
    for call in [
        format!("quote {arguments}"),
        format!("squote {arguments}"),
        format!("cat {arguments}"),
        format!("print {arguments}"),
        format!("html {arguments}"),
        "toJson (list $y)".to_owned(),
        "printf \"%q\" (list $y)".to_owned(),
        "b64dec $y".to_owned(),
        "splitList \"\" $y".to_owned(),
        "fromJson (printf \"[%s0]\" (repeat 4000000 \"0,\"))".to_owned(),
    ] {
        let text = format!(
            "{{{{ $x := repeat 1000000 \"x\" }}}}{{{{ $y := repeat 8000000 \"\\x00\" }}}}{{{{ $z := {call} }}}}"
        );
        let error = render(&text, limits).expect_err(&call);
        assert_eq!(error.kind(), ErrorKind::Limit, "{call}: {error}");
    }
}

#[test]
fn whoever_renders_can_stop_it_and_the_error_says_where_and_why() {
    for text in [
        "{{ range 1000000000 }}{{ end }}",
        "{{ $x := repeat 100000 \"x\" }}{{ range 1000000000 }}{{ $y := sha256sum $x }}{{ end }}",
        "{{ range 1000000000 }}{{ $x := bcrypt \"a\" }}{{ end }}",
        "{{ range 1000000000 }}{{ $x := getHostByName \"a\" }}{{ end }}",
        "{{ $x := regexFindAll \"x\" (repeat 1000000 \"x\") -1 }}",
    ] {
        let mut templates = Templates::new(Arc::new(Functions::sprig()));
        templates.parse("slow.yaml", text).unwrap();
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            (asked.get() > 3).then(|| "the time is up".to_owned())
        };
        let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 7);
        let mut session = Session::new(Limits::default(), &mut world).with_stop(&stop);
        let error = templates
            .execute("slow.yaml", &data(), &mut session)
            .expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Limit, "{text}: {error}");
        assert_eq!(error.template(), Some("slow.yaml"));
        assert!(error.message().contains("slow.yaml:1:"), "{error}");
        assert!(error.message().ends_with("the time is up"), "{error}");
        assert_eq!(asked.get(), 4, "{text}");
    }
}

#[test]
fn errors_stay_short_however_many_templates_they_pass_through() {
    let text = format!(
        "{{{{ define \"x\" }}}}{{{{ include \"x\" (list . \"{}\") }}}}{{{{ end }}}}{{{{ include \"x\" . }}}}",
        "x".repeat(10_000)
    );
    let mut functions = Functions::sprig();
    let include = |call: &mut gotemplate::Call<'_, '_>| {
        let text = call.render(&call.str(0), call.arg(1))?;
        Ok(Value::string_of_vec(text))
    };
    functions.insert(
        "include",
        gotemplate::Function::new(&[gotemplate::Type::String, gotemplate::Type::Any], include),
    );
    let mut templates = Templates::new(Arc::new(functions));
    templates.parse("t", &text).unwrap();
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 7);
    let mut session = Session::new(Limits::default(), &mut world);
    let error = templates.execute("t", &data(), &mut session).unwrap_err();
    assert!(error.message().len() < 100_000);
    assert!(error.message().contains("exceeded maximum template depth"));
    let error = render("{{ fail (repeat 1000000 \"y\") }}", Limits::default()).unwrap_err();
    assert!(error.message().len() < 100_000);
}

/// Each of a thousand templates inside of one another may have hundreds of blocks inside of one another, and all take stack.
#[test]
fn blocks_of_templates_inside_of_one_another_are_counted_together() {
    let text = format!(
        "{{{{ define \"x\" }}}}{}{{{{ template \"x\" . }}}}{}{{{{ end }}}}{{{{ template \"x\" . }}}}",
        "{{ if true }}".repeat(300),
        "{{ end }}".repeat(300)
    );
    let error = render(&text, Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.message().contains("inside of one another"), "{error}");
}

#[test]
fn deep_recursion_needs_no_large_stack_of_its_thread() {
    let text = "{{ define \"x\" }}{{ if gt . 0 }}{{ with (sub . 1 | int) }}({{ template \"x\" . }}){{ end }}{{ end }}{{ end }}\
                {{ template \"x\" 900 }}";
    let thread = std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(move || render(text, Limits::default()).map(|out| out.len()));
    assert_eq!(thread.unwrap().join().unwrap(), Ok(899 * 2));
}

#[test]
fn values_nested_very_deep_are_dropped_without_recursion() {
    let text = "{{ $x := list }}{{ range 200000 }}{{ $x = list $x }}{{ end }}{{ $d := dict }}{{ range 200000 }}{{ $d = dict \"a\" $d }}{{ end }}{{ len $x }}";
    assert_eq!(render(text, Limits::default()), Ok(b"1".to_vec()));
}

#[test]
fn a_map_that_contains_itself_is_emptied_when_the_session_ends() {
    let mut templates = Templates::new(Arc::new(Functions::sprig()));
    templates
        .parse(
            "t",
            "{{ $_ := set .map \"self\" (list .map) }}{{ hasKey .map \"self\" }}",
        )
        .unwrap();
    let data = data();
    let map = data.as_map().unwrap().get("map").unwrap();
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 7);
    let mut session = Session::new(SMALL, &mut world);
    assert_eq!(templates.execute("t", &data, &mut session).unwrap(), b"true");
    assert!(!map.as_map().unwrap().is_empty());
    drop(session);
    assert!(map.as_map().unwrap().is_empty());
}

#[test]
fn the_same_seed_gives_the_same_passwords() {
    let text = "{{ randAlphaNum 20 }} {{ uuidv4 }} {{ shuffle \"abcdefgh\" }} {{ randInt 0 1000000 }} {{ genPrivateKey \"ed25519\" }}{{ genPrivateKey \"ecdsa\" }}{{ genPrivateKey \"dsa\" }}";
    let limits = Limits::default();
    let first = render(text, limits).unwrap();
    assert_eq!(first, render(text, limits).unwrap());
    assert!(first.len() > 1_000);
}

/// Pieces that templates are made of, right and wrong ones.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "{{",
        "}}",
        "{{-",
        "-}}",
        " ",
        "|",
        "(",
        ")",
        ".",
        "$",
        "$x",
        ":=",
        "=",
        ",",
        "\"a\"",
        "`b`",
        "'c'",
        "1",
        "-2.5",
        "0x1p-2",
        "1i",
        "nil",
        "true",
        ".s",
        ".n",
        ".one",
        ".list",
        ".map",
        ".map.a.b",
        "$.s",
        "if",
        "else",
        "end",
        "range",
        "with",
        "define \"t\"",
        "template \"t\"",
        "block \"b\"",
        "break",
        "continue",
        "/*",
        "*/",
        "\n",
        "text",
        "é",
        "\\",
        "{{end}}",
        "{{else}}",
        "{{if .s}}",
        "{{range .list}}",
        "{{with .map}}",
        "%",
        "{{range $i, $v := .map}}",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn function() -> impl Strategy<Value = String> {
    let mut names: Vec<String> = Functions::sprig().names().map(str::to_owned).collect();
    // These take seconds without optimisation.
    names.retain(|name| {
        !name.starts_with("gen") && !["bcrypt", "htpasswd", "derivePassword"].contains(&name.as_str())
    });
    names.sort();
    prop::sample::select(names)
}

fn argument() -> impl Strategy<Value = String> {
    let plain = [
        "1",
        "-1",
        "0",
        "3.7",
        "1e300",
        "9223372036854775807",
        "\"\"",
        "\"a,b\"",
        "\"%d %s %v\"",
        "\"2006-01-02\"",
        "\"(a+)\"",
        "\"é\\xff\"",
        "nil",
        "true",
        ".",
        ".s",
        ".n",
        ".one",
        ".list",
        ".map",
        ".missing",
        "(list 1 nil \"x\")",
        "(dict \"a\" 1)",
        "(until 3)",
        "(semver \"1.2.3\")",
        "now",
        "(split \",\" \"a,b\")",
        "(b64dec \"/+8=\")",
        "1i",
        "'x'",
        "(list)",
        "\"1.2.3\"",
        "\"10h\"",
        "\"{}\"",
        "\"http://a:b@c/d?e#f\"",
    ];
    prop::sample::select(plain.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(piece(), 0..30)) {
        let _ = render(&pieces.concat(), SMALL);
    }

    #[test]
    fn no_call_makes_it_panic(
        calls in prop::collection::vec((function(), prop::collection::vec(argument(), 0..5), function()), 1..4)
    ) {
        let text: String = calls.iter().map(|(name, args, then)| {
            let args = args.join(" ");
            format!("{{{{ $x := {name} {args} }}}}{{{{ $x | {then} }}}}{{{{ $x | print | len }}}}")
        }).collect();
        // What one call refuses hides the others, so each is tried alone too.
        let _ = render(&text, SMALL);
        for (name, args, _) in &calls {
            let _ = render(&format!("{{{{ {name} {} }}}}", args.join(" ")), SMALL);
        }
    }

    #[test]
    fn no_format_makes_it_panic(format in "[%a-zA-Z#+0 .*\\[\\]1-9é-]{0,12}", args in prop::collection::vec(argument(), 0..4)) {
        let _ = render(&format!("{{{{ printf \"{format}\" {} }}}}", args.join(" ")), SMALL);
    }
}
