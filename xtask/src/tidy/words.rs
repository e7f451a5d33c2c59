//! What must not stand in committed files: leftovers of merges and paths of somebody's machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::Problem;

/// Pieces of text and why they are wrong. They are put together here so that this file does not hold them.
fn banned() -> [(String, &'static str); 4] {
    [
        (format!("{}{}", "<<<<", "<<< "), "a merge was left half done"),
        (format!("{}{}", ">>>>", ">>> "), "a merge was left half done"),
        (format!("/{}/", "root"), "a path of one machine"),
        (format!("/{}/", "home"), "a path of one machine"),
    ]
}

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let banned = banned();
    let mut problems = Vec::new();
    for file in tracked(root)? {
        let Ok(text) = std::fs::read_to_string(root.join(&file)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for (piece, why) in &banned {
                if line.contains(piece.as_str()) && !is_data(&file) {
                    problems.push(format!(
                        "{}:{}: {why}: `{}`",
                        file.display(),
                        number + 1,
                        line.trim()
                    ));
                }
            }
        }
    }
    Ok(problems)
}

/// Recorded answers and generated tables hold whatever a server said.
fn is_data(file: &Path) -> bool {
    file.iter().any(|part| part == "data") || file.extension().is_some_and(|extension| extension == "lock")
}

fn tracked(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z"])
        .output();
    // A tree without Git, such as an unpacked archive, has nothing to compare with.
    let Ok(output) = output else { return Ok(Vec::new()) };
    let text = String::from_utf8(output.stdout).context("git names a file that is not UTF-8")?;
    Ok(text
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect())
}
