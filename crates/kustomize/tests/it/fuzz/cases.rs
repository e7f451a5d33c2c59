//! Running many cases, each from a seed of its own and each within a time limit.
//!
//! `SLUICE_FUZZ_CASES` says how many, `SLUICE_FUZZ_SEED` the first seed (so that a failure is seen again with one case), and
//! with `SLUICE_FUZZ_TRACE` every seed is printed before it runs, for what ends the process itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::dice::Dice;

/// No case takes a tenth of it on a machine that has nothing else to do.
const LIMIT: Duration = Duration::from_secs(60);

/// As many as a thread of a server has.
const STACK: usize = 2 << 20;

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("the variable is a number"))
}

/// Runs `case` with many seeds, of which `usual` if nothing else is said. A case tells whether it came to an end that is
/// more than an error; how many did is printed, since a generator whose cases all fail early tests little.
pub(super) fn run(name: &str, usual: u64, case: fn(&mut Dice) -> bool) {
    let first = number("SLUICE_FUZZ_SEED").unwrap_or(1);
    let count = number("SLUICE_FUZZ_CASES").unwrap_or(usual);
    let trace = std::env::var_os("SLUICE_FUZZ_TRACE").is_some();
    let (done, results) = mpsc::channel();
    // A case that hangs keeps its thread; the process ends with the test all the same.
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            for seed in first..first + count {
                if trace {
                    eprintln!("seed {seed}");
                }
                let mut dice = Dice::new(seed);
                let result = catch_unwind(AssertUnwindSafe(|| case(&mut dice)));
                if done.send(result.map_err(drop)).is_err() {
                    return;
                }
            }
        })
        .expect("a thread can be started");
    let (mut deep, mut slowest, mut panicked) = (0, (Duration::ZERO, first), Vec::new());
    for seed in first..first + count {
        let start = Instant::now();
        match results.recv_timeout(LIMIT) {
            Ok(Ok(got_far)) => deep += u64::from(got_far),
            Ok(Err(())) => panicked.push(seed),
            Err(_) => panic!("{name}: the case with SLUICE_FUZZ_SEED={seed} takes more than {LIMIT:?}"),
        }
        slowest = slowest.max((start.elapsed(), seed));
    }
    eprintln!(
        "{name}: {count} cases, {deep} got to the end; the slowest (seed {}) took {:?}",
        slowest.1, slowest.0
    );
    assert!(
        panicked.is_empty(),
        "{name}: panics; see each with SLUICE_FUZZ_CASES=1 SLUICE_FUZZ_SEED=… and one of {panicked:?}"
    );
}
