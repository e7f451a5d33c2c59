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

use crate::deviations::{Deviation, Deviations, differs, may_differ, outcome_differs};

use artifacts::Artifacts;
use cases::{Case, cases};
use shown::Found;
use side::Side;

/// Where we differ on purpose.
const DEVIATIONS: &[Deviation] = &[
    differs(
        "*",
        "modtime",
        "Helm 4 has in a record when each file of a chart was last changed, which nothing reads",
    ),
    differs(
        "*",
        "label createdAt",
        "when a record was made stays known; with Helm it is gone with the first change",
    ),
    differs(
        "*",
        "status.history[1].action = \"install\"",
        "what made the release before stays known when an upgrade fails",
    ),
    differs(
        "upgrade-fails-forced",
        "status.history[2].action = \"install\"",
        "the same",
    ),
    differs(
        "refused",
        "made ConfigMap refused/app",
        "nothing is written of a release of which a part is refused",
    ),
    differs(
        "no-source",
        "could not get Source object",
        "the same in the words of the server",
    ),
    differs(
        "no-account",
        "Could not determine release state",
        "in words of our own",
    ),
    differs(
        "no-kubeconfig",
        "KubeConfig secret",
        "in words of our own, which Kustomizations have too",
    ),
    differs(
        "bad-expression",
        "event Warning InvalidCELExpression",
        "the event has the words of the condition",
    ),
    differs(
        "needs-expression",
        "event Warning InvalidCELExpression",
        "the same",
    ),
    may_differ(
        "needs",
        "DependencyNotReady",
        "whether it is looked at before what it depends on is a matter of luck",
    ),
    differs(
        "drift-enabled",
        "managers",
        "drift is put right by the server's apply; Flux patches, and owns fields twice",
    ),
    differs("drift-ignored", "managers", "the same"),
    outcome_differs(
        "preserve-values",
        ("history[0].version = 3", "history[0].version = 2"),
        "Flux upgrades again and again, as it compares other values; and in the record are values of the chart that are not those of the chart",
    ),
    differs(
        "install-fails-undone",
        "status.history[0].status",
        "Flux does not see that an uninstall has come to its end",
    ),
    differs(
        "moved",
        "made ConfigMap moved/app",
        "what is uninstalled is looked for where it was made; Flux looks in the new namespace and leaves it",
    ),
    differs(
        "crds-created",
        "properties.b",
        "`Create` leaves alone what is there, as Flux documents it; its program applies it",
    ),
];

/// How many steps there are.
const STEPS: usize = 2;

/// How long all cases may take for a step.
const LIMIT: Duration = Duration::from_secs(180);

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
    let deviations = Deviations::new(DEVIATIONS);
    let mut differences = String::new();
    tokio::join!(theirs.begin(&cases, &artifacts), ours.begin(&cases, &artifacts));
    compare(
        "at first",
        &cases,
        &theirs,
        &ours,
        0,
        &deviations,
        &mut differences,
    )
    .await;
    for step in 0..STEPS {
        tokio::join!(
            theirs.change(&cases, &artifacts, step),
            ours.change(&cases, &artifacts, step)
        );
        let when = format!("after step {}", step + 1);
        compare(
            &when,
            &cases,
            &theirs,
            &ours,
            step + 1,
            &deviations,
            &mut differences,
        )
        .await;
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
        taken_over(&cases, side, &before, &deviations, &mut differences).await;
    }
    if std::env::var_os("SLUICE_CASES").is_none() {
        differences += &deviations.unused();
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// Nothing of a release that does well may change when another controller takes it over.
async fn taken_over(
    cases: &[Case],
    side: &Side,
    before: &[Found],
    deviations: &Deviations,
    out: &mut String,
) {
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(LIMIT, every, async || {
        deviations.look_again();
        let mut all = String::new();
        for ((case, before), after) in cases.iter().zip(before).zip(side.found(cases, STEPS + 1).await) {
            if !before.is_ready() {
                continue;
            }
            let lines = deviations.difference(&case.name, &before.released(), &after.released());
            if !lines.is_empty() || !after.is_settled {
                let (name, of) = (&case.name, side.name);
                let _ = writeln!(all, "{name} of {of}, taken over: (- before, + after)\n{lines}");
            }
        }
        if all.is_empty() { Ok(()) } else { Err(all) }
    });
    let compared = compared.await;
    deviations.accept_look();
    if let Err(differing) = compared {
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

async fn compare(
    when: &str,
    cases: &[Case],
    theirs: &Side,
    ours: &Side,
    steps: usize,
    deviations: &Deviations,
    out: &mut String,
) {
    // Events come a moment after the status that they are about.
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(LIMIT, every, async || {
        let (wanted, got) = tokio::join!(theirs.found(cases, steps), ours.found(cases, steps));
        deviations.look_again();
        let mut all = String::new();
        for ((case, wanted), got) in cases.iter().zip(wanted).zip(got) {
            let lines = deviations.difference(&case.name, &wanted.lines(), &got.lines());
            if !lines.is_empty() || !wanted.is_settled || !got.is_settled {
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
