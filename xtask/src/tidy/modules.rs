//! Every file is part of the program: one that no `mod` names is never compiled, and its tests never run.

use std::path::Path;

use super::Problem;

/// Names that say nothing of what is inside.
const VAGUE: [&str; 7] = ["util", "utils", "helper", "helpers", "common", "misc", "manager"];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for folder in super::crates(root)? {
        for file in super::rust_files(&folder) {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            if !is_named(&file, &folder) {
                problems.push(format!("{shown}: no `mod` names it, so it is never compiled"));
            }
            let stem = file
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
            if VAGUE.contains(&stem.as_str()) {
                problems.push(format!("{shown}: call it by what is inside"));
            }
        }
    }
    Ok(problems)
}

/// Whether some file declares this one, or cargo finds it by itself.
fn is_named(file: &Path, crate_folder: &Path) -> bool {
    let inside = file.strip_prefix(crate_folder).unwrap_or(file);
    let parts: Vec<String> = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let root = matches!(
        parts.as_slice(),
        ["src", "lib.rs" | "main.rs"]
            | ["build.rs"]
            | ["tests" | "benches" | "examples", _]
            | ["tests" | "benches" | "examples", _, "main.rs"]
    );
    if root {
        return true;
    }
    let stem = file
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let Some(folder) = file.parent() else { return false };
    let (name, folder) = match stem.as_str() {
        "mod" => {
            let name = folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            (name, folder.parent().unwrap_or(folder))
        }
        _ => (stem, folder),
    };
    let declaration = format!("mod {name};");
    let parents = ["mod.rs", "lib.rs", "main.rs"]
        .iter()
        .map(|parent| folder.join(parent));
    // A bench or a single-file test may have a folder of modules, or share one with those beside it.
    let beside = std::iter::once(folder.with_extension("rs"));
    let sharing = match folder == crate_folder.join("benches") {
        true => super::rust_files(folder),
        false => Vec::new(),
    };
    parents.chain(beside).chain(sharing).any(|parent| {
        let text = std::fs::read_to_string(parent).unwrap_or_default();
        text.lines().any(|line| line.trim_end().ends_with(&declaration))
    })
}
