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

use crate::deviations::{Deviation, Deviations, differs, may_differ};

use artifacts::Artifacts;
use cases::{Case, cases};
use side::Side;

/// Where we differ on purpose.
const DEVIATIONS: &[Deviation] = &[
    differs("no-kubeconfig", "status.lastAttemptedRevision", NO_CLUSTER),
    differs("no-kubeconfig", "status.conditions[Reconciling]", NO_CLUSTER),
    differs("no-kubeconfig", "event Warning ReconciliationFailed", NO_CLUSTER),
    may_differ(
        "needs",
        "DependencyNotReady",
        "whether it is looked at before what it depends on is a matter of luck",
    ),
];

/// Why no revision is named where the cluster cannot be reached.
const NO_CLUSTER: &str = "the cluster is connected to before the source is read";

#[tokio::test(flavor = "multi_thread")]
async fn every_kustomization_ends_up_as_flux_has_it() {
    let Some(program) = testkit::program::find("kustomize-controller") else {
        return;
    };
    let cases = cases();
    let artifacts = Artifacts::serve(&cases);
    let theirs = Side::theirs(&program).await;
    let ours = Side::ours().await;
    let deviations = Deviations::new(DEVIATIONS);
    let mut differences = String::new();
    for side in [&theirs, &ours] {
        side.begin(&cases, &artifacts).await;
    }
    compare(
        "at first",
        &cases,
        &theirs,
        &ours,
        &deviations,
        &mut differences,
        "",
    )
    .await;
    for side in [&theirs, &ours] {
        side.change(&cases, &artifacts, "second").await;
    }
    compare(
        "then",
        &cases,
        &theirs,
        &ours,
        &deviations,
        &mut differences,
        "second",
    )
    .await;
    differences += &deviations.unused();
    assert!(differences.is_empty(), "\n{differences}");
}

async fn compare(
    when: &str,
    cases: &[Case],
    theirs: &Side,
    ours: &Side,
    deviations: &Deviations,
    out: &mut String,
    token: &str,
) {
    // Events come a moment after the status that they are about.
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(testkit::DEADLINE, every, async || {
        let (wanted, got) = tokio::join!(theirs.shown(cases, token), ours.shown(cases, token));
        deviations.look_again();
        let mut all = String::new();
        for ((case, wanted), got) in cases.iter().zip(wanted).zip(got) {
            let lines = deviations.difference(&case.name, &wanted, &got);
            if !lines.is_empty() {
                let _ = writeln!(all, "{} {when}: (- Flux, + ours)\n{lines}", case.name);
            }
        }
        if all.is_empty() { Ok(()) } else { Err(all) }
    });
    let compared = compared.await;
    deviations.accept_look();
    if let Err(differing) = compared {
        out.push_str(&differing.to_string());
    }
}
