//! The number of dependencies, which is most of what a fresh build takes.

use std::collections::BTreeMap;
use std::path::Path;

/// Prints how many packages the lock file has, and which of them in several versions.
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
}
