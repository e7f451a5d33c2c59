//! The number of dependencies, which is most of what a fresh build takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Prints how many packages the lock file has and the program is built from, and which of them the lock file has in several versions.
pub(super) fn report(root: &Path) {
    let text = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let versions = versions(&text);
    let packages: usize = versions.values().sum();
    let repeated: Vec<&str> = versions
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(name, _)| *name)
        .collect();
    println!(
        "{packages} packages in Cargo.lock, {} of them in several versions: {}",
        repeated.len(),
        repeated.join(" ")
    );
    if let Some(built) = built(root) {
        println!("{built} packages are built for `sluice`, ours among them");
    }
}

/// The number of packages that the program is built from on this machine. The lock file also has those of tests and of other systems.
fn built(root: &Path) -> Option<usize> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args([
        "tree",
        "--offline",
        "--package",
        "cli",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
    ]);
    let output = cargo.output().ok().filter(|output| output.status.success())?;
    let tree = String::from_utf8(output.stdout).ok()?;
    Some(packages(&tree))
}

/// The number of packages in a tree. A package that stands there again is marked with a star.
fn packages(tree: &str) -> usize {
    let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    packages.len()
}

/// The number of versions of each package in a lock file.
fn versions(lock: &str) -> BTreeMap<&str, usize> {
    let mut versions = BTreeMap::new();
    for line in lock.lines() {
        let name = line
            .strip_prefix("name = \"")
            .and_then(|rest| rest.strip_suffix('"'));
        if let Some(name) = name {
            *versions.entry(name).or_default() += 1;
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_package_counts() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1\"\n\n[[package]]\nname = \"a\"\nversion = \"2\"\n\n[[package]]\nname = \"b\"\n";
        assert_eq!(versions(lock), BTreeMap::from([("a", 2), ("b", 1)]));
    }

    #[test]
    fn a_package_counts_once_however_many_need_it() {
        assert_eq!(packages("a v1\nb v1\nc v1\nb v1 (*)\nb v2\n"), 4);
    }
}
