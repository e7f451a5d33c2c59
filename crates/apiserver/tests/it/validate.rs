//! What is said about bad objects, compared with what a real server (v1.35.8) said.
//!
//! Cases were asked for with `dryRun=All`. `set` changes a good object that is created then, and `then` changes the
//! object as the server `stored` it, which is updated then. Keys are JSON pointers, and `null` removes. `causes` are the
//! server's answer: the reason without its `FieldValue`, the field and the message.

use apiserver::builtin::{Kinds, admission, service};
use apiserver::error::Error;
use apiserver::field;
use apiserver::strategy::{Part, Strategy};
use model::{Value, json};
use smd::Schema;

const UID: &str = "00000000-0000-0000-0000-000000000000";

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|line| json::parse(line.as_bytes()).unwrap())
}

/// Sets or removes what a JSON pointer points to. A list grows by one.
fn set(object: &mut Value, pointer: &str, value: &Value) {
    let keys: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|key| key.replace("~1", "/").replace("~0", "~"))
        .collect();
    let (last, parents) = keys.split_last().unwrap();
    let mut place = object;
    for key in parents {
        place = match place {
            Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
            other => other.make_object().entry(key),
        };
    }
    match place {
        Value::Array(items) => match last.parse::<usize>().unwrap() {
            at if at == items.len() => items.push(value.clone()),
            at => items[at] = value.clone(),
        },
        other if value.is_null() => drop(other.make_object().remove(last)),
        other => drop(other.make_object().insert(last, value.clone())),
    }
}

fn changed(object: &Value, changes: Option<&Value>) -> Value {
    let mut object = object.clone();
    for (pointer, value) in changes
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.iter())
    {
        set(&mut object, pointer, value);
    }
    object
}

struct Addresses(i64);

impl service::Allocator for Addresses {
    fn address(&mut self) -> String {
        self.0 += 1;
        format!("10.0.0.{}", self.0)
    }

    fn node_port(&mut self) -> i64 {
        self.0 += 1;
        30000 + self.0
    }
}

/// All that is said about a new object.
fn create(strategy: &dyn Strategy, mut object: Value) -> Vec<field::Error> {
    strategy.decode(&mut object).unwrap();
    object.set_at(&["metadata", "uid"], UID);
    object.set_at(&["metadata", "creationTimestamp"], "2025-01-01T00:00:00Z");
    if object.str_at(&["kind"]) == "Event" || !is_cluster_wide(object.str_at(&["kind"])) {
        object.set_at(&["metadata", "namespace"], "validate");
    }
    strategy.default(&mut object);
    if object.str_at(&["kind"]) == "Pod" {
        admission::default_tolerations(&mut object);
        admission::service_account(&mut object, None);
        admission::priority(&mut object, None).unwrap();
    }
    strategy.prepare_create(&mut object);
    if object.str_at(&["kind"]) == "Service" {
        service::allocate(&mut object, &mut Addresses(0));
    }
    let name = object.str_at(&["metadata", "name"]);
    let mut errors: Vec<field::Error> = strategy
        .validate_name(name)
        .into_iter()
        .map(|problem| field::Error::invalid("metadata.name", &Value::str(name), problem))
        .collect();
    errors.extend(strategy.validate_create(&object));
    errors
}

fn is_cluster_wide(kind: &str) -> bool {
    matches!(kind, "Namespace" | "Node" | "PersistentVolume")
}

/// All that is said about a changed object.
fn update(strategy: &dyn Strategy, part: Part, mut object: Value, mut old: Value) -> Vec<field::Error> {
    for one in [&mut object, &mut old] {
        strategy.decode(one).unwrap();
        strategy.default(one);
    }
    if object.str_at(&["kind"]) == "Pod" {
        admission::default_tolerations(&mut object);
    }
    strategy.prepare_update(part, &mut object, &old);
    if object.str_at(&["kind"]) == "Service" && part == Part::Main {
        service::reallocate(&mut object, &old, &mut Addresses(100));
    }
    strategy.validate_update(part, &object, &old)
}

fn causes(errors: &[field::Error]) -> Vec<[String; 3]> {
    let causes = errors.iter().map(field::Error::cause);
    causes
        .map(|cause| {
            let reason = cause.reason.strip_prefix("FieldValue").unwrap_or(&cause.reason);
            [reason.to_owned(), cause.field, cause.message]
        })
        .collect()
}

fn expected(case: &Value) -> Vec<[String; 3]> {
    let causes = case.list_at(&["causes"]).iter();
    causes
        .map(|cause| [0, 1, 2].map(|at| cause.as_array().unwrap()[at].as_str().unwrap().to_owned()))
        .collect()
}

/// Tells where we say something else than the server did, and how many cases there are.
pub(crate) fn replay(objects: &str, cases: &str) -> (Vec<String>, usize) {
    let kinds = Kinds::new(&Schema::builtin());
    let objects: Vec<Value> = lines(objects).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in lines(cases) {
        let named = |base: &&Value| base.str_at(&["name"]) == case.str_at(&["base"]);
        let base = objects.iter().find(named).unwrap();
        let object = base.get("object").unwrap();
        let api_version = object.str_at(&["apiVersion"]);
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let strategy = kinds.strategy(group, version, object.str_at(&["kind"])).unwrap();
        let errors = match case.get("then") {
            None => create(&*strategy, changed(object, case.get("set"))),
            Some(changes) => {
                let old = base.get("stored").unwrap();
                let part = match case.str_at(&["part"]) {
                    "status" => Part::Status,
                    _ => Part::Main,
                };
                update(&*strategy, part, changed(old, Some(changes)), old.clone())
            }
        };
        let (mut found, mut expected) = (causes(&errors), expected(&case));
        // The real server goes through maps in no order.
        if case.get("order").is_some() {
            found.sort();
            expected.sort();
        }
        count += 1;
        if found != expected {
            let (base, what) = (case.str_at(&["base"]), case.str_at(&["what"]));
            wrong.push(format!(
                "{base}: {what}\n  expected {expected:#?}\n  found {found:#?}"
            ));
        }
    }
    (wrong, count)
}

#[test]
fn bad_objects_are_told_in_the_words_of_the_real_server() {
    let objects = include_str!("../data/validate/objects.jsonl");
    let (wrong, count) = replay(objects, include_str!("../data/validate/cases.jsonl"));
    assert!(
        wrong.is_empty(),
        "{} of {count} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn messages_join_all_that_is_wrong_and_tell_each_thing_once() {
    let twice = field::Error::required("spec.a", "");
    let other = field::Error::too_long("[]", 1_048_576);
    let error = Error::invalid(
        "apps",
        "Deployment",
        "web",
        &[twice.clone(), twice.clone(), other],
    );
    assert_eq!(
        error.message,
        "Deployment.apps \"web\" is invalid: [spec.a: Required value, []: Too long: may not be more than 1048576 bytes]"
    );
    assert_eq!(error.details.causes.len(), 3);
    let error = Error::invalid("", "Pod", "web", &[twice]);
    assert_eq!(error.message, "Pod \"web\" is invalid: spec.a: Required value");
}
