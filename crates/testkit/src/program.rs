//! Programs and files of others, for tests that must hold on more than our own servers and clients.
//!
//! A machine without one skips the tests that need it and prints so. Where `CI=true` is set, or `SLUICE_TEST_REAL_PROGRAMS` as
//! `cargo xtask real-programs exec` does, a missing one fails its tests: CI names the tests that it leaves to `.ci/nightly`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where a program is, or `None` after a line that says that the test is skipped.
///
/// # Panics
/// Where programs are required and this one is missing.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // System programs such as sshd are not on everyone's path.
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let mut files = folders.map(|folder| folder.join(name));
    let found = files.find(|file| file.is_file());
    if found.is_none() {
        assert!(
            !is_required(),
            "{name} is missing: run the tests with `cargo xtask real-programs exec`"
        );
        eprintln!("skipped: this machine has no {name}; `cargo xtask real-programs exec` gets it");
    }
    found
}

/// The directory or file that an environment variable names, or `None` after a line that says that the test is skipped.
///
/// # Panics
/// In CI, if the variable is not set.
pub fn named_by(variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    if named.is_none() {
        assert!(
            !is_ci(),
            "{variable} is not set: a test must not be skipped in CI"
        );
        eprintln!("skipped: {variable} is not set");
    }
    named
}

/// Returns true where a missing program is a failure.
fn is_required() -> bool {
    is_ci() || std::env::var_os("SLUICE_TEST_REAL_PROGRAMS").is_some()
}

fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Runs a command that must succeed, and gives what it printed.
///
/// # Panics
/// With what it complained of, if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {complaint}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
