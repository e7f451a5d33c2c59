//! The optimisation of single packages: the shipped program does not inherit it from the quick build.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;

use super::Problem;

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let path = root.join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
    Ok(differences(&text))
}

/// The packages that only one of the two profiles names.
fn differences(manifest: &str) -> Vec<Problem> {
    let (release, dist) = (packages(manifest, "release"), packages(manifest, "dist"));
    let differences = release.symmetric_difference(&dist);
    differences
        .map(|package| {
            format!(
                "Cargo.toml: only one of [profile.release.package] and [profile.dist.package] has `{package}`: add it to the \
                 other, for `dist` inherits from `release`"
            )
        })
        .collect()
}

/// The packages that a profile names.
fn packages<'a>(manifest: &'a str, profile: &str) -> BTreeSet<&'a str> {
    let heading = format!("[profile.{profile}.package]");
    let lines = manifest.lines().skip_while(|line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(package, _)| package)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_profiles_name_the_same_packages() {
        let manifest = |dist: &str| {
            format!(
                "[profile.release.package]\na = {{ opt-level = 1 }}\n\n[profile.dist]\nlto = \"fat\"\n\n[profile.dist.package]\n{dist} = 1\n"
            )
        };
        assert!(differences(&manifest("a")).is_empty());
        assert_eq!(differences(&manifest("b")).len(), 2);
    }
}
