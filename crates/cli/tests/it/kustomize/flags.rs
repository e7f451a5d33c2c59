//! Flags, as scripts pass them, and files that are written whole or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use super::{build, folder, refused, same};

const KUSTOMIZATION: &str = "configMapGenerator:\n- name: a\n  literals: [a=b]\n";
const BROKEN: &str = "resources: [gone.yaml]\n";

fn ours(flags: &[&str], folder: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_sluice");
    build(program, &[&["kustomize", "build"], flags].concat(), folder)
}

#[test]
fn booleans_take_values_as_with_kustomize_and_the_last_of_equal_flags_counts() {
    let plain = folder(&[("kustomization.yaml", KUSTOMIZATION)]);
    for flags in [
        &["--enable-helm=true"][..],
        &["--enable-helm=T", "--enable-helm=0", "--enable-helm"],
        &[
            "--enable-exec=false",
            "--network=1",
            "--stack-trace=true",
            "--enable-alpha-plugins=f",
        ],
        &[
            "--load-restrictor=LoadRestrictionsNone",
            "--load-restrictor=LoadRestrictionsRootOnly",
        ],
        &[
            "--helm-command=a",
            "--helm-command=b",
            "--helm-debug",
            "--helm-kube-version=1.30",
        ],
        &[
            "--helm-api-versions=a/v1",
            "--helm-api-versions=b/v1",
            "-e",
            "A=B",
            "--env",
            "C=D",
        ],
    ] {
        same(flags, plain.path());
    }
    let chart = folder(&[("kustomization.yaml", "helmCharts: [{name: a}]\n")]);
    let said = refused(&["--enable-helm", "--enable-helm=false"], chart.path());
    assert!(said.contains("must specify --enable-helm"), "{said}");
    let said = refused(&["--enable-helm=true", "--helm-command="], chart.path());
    assert!(said.contains("must specify --helm-command"), "{said}");
    let wrong = ours(&["--enable-helm=maybe"], plain.path());
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_file_is_written_whole_and_keeps_its_permissions() {
    let folder = folder(&[("kustomization.yaml", KUSTOMIZATION)]);
    let file = folder.path().join("out.yaml");
    let text = same(&[], folder.path());
    assert!(ours(&["-o", "out.yaml"], folder.path()).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out.yaml", folder.path().join("link.yaml")).unwrap();
    fs::write(&file, "old, and longer than what comes\n".repeat(100)).unwrap();
    assert!(ours(&["--output=link.yaml"], folder.path()).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(
        fs::symlink_metadata(folder.path().join("link.yaml"))
            .unwrap()
            .is_symlink()
    );
    assert!(ours(&["-o", "/dev/null"], folder.path()).status.success());
}

#[test]
fn a_build_that_fails_leaves_files_as_they_were() {
    let folder = folder(&[("kustomization.yaml", BROKEN), ("out.yaml", "old\n")]);
    refused(&["-o", "out.yaml"], folder.path());
    refused(&["-o", "new.yaml"], folder.path());
    fs::write(folder.path().join("kustomization.yaml"), KUSTOMIZATION).unwrap();
    let said = refused(&["-o", "none/new.yaml"], folder.path());
    assert!(said.contains("failed to write none/new.yaml"), "{said}");
    assert_eq!(
        fs::read_to_string(folder.path().join("out.yaml")).unwrap(),
        "old\n"
    );
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// `kustomize build -o DIR` names its files so.
#[test]
fn a_folder_gets_a_file_for_each_object_or_none() {
    let two = "configMapGenerator:\n- {name: a, namespace: n1}\n- {name: a, namespace: n2}\ngeneratorOptions: {disableNameSuffixHash: true}\n";
    let folder = folder(&[("kustomization.yaml", two), ("out/keep", "")]);
    assert!(ours(&["-o", "out"], folder.path()).status.success());
    let names = || {
        let files = fs::read_dir(folder.path().join("out")).unwrap();
        let mut names: Vec<String> = files
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names(),
        ["keep", "n1_v1_configmap_a.yaml", "n2_v1_configmap_a.yaml"]
    );
    // The name of the second is too long, so the first is not made either.
    for name in ["n1_v1_configmap_a.yaml", "n2_v1_configmap_a.yaml"] {
        fs::remove_file(folder.path().join("out").join(name)).unwrap();
    }
    let too_long = format!(
        "configMapGenerator:\n- {{name: a}}\n- {{name: {}}}\n",
        "b".repeat(300)
    );
    fs::write(folder.path().join("kustomization.yaml"), too_long).unwrap();
    refused(&["-o", "out"], folder.path());
    assert_eq!(names(), ["keep"]);
}
