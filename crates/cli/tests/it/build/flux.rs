//! The real flux client beside ours: the same cases, the same bytes.

use super::cases::CASES;
use super::{Case, PLAIN, build, sluice, write};

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

/// Flux looks for an absolute path below the directory it builds, in the kustomization there alone, and refuses what it does not
/// find.
#[test]
fn absolute_paths_are_refused_as_by_flux() {
    for (field, below) in [
        ("resources", ""),
        ("components", ""),
        ("crds", ""),
        ("resources", "base"),
    ] {
        let case = Case {
            name: "absolute",
            files: &[("a.yaml", super::cases::CONFIG)],
            ..PLAIN
        };
        let folder = write(&case);
        let tree = folder.path().join("tree");
        let elsewhere = folder.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let named = match field {
            "resources" => elsewhere.join("b.yaml"),
            _ => elsewhere.clone(),
        };
        std::fs::write(
            elsewhere.join("b.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
        )
        .unwrap();
        let kustomization = match field {
            "resources" => format!("resources:\n- {}\n", named.display()),
            _ => format!("resources: [a.yaml]\n{field}:\n- {}\n", named.display()),
        };
        std::fs::create_dir_all(tree.join(below)).unwrap();
        std::fs::write(tree.join(below).join("kustomization.yaml"), kustomization).unwrap();
        if !below.is_empty() {
            std::fs::write(tree.join("kustomization.yaml"), format!("resources: [{below}]\n")).unwrap();
        }
        let ours = sluice(folder.path(), &case);
        assert_eq!(
            ours.status.success(),
            !below.is_empty(),
            "{field} {below}: {ours:?}"
        );
        if below.is_empty() {
            let said = String::from_utf8_lossy(&ours.stderr).into_owned();
            assert!(
                said.contains("is absolute, and so looked for below"),
                "{field}: {said}"
            );
        }
        if testkit::program::find("flux").is_some() {
            let theirs = build("flux", folder.path(), &case);
            assert_eq!(theirs.status.success(), ours.status.success(), "{theirs:?}");
            assert_eq!(theirs.stdout, ours.stdout);
        }
    }
}
