//! Health by scripts.

use engine::health::lua::{Libraries, Script, Scripts};
use engine::health::{Overrides, Rules};
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value, value};

fn now() -> Timestamp {
    "2024-02-29T12:30:45Z".parse().expect("it is a time")
}

fn script(source: &str) -> Script {
    Script {
        group: "example.com".to_owned(),
        kind: "Thing".to_owned(),
        source: source.to_owned(),
        ..Script::default()
    }
}

fn thing() -> Value {
    value!({ "apiVersion": "example.com/v1", "kind": "Thing", "spec": { "n": 3, "list": ["a", null, "c"] }, "status": { "phase": "Done" } })
}

/// What a script says of the thing.
fn run(source: &str) -> Option<Health> {
    Scripts::new(vec![script(source)])
        .expect("it is Lua")
        .assess(&thing(), now())
        .expect("it is for the thing")
}

fn message(source: &str) -> String {
    run(source).map(|health| health.message).unwrap_or_default()
}

#[test]
fn a_script_says_how_an_object_is_doing() {
    let health = run(
        "hs = {} if obj.status.phase == 'Done' then hs.status = 'Healthy' hs.message = 'n is ' .. obj.spec.n end return hs",
    );
    assert_eq!(health, Some(Health::because(State::Healthy, "n is 3")));
    for state in [
        "Healthy",
        "Suspended",
        "Progressing",
        "Missing",
        "Degraded",
        "Unknown",
    ] {
        let health = run(&format!("return {{ status = '{state}' }}"));
        assert_eq!(health.unwrap().state.argo(), state);
    }
}

#[test]
fn odd_answers_are_those_of_argo_cd() {
    assert_eq!(run("return nil"), None);
    assert_eq!(run("local x = 1"), None);
    assert_eq!(run("return {}"), None);
    let invalid = Some(Health::because(
        State::Unknown,
        "Lua returned an invalid health status",
    ));
    assert_eq!(run("return { status = 'Fine' }"), invalid);
    assert_eq!(run("return { status = 'Current' }"), invalid);
    assert_eq!(run("return { message = 'x' }"), invalid);
    let wrong = run("return 'Healthy'").unwrap();
    assert_eq!(
        (wrong.state, wrong.message.as_str()),
        (State::Unknown, "expect table output from Lua script, not string")
    );
    let failed = run("return obj.status.nothing.more").unwrap();
    assert_eq!(failed.state, State::Unknown);
    assert!(
        failed
            .message
            .contains("attempt to index field 'nothing' (a nil value)"),
        "{}",
        failed.message
    );
    assert!(!failed.message.contains("traceback"), "{}", failed.message);
}

#[test]
fn what_is_no_lua_is_refused() {
    let error = Scripts::new(vec![script("return {")]).unwrap_err().to_string();
    assert!(
        error.starts_with("the health script for example.com/Thing cannot be read: health:1:"),
        "{error}"
    );
    assert!(Scripts::new(vec![script("\u{1b}Lua")]).is_err());
}

#[test]
fn a_script_reaches_nothing_outside() {
    for name in [
        "io",
        "debug",
        "package",
        "dofile",
        "loadfile",
        "load",
        "loadstring",
        "collectgarbage",
        "coroutine",
        "module",
        "newproxy",
        "getfenv",
        "setfenv",
        "ffi",
        "jit",
        "spent",
        "os.execute",
        "os.getenv",
        "os.exit",
        "os.remove",
        "os.clock",
    ] {
        assert_eq!(
            message(&format!(
                "return {{ status = 'Healthy', message = type({name}) }}"
            )),
            "nil",
            "{name}"
        );
    }
    for name in ["string", "math"] {
        assert_eq!(
            message(&format!(
                "return {{ status = 'Healthy', message = type({name}) }}"
            )),
            "nil",
            "{name}"
        );
    }
    assert!(message("return require('io')").contains("module 'io' not found"));
}

#[test]
fn open_libraries_are_texts_and_numbers() {
    let open = |source: &str| {
        let script = Script {
            libraries: Libraries::Open,
            ..script(source)
        };
        let health = Scripts::new(vec![script])
            .unwrap()
            .assess(&thing(), now())
            .flatten();
        health.map(|health| health.message).unwrap_or_default()
    };
    assert_eq!(
        open("return { status = 'Healthy', message = string.upper('a') .. math.floor(1.5) .. ('b'):rep(2) }"),
        "A1bb"
    );
    for name in [
        "string.dump",
        "math.random",
        "math.randomseed",
        "io",
        "debug",
        "os.execute",
    ] {
        assert_eq!(
            open(&format!(
                "return {{ status = 'Healthy', message = type({name}) }}"
            )),
            "nil",
            "{name}"
        );
    }
}

