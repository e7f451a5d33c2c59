//! The rules of this repository, as a test: which crate may use which, where dependencies are declared, that every file
//! is part of the program, and how long files are.

mod dependencies;
mod manifests;
mod modules;
mod profiles;
mod sizes;
mod words;

use std::path::{Path, PathBuf};

/// Something that breaks a rule: where, what, and what to do.
pub(crate) type Problem = String;

/// Checks all rules, and prints how long files are and how many dependencies there are.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = root();
    sizes::report(&root);
    dependencies::report(&root);
    let problems = problems(&root)?;
    if problems.is_empty() {
        println!("tidy: no rule is broken");
        return Ok(());
    }
    anyhow::bail!(
        "{} rules are broken:\n  {}",
        problems.len(),
        problems.join("\n  ")
    )
}

fn problems(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = manifests::check(root)?;
    problems.extend(modules::check(root)?);
    problems.extend(profiles::check(root)?);
    problems.extend(words::check(root)?);
    Ok(problems)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// The folders of all crates.
fn crates(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![root.join("xtask")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    folders.sort();
    Ok(folders)
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_rule_of_the_repository_is_broken() {
        let problems = super::problems(&super::root()).unwrap();
        assert!(problems.is_empty(), "\n  {}", problems.join("\n  "));
    }
}
