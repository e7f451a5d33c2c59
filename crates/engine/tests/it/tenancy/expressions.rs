//! Expressions of tenants: they end soon whatever they say, keep nobody else waiting, and tell nothing of what they are given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::health::Evaluations;
use engine::health::cel::{Check, Checks, Predicate, Work};
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value, value};

/// Far more than an object may take on a busy machine, and far less than expressions without an end to their work take.
const LONG: Duration = Duration::from_secs(20);

const TOO_LONG: &str = "it would take too long for an object of this size";

fn checks(current: &str) -> Checks {
    let check = Check {
        api_version: "v1".to_owned(),
        kind: "X".to_owned(),
        current: current.to_owned(),
        ..Check::default()
    };
    Checks::new(&[check]).unwrap_or_else(|error| panic!("{current}: {error}"))
}

/// An object with long lists and texts.
fn large() -> Value {
    let numbers: Value = (0..1000i64).collect();
    let words: Value = (0..1000).map(|at| format!("word-{at}")).collect();
    value!({
        "apiVersion": "v1", "kind": "X", "l": numbers, "w": words,
        "big": ("a".repeat(200_000)), "other": (format!("{}b", "a".repeat(199_999))),
    })
}

fn is_refused(health: &Health) -> bool {
    health.state == State::Unknown && health.message.ends_with(TOO_LONG)
}

#[test]
fn expressions_end_soon_whatever_they_do() {
    let many = vec!["l.all(a, l.all(b, a + b >= 0))"; 30].join(" && ");
    let hidden = vec!["(l.exists(a, l.exists(b, a + b < 0)) || true)"; 15].join(" && ");
    for text in [
        // Each of them would do.
        many.as_str(),
        // What fails for it is hidden from the rest of the expression.
        hidden.as_str(),
        "l.all(a, l.all(b, big == other || true))",
        "l.all(a, l.all(b, big < other))",
        "l.all(a, l.all(b, !(other in [big, big, big, big])))",
        "l.all(a, l.all(b, big.contains('b') || true))",
        "l.all(a, l.all(b, [big, big, big][0] == big))",
        "l.all(a, l.all(b, size({'a': big, 'b': big}) == 2))",
        "l.map(a, big).map(a, a).size() == 1000",
        "l.all(a, l.all(b, big.matches('(a|aa)+b$') || true))",
        "l.all(a, w.all(b, (b + 'x').matches('^(' + b + string(a) + '|[a-z]{1,50}[0-9]{1,50}){1,9}$') || true))",
        "l.all(a, big.replace('a', 'bb').size() > 0)",
        "l.all(a, big.split('').size() > 0)",
    ] {
        let (started, checks) = (Instant::now(), checks(text));
        let health = checks.assess(&large()).unwrap();
        let took = started.elapsed();
        assert!(took < LONG, "{text}: {took:?}");
        assert!(is_refused(&health), "{text}: {health:?}");
    }
}

/// So do those that name fields to be ignored.
#[test]
fn expressions_that_name_fields_end_soon_whatever_they_compare() {
    for text in [
        ".. | select(any(.. == ..))",
        "select(.. == ..)",
        "select((.. and ..) == (.. or ..))",
    ] {
        let expression = engine::diff::expression::Expression::read(text).unwrap();
        let started = Instant::now();
        let paths = expression.paths(&large());
        let took = started.elapsed();
        assert!(took < LONG, "{text}: {took:?}");
        assert!(paths.is_empty(), "{text}: {}", paths.len());
    }
}

#[test]
fn patterns_that_are_too_large_are_refused_soon() {
    for text in [
        "big.matches('(a?){100}(a{1,100}){1,100}b')",
        "big.matches('(a{1,500}){1,500}')",
    ] {
        let started = Instant::now();
        let health = checks(text).assess(&large()).unwrap();
        let took = started.elapsed();
        assert!(
            took < LONG && health.state == State::Unknown,
            "{text}: {took:?} {health:?}"
        );
    }
}

/// All expressions about an object are one.
#[test]
fn the_expressions_of_a_check_share_what_they_may_do() {
    let alone = "l.all(a, l.all(b, a + b >= 0 || w.size() > 0))".to_owned();
    let half: Value = (0..300i64).collect();
    let object = value!({ "apiVersion": "v1", "kind": "X", "l": half, "w": [] });
    let read = |in_progress: &str, failed: &str| {
        let check = Check {
            api_version: "v1".to_owned(),
            kind: "X".to_owned(),
            current: alone.clone(),
            in_progress: in_progress.to_owned(),
            failed: failed.to_owned(),
        };
        Checks::new(&[check]).unwrap().assess(&object).unwrap()
    };
    assert_eq!(read("", "").state, State::Healthy);
    let not = format!("!({alone})");
    assert!(is_refused(&read(&not, &not)), "{:?}", read(&not, &not));
    // So are those of one object that depends on many.
    let predicate = Predicate::new(&alone).unwrap();
    let mut work = Work::default();
    let mut results = (0..20).map(|_| predicate.holds(&object, &mut work));
    assert_eq!(results.next(), Some(Ok(true)));
    let refused = results.find_map(Result::err).unwrap();
    assert!(refused.ends_with(TOO_LONG), "{refused}");
}

