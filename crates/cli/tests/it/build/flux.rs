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

/// What a kustomization says, in which `FILE` is an absolute path, and the name of that file.
const NAMED: [(&str, &str); 6] = [
    ("configMapGenerator: [{name: m, files: [FILE]}]", "value.env"),
    ("configMapGenerator: [{name: m, files: [key=FILE]}]", "value.env"),
    ("secretGenerator: [{name: s, envs: [FILE]}]", "value.env"),
    ("patches: [{path: FILE}]", "patch.yaml"),
    ("patchesStrategicMerge: [FILE]", "patch.yaml"),
    ("replacements: [{path: FILE}]", "replacement.yaml"),
];

/// Flux reads what generators and patches name wherever it is; but for a build in memory nothing outside of the directory it
/// is called in.
#[test]
fn files_of_generators_and_patches_are_read_where_flux_reads_them() {
    for (named, file) in NAMED {
        for is_inside in [true, false] {
            for flags in [&[][..], &["--in-memory-build"]] {
                let case = Case {
                    name: named,
                    files: &[("a.yaml", super::cases::CONFIG)],
                    flags,
                    ..PLAIN
                };
                let (folder, outside) = (write(&case), tempfile::tempdir().unwrap());
                let there = match is_inside {
                    true => folder.path(),
                    false => outside.path(),
                };
                write_named(there);
                let absolute = there.canonicalize().unwrap().join(file);
                let text = named.replace("FILE", absolute.to_str().unwrap());
                let kustomization = folder.path().join("tree/kustomization.yaml");
                std::fs::write(kustomization, format!("resources: [a.yaml]\n{text}\n")).unwrap();
                let ours = sluice(folder.path(), &case);
                let may_read = is_inside || flags.is_empty();
                assert_eq!(ours.status.success(), may_read, "{named} {flags:?}: {ours:?}");
                if testkit::program::find("flux").is_some() {
                    let theirs = build("flux", folder.path(), &case);
                    assert_eq!(theirs.status.success(), may_read, "{named} {flags:?}: {theirs:?}");
                    assert_eq!(theirs.stdout, ours.stdout, "{named} {flags:?}");
                }
            }
        }
    }
}

fn write_named(folder: &std::path::Path) {
    for (name, text) in [
        ("value.env", "key=value\n"),
        (
            "patch.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {patched: 'true'}\n",
        ),
        (
            "replacement.yaml",
            "source: {kind: ConfigMap, name: config, fieldPath: data.a}\n\
             targets: [{select: {kind: ConfigMap}, fieldPaths: [data.copy], options: {create: true}}]\n",
        ),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// The directory itself has to be there for a build in memory.
#[test]
fn a_build_in_memory_of_a_directory_elsewhere_is_refused() {
    let case = Case {
        name: "elsewhere",
        files: &[("a.yaml", super::cases::CONFIG)],
        ..PLAIN
    };
    let (folder, elsewhere) = (write(&case), write(&case));
    let path = format!("--path={}", elsewhere.path().join("tree").display());
    let arguments = [
        "build",
        "kustomization",
        "app",
        path.as_str(),
        "--kustomization-file=app.yaml",
        "--dry-run",
        "--in-memory-build",
    ];
    let ours = super::run(env!("CARGO_BIN_EXE_sluice"), folder.path(), &arguments);
    assert!(!ours.status.success() && ours.stdout.is_empty(), "{ours:?}");
    let said = String::from_utf8_lossy(&ours.stderr).into_owned();
    assert!(said.contains("is all that --in-memory-build reads"), "{said}");
    if testkit::program::find("flux").is_some() {
        let theirs = super::run("flux", folder.path(), &arguments);
        assert!(!theirs.status.success(), "{theirs:?}");
    }
}
