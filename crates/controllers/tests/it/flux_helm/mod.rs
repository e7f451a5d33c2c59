//! Flux's own helm controller beside ours: the same objects, the same charts, a cluster each. What both say of a HelmRelease, what both
//! store of its release and what both make of it has to be the same, but for what [`DEVIATIONS`] lists. At the end each takes over what the
//! other has released, and nothing of that may change.
//!
//! The program is found as those of `real` are: `cargo xtask real-programs exec` brings it.

mod artifacts;
mod cases;
mod look;
mod shown;
mod side;

use std::fmt::Write;
use std::time::Duration;

use artifacts::Artifacts;
use cases::{Case, cases};
use shown::Found;
use side::Side;

/// Where we differ on purpose: the case, what a differing line contains, and why.
const DEVIATIONS: &[(&str, &str, &str)] = &[];

/// How many steps there are.
const STEPS: usize = 2;

/// How long all cases may take for a step.
const LIMIT: Duration = Duration::from_secs(45);

#[tokio::test(flavor = "multi_thread")]
async fn every_release_ends_up_as_flux_has_it_and_is_taken_over() {
    let Some(program) = testkit::program::find("helm-controller") else {
        return;
    };
    let cases = chosen();
    let artifacts = Artifacts::serve(&cases);
    let (mut theirs, mut ours) = tokio::join!(Side::start("Flux"), Side::start("ours"));
    theirs.run_theirs(&program).await;
    ours.run_ours();
    let mut differences = String::new();
    tokio::join!(theirs.begin(&cases, &artifacts), ours.begin(&cases, &artifacts));
    compare("at first", &cases, &theirs, &ours, 0, &mut differences).await;
    for step in 0..STEPS {
        tokio::join!(
            theirs.change(&cases, &artifacts, step),
            ours.change(&cases, &artifacts, step)
        );
        let when = format!("after step {}", step + 1);
        compare(&when, &cases, &theirs, &ours, step + 1, &mut differences).await;
    }
    for side in [&mut theirs, &mut ours] {
        side.stop().await;
    }
    let before = (theirs.found(&cases, STEPS).await, ours.found(&cases, STEPS).await);
    theirs.run_ours();
    ours.run_theirs(&program).await;
    tokio::join!(
        theirs.change(&cases, &artifacts, STEPS),
        ours.change(&cases, &artifacts, STEPS)
    );
    for (side, before) in [(&theirs, before.0), (&ours, before.1)] {
        taken_over(&cases, side, &before, &mut differences).await;
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// Nothing of a release that does well may change when another controller takes it over.
async fn taken_over(cases: &[Case], side: &Side, before: &[Found], out: &mut String) {
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(LIMIT, every, async || {
        let mut all = String::new();
        for ((case, before), after) in cases.iter().zip(before).zip(side.found(cases, STEPS + 1).await) {
            if !before.is_ready() {
                continue;
            }
            let lines = difference(case, &before.released(), &after.released());
            if !lines.is_empty() || !after.is_settled {
                let (name, of) = (&case.name, side.name);
                let _ = writeln!(all, "{name} of {of}, taken over: (- before, + after)\n{lines}");
            }
        }
        if all.is_empty() { Ok(()) } else { Err(all) }
    });
    if let Err(differing) = compared.await {
        let _ = writeln!(out, "{differing}\n{}", side.log());
    }
}

/// All cases, or those that somebody who looks into one has named.
fn chosen() -> Vec<Case> {
    let named = std::env::var("SLUICE_CASES").unwrap_or_default();
    let mut cases = cases();
    cases.retain(|case| named.is_empty() || named.split(',').any(|name| name == case.name));
    cases
}

async fn compare(when: &str, cases: &[Case], theirs: &Side, ours: &Side, steps: usize, out: &mut String) {
    // Events come a moment after the status that they are about.
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(LIMIT, every, async || {
        let (wanted, got) = tokio::join!(theirs.found(cases, steps), ours.found(cases, steps));
        let mut all = String::new();
        for ((case, wanted), got) in cases.iter().zip(wanted).zip(got) {
            let lines = difference(case, &wanted.lines(), &got.lines());
            if !lines.is_empty() || !wanted.is_settled || !got.is_settled {
                let _ = writeln!(all, "{} {when}: (- Flux, + ours)\n{lines}", case.name);
            }
        }
        if all.is_empty() { Ok(()) } else { Err(all) }
    });
    if let Err(differing) = compared.await {
        out.push_str(&differing.to_string());
    }
}

/// The lines that only one side has, but for those that may differ.
fn difference(case: &Case, wanted: &[String], got: &[String]) -> String {
    let may_differ = |line: &str| {
        let mut known = DEVIATIONS.iter();
        known.any(|(name, part, _)| (*name == "*" || *name == case.name) && line.contains(part))
    };
    let only = |sign: char, these: &[String], those: &[String]| {
        let lines = these.iter().filter(|line| !those.contains(line));
        let lines = lines.filter(|line| !may_differ(line));
        lines.map(|line| format!("  {sign} {line}\n")).collect::<String>()
    };
    only('-', wanted, got) + &only('+', got, wanted)
}
