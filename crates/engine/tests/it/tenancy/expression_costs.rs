//! Expressions of tenants pay before they allocate, fit every stack, and wait in one queue of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use engine::health::Evaluations;
use engine::health::cel::{Check, Checks, Error, Predicate, Work, check_amount};
use model::{Value, value};

/// Far more than an expression may take on a busy machine.
const LONG: Duration = Duration::from_secs(20);

const TOO_LONG: &str = "it would take too long for an object of this size";

fn object() -> Value {
    let numbers: Value = (0..3000i64).collect();
    let words: Value = (0..1000).map(|at| format!("word-{at}")).collect();
    value!({
        "l": numbers, "w": words, "big": ("a".repeat(200_000)), "other": (format!("{}b", "a".repeat(100_000))),
    })
}

fn holds(text: &str) -> Result<bool, String> {
    let predicate = Predicate::new(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    let started = Instant::now();
    let result = predicate.holds(&object(), &mut Work::default());
    assert!(started.elapsed() < LONG, "{text}: {:?}", started.elapsed());
    result
}

/// Without a payment for the result each of the first would need gigabytes.
#[test]
fn functions_pay_for_their_results_before_they_run() {
    for text in [
        "w.join(big).size() > 0",
        "w.join(big)[0] == ''",
        "big.replace('', big).size() > 0",
        "big.replace('a', big).size() > 0",
        "'%.2000000000f'.format([1.0]).size() > 0",
        "l.all(a, big.split('a')[0] == '')",
        // Work that grows with the square of the arguments.
        "sets.contains(l, l)",
        "sets.equivalent(l, l)",
        "sets.intersects(l, l.map(a, -1 - a))",
        "big.indexOf(other) == -1",
        "big.lastIndexOf(other) == -1",
        // Optional values are copied with what they hold.
        "l.all(a, optional.of(big).hasValue())",
        "l.all(a, !has(optional.of(l).foo) || true)",
        "[optional.of(l)].all(o, l.all(a, o[?0].hasValue()))",
        "l.all(a, l.all(b, {'l': big}.?l.?x.hasValue() || true))",
    ] {
        let refused = holds(text).expect_err(text);
        assert!(refused.ends_with(TOO_LONG), "{text}: {refused}");
    }
}

/// Flux does not offer them, and nothing bounds them.
#[test]
fn functions_that_flux_does_not_offer_do_not_exist() {
    for text in [
        "lists.range(1000000000000).size() > 0",
        "l.distinct().size() > 0",
        "l.sort().size() > 0",
        "[l, l].flatten().size() > 0",
        "big.findAll('a').size() > 0",
    ] {
        let refused = holds(text).expect_err(text);
        assert!(
            refused.starts_with("failed to evaluate the CEL"),
            "{text}: {refused}"
        );
    }
}

#[test]
fn functions_on_values_of_normal_size_still_work() {
    for text in [
        "w.join(',').split(',').size() == 1000",
        "big.replace('a', 'bb').size() == 400000",
        "big.contains('aa') && big.startsWith('a') && big.indexOf('aaa') == 0",
        "sets.contains(w, ['word-1', 'word-2'])",
        "'%s %d %.2f'.format(['a', 1, 1.5]) == 'a 1 1.50'",
        "optional.of(l).orValue([])[0] == 0 && w[?5].value() == 'word-5'",
        "l.filter(a, string(a) == '7').size() == 1",
    ] {
        assert_eq!(holds(text), Ok(true), "{text}");
    }
}

/// Nothing in comments or quotes hides the rest of the text from the limits, and what they allow fits a small thread.
#[test]
fn no_text_overflows_the_stack() {
    let chain = "a".to_owned() + &".a".repeat(3900);
    let words = "1".to_owned() + &" in a".repeat(1600);
    let small = Builder::new().stack_size(512 << 10);
    let read = move || {
        for start in [
            "",
            "// '\n",
            "// \"\n",
            r"r'\' == ",
            "'''a'b''' == ",
            "'\\q' + '",
            "'\n",
        ] {
            for rest in [&chain, &words] {
                assert!(Predicate::new(&format!("{start}{rest}")).is_err(), "{start:?}");
            }
        }
        let brackets = format!("{}true{}", "(".repeat(24), ")".repeat(24));
        let selected = "a".to_owned() + &".a".repeat(60) + " == 1 || true";
        let quoted = format!("'{}' != ''", ".([{".repeat(60));
        for text in [brackets, selected, quoted] {
            let held = Predicate::new(&text).map(|it| it.holds(&value!({}), &mut Work::default()));
            assert_eq!(held, Ok(Ok(true)), "{text}");
        }
    };
    small.spawn(read).unwrap().join().unwrap();
}

#[test]
fn an_object_has_no_more_expressions_than_can_be_parsed_soon() {
    let check = |at: usize, length: usize| Check {
        api_version: "v1".to_owned(),
        kind: format!("Kind{at}"),
        current: format!("'{}' == ''", "x".repeat(length)),
        ..Check::default()
    };
    let read = |count: usize, length: usize| {
        let checks: Vec<_> = (0..count).map(|at| check(at, length)).collect();
        Checks::new(&checks).err()
    };
    assert_eq!(read(100, 10), None);
    for (count, length) in [(201, 1), (20, 8000)] {
        let refused = read(count, length).unwrap();
        assert!(matches!(refused, Error::TooMany(_)), "{refused}");
        let words = "at most 200 expressions and 65536 bytes are allowed";
        assert!(refused.to_string().ends_with(words), "{refused}");
    }
    assert!(check_amount(vec!["true"; 200]).is_ok());
    assert!(check_amount(vec!["true"; 201]).is_err());
}

/// Many slow evaluations of one tenant take one place in the queue: the evaluation of another one runs after the next of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_with_many_evaluations_does_not_hold_up_others() {
    const MANY: usize = 50;
    let (evaluations, done) = (Evaluations::new(1), Arc::new(AtomicUsize::new(0)));
    let (start, started) = std::sync::mpsc::channel::<()>();
    let (runs, is_running) = tokio::sync::oneshot::channel();
    let asked = Arc::new(AtomicUsize::new(0));
    let run = |tenant: &'static str, work: Box<dyn FnOnce() + Send>| {
        let (evaluations, asked) = (evaluations.clone(), Arc::clone(&asked));
        tokio::spawn(async move {
            asked.fetch_add(1, Ordering::SeqCst);
            evaluations.run(tenant, work).await;
        })
    };
    // The first one holds the only place until all others are in the queue.
    let hold = move || {
        runs.send(()).unwrap();
        // It fails once the sender is dropped.
        started.recv().unwrap_err();
    };
    let first = run("first", Box::new(hold));
    is_running.await.unwrap();
    let mut all = Vec::new();
    for _ in 0..MANY {
        let done = Arc::clone(&done);
        let count = move || {
            done.fetch_add(1, Ordering::SeqCst);
        };
        all.push(run("greedy", Box::new(count)));
    }
    while asked.load(Ordering::SeqCst) <= MANY {
        tokio::task::yield_now().await;
    }
    let seen = Arc::new(AtomicUsize::new(usize::MAX));
    let (done, noted) = (Arc::clone(&done), Arc::clone(&seen));
    let note = move || noted.store(done.load(Ordering::SeqCst), Ordering::SeqCst);
    // It joins the queue last.
    let mut other = Box::pin(evaluations.run("other", note));
    assert!(futures::poll!(other.as_mut()).is_pending());
    drop(start);
    other.await;
    for one in all.into_iter().chain([first]) {
        one.await.unwrap();
    }
    let before = seen.load(Ordering::SeqCst);
    assert!(before <= 2, "{before} evaluations of the greedy tenant ran first");
}
