//! Flux's own source controller beside ours: the same objects, the same servers, a cluster each. What both make of an object
//! has to be the same, but for what [`DEVIATIONS`] lists.
//!
//! The program is found as those of `real` are: `cargo xtask real-programs exec` brings it.

mod cases;
mod servers;
mod shown;
mod side;

use std::fmt::Write;
use std::time::Duration;

use crate::deviations::{Deviation, Deviations, differs, outcome_differs};

use cases::{Case, cases};
use servers::Servers;
use side::{Side, objects_of};

/// Where we differ on purpose.
const DEVIATIONS: &[Deviation] = &[
    differs(
        "oci-no-secret",
        "event Normal AuthenticationFailed \"auth secret 'nobody' not found\"",
        "the Warning of the same run says it too",
    ),
    differs("chart-oci-closed", "ChartPullError", NO_LOGIN),
    differs("chart-oci-closed", "AuthenticationFailed", NO_LOGIN),
    differs("chart-oci-closed", "Unknown", NO_LOGIN),
    outcome_differs("git-moved", GIT, MOVED),
    differs("git-broken-token", "GitOperationFailed", BROKEN_TOKEN),
    differs("git-broken-token", "AuthenticationFailed", BROKEN_TOKEN),
    outcome_differs("git-sparse-outside", GIT, OUTSIDE),
    differs("git-submodules", "file \"vendor/lib/.git\"", SUBMODULES),
    differs("git-sparse-submodules", "file \"vendor/lib/", SUBMODULES),
    differs("git-sparse-submodule", "file \"vendor/lib/", SUBMODULES),
    outcome_differs("git-sparse-inside-submodule", GIT, SUBMODULES),
];

/// One side fetches the repository, the other fails to.
const GIT: (&str, &str) = (
    "Ready].reason = \"GitOperationFailed\"",
    "Ready].reason = \"Succeeded\"",
);

/// Why a private repository that moved to another port of its host is found.
const MOVED: &str = "Flux shows the credentials with the first request after a redirect and not with the second, and so fails";

/// Why a token with a line break in it has another reason.
const BROKEN_TOKEN: &str = "the credentials are to blame, and nothing was sent";

/// Why a sparse checkout of a directory outside of the repository fails.
const OUTSIDE: &str = "Flux finds the directory on its own disk and stores an empty artifact";

/// Why files of submodules differ.
const SUBMODULES: &str = "a sparse checkout of Flux leaves submodules empty, and the way to Git's own folder is no use where that \
                          folder is not";

/// Why a chart in a registry that nobody has logged in to is told of in another way.
const NO_LOGIN: &str = "credentials that are missing are told as credentials that are wrong; Flux tells them apart by the words of \
                        the registry's client, and differently for registries with tokens";

#[tokio::test(flavor = "multi_thread")]
async fn every_object_ends_up_as_flux_has_it() {
    let Some(program) = testkit::program::find("source-controller") else {
        return;
    };
    let servers = Servers::start();
    let cases = cases(&servers);
    let theirs = Side::theirs(&program).await;
    let ours = Side::ours().await;
    let deviations = Deviations::new(DEVIATIONS);
    let mut differences = String::new();
    for side in [&theirs, &ours] {
        side.create(&servers.secrets()).await;
        side.create(&objects_of(&cases)).await;
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
    servers.change();
    for side in [&theirs, &ours] {
        side.change(&cases, "second").await;
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
    // What was replaced is collected by the run after.
    for side in [&theirs, &ours] {
        side.ask(&cases, "third", |_| serde_json::json!({})).await;
    }
    compare(
        "at last",
        &cases,
        &theirs,
        &ours,
        &deviations,
        &mut differences,
        "third",
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
            let lines = deviations.difference(&case.name, &wanted.lines, &got.lines);
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