#[test]
fn a_script_that_does_not_end_is_ended() {
    for source in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() end) end",
        "local function f() return f() end return f()",
        "local t = setmetatable({}, { __index = function(t, k) return t[k .. 'x'] end }) return { status = t.a }",
        "local t = {} while true do t[#t + 1] = ('x') .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "pcall(function() local s = 'x' while true do s = s .. s end end) while true do end",
    ] {
        let health = run(source).unwrap_or_else(|| panic!("{source} came to an end"));
        assert_eq!(health.state, State::Unknown, "{source}");
    }
}

#[test]
fn answers_run_no_more_code() {
    let health = run("return setmetatable({}, { __index = function() while true do end end })");
    assert_eq!(health, None);
}

#[test]
fn the_time_is_the_one_that_is_asked_for() {
    let text = |expression: &str| {
        message(&format!(
            "return {{ status = 'Healthy', message = '' .. {expression} }}"
        ))
    };
    assert_eq!(text("os.time()"), now().as_second().to_string());
    assert_eq!(
        text("os.time({ year = 1970, month = 1, day = 2, hour = 0 })"),
        "86400"
    );
    assert_eq!(
        text("os.time({ year = '2023', month = 14, day = 29, hour = 12, min = 30, sec = 45 })"),
        now().as_second().to_string()
    );
    assert_eq!(text("os.date('!%Y-%m-%dT%H:%M:%SZ')"), "2024-02-29T12:30:45Z");
    assert_eq!(text("os.date('*t', 0).year"), "1970");
    assert_eq!(text("require('os').time()"), now().as_second().to_string());
    assert!(text("os.time({ year = 1e18, month = 1, day = 1 })").contains("time out of range"));
}

#[test]
fn the_script_that_names_the_kind_comes_first() {
    let named = |group: &str, kind: &str, message: &str| Script {
        group: group.to_owned(),
        kind: kind.to_owned(),
        source: format!("return {{ status = 'Healthy', message = '{message}' }}"),
        ..Script::default()
    };
    let scripts = Scripts::new(vec![
        named("*.com", "*", "wild"),
        named("example.com", "Thing", "exact"),
    ])
    .unwrap();
    let scripts = scripts
        .followed_by(vec![
            named("example.com", "Other", "later"),
            named("*", "Odd", "last"),
        ])
        .unwrap();
    let told = |version: &str, kind: &str| {
        let object = value!({ "apiVersion": version, "kind": kind });
        scripts
            .assess(&object, now())
            .flatten()
            .map(|health| health.message)
    };
    assert_eq!(told("example.com/v1", "Thing").as_deref(), Some("exact"));
    assert_eq!(told("example.com/v1", "Other").as_deref(), Some("wild"));
    assert_eq!(told("example.org/v1", "Odd").as_deref(), Some("last"));
    assert_eq!(told("v1", "Pod"), None);
}

#[test]
fn what_is_being_deleted_is_on_its_way_whatever_scripts_say() {
    let overrides = Overrides {
        lua: Some(Scripts::new(vec![script("return { status = 'Healthy' }")]).unwrap()),
        ..Overrides::from(Rules::Argo)
    };
    let mut object = thing();
    assert_eq!(overrides.assess(&object, now()).unwrap().state, State::Healthy);
    object.set_at(&["metadata", "deletionTimestamp"], "2024-01-01T00:00:00Z");
    assert_eq!(
        overrides.assess(&object, now()).unwrap().message,
        "Pending deletion"
    );
}

/// HL6: a Job that removes itself may be gone.
#[test]
fn jobs_with_a_time_to_live_may_vanish() {
    use engine::health::may_vanish;
    assert!(may_vanish(
        &value!({ "apiVersion": "batch/v1", "kind": "Job", "spec": { "ttlSecondsAfterFinished": 0 } })
    ));
    assert!(!may_vanish(
        &value!({ "apiVersion": "batch/v1", "kind": "Job", "spec": {} })
    ));
    assert!(!may_vanish(
        &value!({ "apiVersion": "example.com/v1", "kind": "Job", "spec": { "ttlSecondsAfterFinished": 0 } })
    ));
}
