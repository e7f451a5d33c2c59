//! Flux's own kustomize controller beside ours: the same objects, the same artifacts, a cluster each. What both say of a
//! Kustomization and what both make of it has to be the same, but for what [`DEVIATIONS`] lists.
//!
//! The program is found as those of `real` are: `cargo xtask real-programs exec` brings it.

mod artifacts;
mod cases;
mod shown;
mod side;

use std::fmt::Write;
use std::time::Duration;

use artifacts::Artifacts;
use cases::{Case, cases};
use side::Side;

/// Where we differ on purpose: the case, what a differing line contains, and why.
const DEVIATIONS: &[(&str, &str, &str)] = &[
    (
        "no-kubeconfig",
        "",
        "the cluster is reached for before the source is looked at: nothing is said of a revision",
    ),
    (
        "needs",
        "DependencyNotReady",
        "whether it is looked at before what it depends on is a matter of luck",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_kustomization_ends_up_as_flux_has_it() {
    let Some(program) = testkit::program::find("kustomize-controller") else {
        return;
    };
    let cases = cases();
    let artifacts = Artifacts::serve(&cases);
    let theirs = Side::theirs(&program).await;
    let ours = Side::ours().await;
    let mut differences = String::new();
    for side in [&theirs, &ours] {
        side.begin(&cases, &artifacts).await;
    }
    compare("at first", &cases, &theirs, &ours, &mut differences, "").await;
    for side in [&theirs, &ours] {
        side.change(&cases, &artifacts, "second").await;
    }
    compare("then", &cases, &theirs, &ours, &mut differences, "second").await;
    assert!(differences.is_empty(), "\n{differences}");
}

async fn compare(when: &str, cases: &[Case], theirs: &Side, ours: &Side, out: &mut String, token: &str) {
    // Events come a moment after the status that they are about.
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(Duration::from_secs(60), every, async || {
        let (wanted, got) = tokio::join!(theirs.shown(cases, token), ours.shown(cases, token));
        let mut all = String::new();
        for ((case, wanted), got) in cases.iter().zip(wanted).zip(got) {
            let lines = difference(case, &wanted, &got);
            if !lines.is_empty() {
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
