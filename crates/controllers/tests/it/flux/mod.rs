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

use cases::{Case, cases};
use servers::Servers;
use shown::Shown;
use side::{Side, objects_of};

/// Where we differ on purpose: the case, what a differing line contains, and why.
const DEVIATIONS: &[(&str, &str, &str)] = &[
    (
        "oci-no-secret",
        "event Normal AuthenticationFailed \"auth secret 'nobody' not found\"",
        "the Warning of the same run says it too",
    ),
    ("chart-oci-closed", "ChartPullError", NO_LOGIN),
    ("chart-oci-closed", "AuthenticationFailed", NO_LOGIN),
    ("chart-oci-closed", "Unknown", NO_LOGIN),
    ("git-moved", "", MOVED),
    ("git-broken-token", "GitOperationFailed", BROKEN_TOKEN),
    ("git-broken-token", "AuthenticationFailed", BROKEN_TOKEN),
    ("git-sparse-outside", "", OUTSIDE),
    ("git-submodules", "file \"vendor/lib/.git\"", SUBMODULES),
    ("git-sparse-submodules", "file \"vendor/lib/", SUBMODULES),
    ("git-sparse-submodule", "file \"vendor/lib/", SUBMODULES),
    ("git-sparse-inside-submodule", "", SUBMODULES),
];

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
    let mut differences = String::new();
    for side in [&theirs, &ours] {
        side.create(&servers.secrets()).await;
        side.create(&objects_of(&cases)).await;
    }
    compare("at first", &cases, &theirs, &ours, &mut differences, "").await;
    servers.change();
    for side in [&theirs, &ours] {
        side.change(&cases, "second").await;
    }
    compare("then", &cases, &theirs, &ours, &mut differences, "second").await;
    // What was replaced is collected by the run after.
    for side in [&theirs, &ours] {
        side.ask(&cases, "third", |_| serde_json::json!({})).await;
    }
    compare("at last", &cases, &theirs, &ours, &mut differences, "third").await;
    assert!(differences.is_empty(), "\n{differences}");
}

async fn compare(when: &str, cases: &[Case], theirs: &Side, ours: &Side, out: &mut String, token: &str) {
    // Events come a moment after the status that they are about.
    let every = testkit::settled::Every(Duration::from_millis(500));
    let compared = testkit::settled(Duration::from_secs(90), every, async || {
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
fn difference(case: &Case, wanted: &Shown, got: &Shown) -> String {
    let may_differ = |line: &str| {
        let mut known = DEVIATIONS.iter();
        known.any(|(name, part, _)| (*name == "*" || *name == case.name) && line.contains(part))
    };
    let only = |sign: char, these: &Shown, those: &Shown| {
        let lines = these.lines.iter().filter(|line| !those.lines.contains(line));
        let lines = lines.filter(|line| !may_differ(line));
        lines.map(|line| format!("  {sign} {line}\n")).collect::<String>()
    };
    only('-', wanted, got) + &only('+', got, wanted)
}
