//! `sluice kustomize build` with what is elsewhere: charts, files at URLs, bases in Git. The real kustomize runs beside it
//! where it is installed.

mod flags;
mod helm;
mod remote;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn build(program: &str, arguments: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(arguments)
        .arg(".")
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("KUBECONFIG")
        .output()
        .unwrap()
}

/// What ours prints; the real one must print the same, if it is there.
fn same(flags: &[&str], folder: &Path) -> String {
    let ours = build(
        env!("CARGO_BIN_EXE_sluice"),
        &[&["kustomize", "build"], flags].concat(),
        folder,
    );
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = text(ours.stderr);
    assert!(ours.status.success(), "{said}");
    let ours = text(ours.stdout);
    // Charts that were pulled would be found by the second one.
    let _ = fs::remove_dir_all(folder.join("pulled"));
    if testkit::program::find("kustomize").is_some() {
        let theirs = build("kustomize", &[&["build"], flags].concat(), folder);
        assert_eq!(ours, text(theirs.stdout), "{}", text(theirs.stderr));
    }
    ours
}

/// What ours complains of.
fn refused(flags: &[&str], folder: &Path) -> String {
    let ours = build(
        env!("CARGO_BIN_EXE_sluice"),
        &[&["kustomize", "build"], flags].concat(),
        folder,
    );
    assert_eq!(ours.status.code(), Some(1));
    String::from_utf8(ours.stderr).unwrap()
}
