//! The real flux client beside ours: the same cases, the same bytes.

use super::cases::CASES;
use super::{build, sluice, write};

#[test]
fn what_flux_builds_we_build() {
    if testkit::program::find("flux").is_none() {
        return;
    }
    let mut different = Vec::new();
    for case in CASES {
        let folder = write(case);
        let ours = sluice(folder.path(), case);
        let theirs = build("flux", folder.path(), case);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ours.status.success() != theirs.status.success() || ours.stdout != theirs.stdout {
            different.push(format!(
                "== {}\n-- theirs ({})\n{}{}-- ours ({})\n{}{}",
                case.name,
                theirs.status,
                text(&theirs.stdout),
                text(&theirs.stderr),
                ours.status,
                text(&ours.stdout),
                text(&ours.stderr),
            ));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {} differ:\n{}",
        different.len(),
        CASES.len(),
        different.join("\n")
    );
}

/// So that a table that became shorter, or one in which everything fails, is seen.
#[test]
fn the_cases_are_many_and_most_of_them_succeed() {
    assert!(CASES.len() >= 40, "{}", CASES.len());
    let wrong = CASES.iter().filter(|case| {
        let output = sluice(write(case).path(), case);
        output.status.success() == case.name.contains("refused")
    });
    let wrong: Vec<_> = wrong.map(|case| case.name).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