/// All objects of a kind are assessed by the expressions of all who follow it, one after another.
#[test]
fn expressions_that_take_long_for_many_objects_are_not_evaluated_for_all() {
    let slow = checks("l.all(a, l.all(b, a + b >= 0))");
    let object = value!({ "apiVersion": "v1", "kind": "X", "l": ((0..700i64).collect::<Value>()) });
    let now = Timestamp::UNIX_EPOCH;
    let used_up = |health: &Health| {
        health
            .message
            .starts_with("the CEL expressions for objects of this kind")
    };
    let assess = |now| slow.assess_at(&object, now).unwrap();
    assert!((0..1000).any(|_| used_up(&assess(now))));
    let later = now + jiff::SignedDuration::from_mins(10);
    assert!(!used_up(&assess(later)), "it may try again");
    let quick = checks("l.exists(a, a == 5)");
    let assess = || quick.assess_at(&object, now).unwrap();
    assert!((0..5_000).all(|_| assess().state == State::Healthy));
}

#[test]
fn what_fails_tells_nothing_of_the_object() {
    let secret = "hunter2";
    let object = value!({
        "apiVersion": "v1", "kind": "X", "data": { "password": secret, "pin": "4711", "n": 4711 }, "l": [1, 2],
    });
    for text in [
        "{'a': true}[data.password]",
        "l[int(data.pin)] == 1",
        "l[data.n] == 1",
        "int(data.password) == 1",
        "data.password + 1 == 2",
        "data.password < 1",
        "data.password.matches(data.password + '(')",
        "'a'.find(data.password + '(') == ''",
        "duration(data.password) == duration('1s')",
        "timestamp(data.password) == timestamp('2020-01-01T00:00:00Z')",
        "bool(data.password)",
        "quantity(data.password) == quantity('1')",
        "url(data.password) == url('http://a')",
        "semver(data.password) == semver('1.0.0')",
        "ip(data.password) == ip('1.1.1.1')",
        "data.password",
        "{data.password: 1, data.password: 2}[data.n] == 1",
        "[data.password].map(a, [a][data.n]).size() == 1",
        "-data.password == 1",
        "data.password.unknown()",
        "data.n / 0 == 1",
        "data.n * 9223372036854775807 == 1",
        "optional.none().orValue(data.password)",
        "'%d'.format([data.password]) == ''",
        "base64.decode(data.password) == b'1'",
    ] {
        let told = match Checks::new(&[Check {
            api_version: "v1".to_owned(),
            kind: "X".to_owned(),
            current: text.to_owned(),
            ..Check::default()
        }]) {
            Ok(checks) => checks.assess(&object).unwrap(),
            Err(error) => panic!("{text}: {error}"),
        };
        assert!(
            matches!(told.state, State::Unknown | State::Progressing),
            "{text}: {told:?}"
        );
        let asked = Predicate::new(text).unwrap().holds(&object, &mut Work::default());
        for message in [told.message.clone(), asked.err().unwrap_or_default()] {
            assert!(
                !message.contains(secret) && !message.contains("4711"),
                "{text}: {message}"
            );
            let words = "failed to evaluate ";
            assert!(
                message.is_empty() || message.starts_with(words),
                "{text}: {message}"
            );
        }
    }
    // What the expression says itself is told.
    let missing = checks("data.nothing == 1").assess(&object).unwrap();
    assert!(
        missing.message.ends_with("no such key: nothing"),
        "{}",
        missing.message
    );
}

/// Whoever evaluates what takes long leaves threads for all else: leases are renewed and probes answered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_takes_long_keeps_no_other_task_waiting() {
    let (evaluations, is_over) = (Evaluations::new(2), Arc::new(AtomicBool::new(false)));
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let others: Vec<_> = (0..64)
        .map(|at| {
            let (evaluations, is_over) = (evaluations.clone(), Arc::clone(&is_over));
            tokio::spawn(async move {
                let wait = || {
                    while !is_over.load(Ordering::SeqCst) {
                        std::thread::yield_now()
                    }
                };
                evaluations.run(&format!("tenant-{at}"), wait).await;
            })
        })
        .collect();
    // They all wait for this one, which has no thread to itself.
    tokio::spawn(async move {
        tokio::task::yield_now().await;
        tell.send(()).unwrap();
    });
    let over = Arc::clone(&is_over);
    let seen = std::thread::spawn(move || {
        let seen = told.recv_timeout(crate::engine::LIMIT);
        over.store(true, Ordering::SeqCst);
        seen
    });
    for other in others {
        other.await.unwrap();
    }
    seen.join().unwrap().expect("no other task had its turn");
}
