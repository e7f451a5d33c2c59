//! Health by expressions.
//!
//! `data/health-cel.json` was recorded by a Go program that hands objects and expressions of our own making to `NewStatusEvaluator`
//! and `NewStatusReader` of github.com/fluxcd/pkg/runtime/cel v0.110.1 (cel-go v0.26.1), which Flux's controllers use.

use engine::health::cel::{Check, Checks};
use engine::health::{Overrides, Rules};
use jiff::Timestamp;
use model::health::State;
use model::{Value, value};

fn recorded() -> Vec<Value> {
    let cases = model::json::parse(include_bytes!("../../data/health-cel.json")).expect("the file is JSON");
    cases.list_at(&[]).to_vec()
}

fn check(case: &Value) -> Check {
    Check {
        api_version: case.str_at(&["apiVersion"]).to_owned(),
        kind: case.str_at(&["kind"]).to_owned(),
        current: case.str_at(&["current"]).to_owned(),
        failed: case.str_at(&["failed"]).to_owned(),
        in_progress: case.str_at(&["inProgress"]).to_owned(),
    }
}

/// HL7: the generation first, then what is in progress, failed, current.
#[test]
fn expressions_mean_what_they_mean_to_flux() {
    let mut wrong = Vec::new();
    for case in recorded().iter().filter(|case| case.get("object").is_some()) {
        let check = Check {
            api_version: "example.com/v1".to_owned(),
            kind: "Thing".to_owned(),
            ..check(case)
        };
        let object = case.get("object").expect("the case has an object");
        let got = match Checks::new(&[check]) {
            Err(_) => "invalid".to_owned(),
            Ok(checks) => {
                let health = checks.assess(object).expect("the check is for it");
                match health.state {
                    State::Unknown => health.message,
                    state => state.kstatus().to_owned(),
                }
            }
        };
        let wanted = match case.get("invalid") {
            Some(_) => "invalid",
            None => case
                .get("status")
                .or(case.get("error"))
                .and_then(Value::as_str)
                .unwrap_or_default(),
        };
        if got != wanted {
            wrong.push(format!(
                "{}\n  got    {got}\n  wanted {wanted}",
                case.str_at(&["name"])
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// HL8: what is wrong with checks is told in the words of Flux, but for those of its parser.
#[test]
fn checks_that_cannot_be_used_are_refused_as_by_flux() {
    for case in recorded().iter().filter(|case| case.get("checks").is_some()) {
        let checks: Vec<Check> = case.list_at(&["checks"]).iter().map(check).collect();
        let got = Checks::new(&checks)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        let is_syntax = got.contains("failed to parse the CEL expression");
        let told = |text: &str| match text.split_once(": ERROR: ") {
            Some((start, _)) if is_syntax => start.to_owned(),
            _ => text.to_owned(),
        };
        assert_eq!(
            told(&got),
            told(case.str_at(&["error"])),
            "{}",
            case.str_at(&["name"])
        );
    }
}

/// HL7: a check for a kind comes before one for its whole group.
#[test]
fn the_more_specific_check_tells() {
    let check = |kind: &str, current: &str| Check {
        api_version: "example.com/v1".to_owned(),
        kind: kind.to_owned(),
        current: current.to_owned(),
        ..Check::default()
    };
    let checks = Checks::new(&[check("", "false"), check("Thing", "true")]).unwrap();
    let state = |version: &str, kind: &str| {
        let object = value!({ "apiVersion": version, "kind": kind });
        checks.assess(&object).map(|health| health.state)
    };
    assert_eq!(state("example.com/v2", "Thing"), Some(State::Healthy));
    assert_eq!(state("example.com/v1", "Other"), Some(State::Progressing));
    assert_eq!(state("other.com/v1", "Thing"), None);
}

#[test]
fn other_kinds_are_left_to_the_rules() {
    let checks = Checks::new(&[Check {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        current: "false".to_owned(),
        ..Check::default()
    }]);
    let overrides = Overrides {
        cel: Some(checks.unwrap()),
        ..Overrides::from(Rules::Kstatus)
    };
    let state = |kind: &str| {
        let object = value!({ "apiVersion": "v1", "kind": kind });
        overrides
            .assess(&object, Timestamp::UNIX_EPOCH)
            .map(|health| health.state)
    };
    assert_eq!(state("ConfigMap"), Some(State::Progressing));
    assert_eq!(state("Secret"), Some(State::Healthy));
}

#[test]
fn expressions_that_could_take_long_are_refused() {
    let read = |text: &str| {
        Checks::new(&[Check {
            api_version: "v1".to_owned(),
            kind: "X".to_owned(),
            current: text.to_owned(),
            ..Check::default()
        }])
    };
    let deep = format!("{}true{}", "(".repeat(3000), ")".repeat(3000));
    let minus = format!("{}1 == 1", "-".repeat(5000));
    let chain = format!("true{}", " && true".repeat(2000));
    let growing = format!("['x']{}.size() > 0", ".map(a, a + a)".repeat(40));
    for text in [deep, minus, chain, growing] {
        assert!(read(&text).is_err(), "{text}");
    }
    let nested = read("l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))").unwrap();
    let object =
        |length: i64| value!({ "apiVersion": "v1", "kind": "X", "l": ((0..length).collect::<Value>()) });
    assert_eq!(nested.assess(&object(5)).unwrap().state, State::Healthy);
    let health = nested.assess(&object(1000)).unwrap();
    assert_eq!(health.state, State::Unknown);
    assert!(
        health
            .message
            .ends_with("it would take too long for an object of this size"),
        "{}",
        health.message
    );
}
