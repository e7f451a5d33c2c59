//! Objects of all kinds that have rules, in all the ways that rules tell apart. What is expected was recorded from kstatus
//! (as Flux's kustomize-controller 1.9 has it, with its rule for jobs) and from Argo CD's engine.

mod argo_scripts;
mod cel;
mod lua;

use engine::health::Rules;
use jiff::{SignedDuration, Timestamp};
use model::Value;
use model::health::State;

fn cases() -> Vec<Value> {
    let text = include_bytes!("../../data/health.json");
    let cases = model::json::parse(text).expect("the file is JSON");
    cases.list_at(&[]).to_vec()
}

/// Long after all objects were made, but for the one that was made a moment ago.
fn now() -> Timestamp {
    "2026-11-16T00:00:00Z".parse().expect("it is a time")
}

fn object(case: &Value) -> Value {
    let mut object = case.get("object").expect("a case has an object").clone();
    if object.str_at(&["metadata", "creationTimestamp"]) == "NOW" {
        let moment = now() - SignedDuration::from_secs(1);
        object.set_at(&["metadata", "creationTimestamp"], moment.to_string().as_str());
    }
    object
}

#[test]
fn objects_are_what_kstatus_says() {
    let mut wrong = Vec::new();
    for case in cases() {
        let health = Rules::Kstatus
            .assess(&object(&case), now())
            .expect("kstatus has a word for everything");
        let got = (health.state.kstatus(), health.message.as_str());
        let wanted = (
            case.str_at(&["kstatus", "status"]),
            case.str_at(&["kstatus", "message"]),
        );
        if got != wanted {
            wrong.push(format!(
                "{}: {got:?} instead of {wanted:?}",
                case.str_at(&["name"])
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn objects_are_what_argo_cd_says() {
    let mut wrong = Vec::new();
    for case in cases() {
        let health = Rules::Argo.assess(&object(&case), now());
        let got = health.as_ref().map_or("", |health| health.state.argo());
        let wanted = case.str_at(&["argo", "status"]);
        if got != wanted {
            wrong.push(format!(
                "{}: {got:?} instead of {wanted:?}",
                case.str_at(&["name"])
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_job_that_was_resumed_is_under_way() {
    let text = br#"{"apiVersion": "batch/v1", "kind": "Job", "status": {"active": 1, "conditions": [
        {"type": "Suspended", "status": "False", "reason": "JobResumed"}]}}"#;
    let job = model::json::parse(text).unwrap();
    assert_eq!(Rules::Argo.assess(&job, now()).unwrap().state, State::Progressing);
}

#[test]
fn fields_of_odd_types_do_no_harm() {
    for text in [
        r#"{"apiVersion": 1, "kind": [], "metadata": "x", "status": 3}"#,
        r#"{"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Running", "conditions": {}, "containerStatuses": [1, null]}}"#,
        r#"{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": "3"}, "status": {"replicas": 9223372036854775807}}"#,
        r#"{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": 0, "updateStrategy": {"rollingUpdate":
            {"partition": -9223372036854775808}, "type": "RollingUpdate"}}, "status": {"observedGeneration": 1}}"#,
        "null",
    ] {
        let object = model::json::parse(text.as_bytes()).unwrap();
        for rules in [Rules::Kstatus, Rules::Argo] {
            rules.assess(&object, now());
        }
    }
}
