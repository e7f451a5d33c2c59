//! Cases of public projects: a file tree, the directory to build, and what the real program prints.
//!
//! They are not part of the repository. `SLUICE_CORPUS` names the directory that has a `kustomize` in it; without it,
//! `../shared/corpus` beside the workspace is looked for. `SLUICE_KUSTOMIZE_CORPUS` names a directory of cases itself.

use std::path::{Path, PathBuf};

use crate::skip;
use kustomize::{LoadRestrictor, Memory, Options, Release, build};

/// Cases that do not match yet. A listed case that matches makes the test fail: then it is to be taken out.
const NOT_YET: [&str; 0] = [];

fn cases() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SLUICE_KUSTOMIZE_CORPUS") {
        return Some(folder.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus =
        std::env::var_os("SLUICE_CORPUS").map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    // What was asked for has to be there.
    let is_wanted = std::env::var_os("SLUICE_CORPUS").is_some();
    Some(corpus.join("kustomize")).filter(|folder| is_wanted || folder.is_dir())
}

/// All files below a folder.
fn read_tree(folder: &Path, prefix: &str, tree: &mut Memory) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read_tree(&entry.path(), &format!("{name}/"), tree);
        } else if let Ok(content) = std::fs::read(entry.path()) {
            tree.insert(&name, content);
        }
    }
}

fn run(case: &Path, options: &Options<'_>) -> Result<(), String> {
    let mut tree = Memory::new();
    read_tree(&case.join("in"), "", &mut tree);
    let root = std::fs::read_to_string(case.join("root.txt")).map_err(|error| error.to_string())?;
    let want = std::fs::read_to_string(case.join("want.yaml")).map_err(|error| error.to_string())?;
    let output = build(&tree, root.trim().trim_matches('/'), options).map_err(|errors| errors.to_string())?;
    let got = output.to_yaml().map_err(|errors| errors.to_string())?;
    if got == want {
        return Ok(());
    }
    let mut lines = got.lines().zip(want.lines()).enumerate();
    let first = lines.find(|(_, (got, want))| got != want);
    Err(match first {
        Some((number, (got, want))) => format!("line {}: got {got:?}, want {want:?}", number + 1),
        None => format!("got {} lines, want {}", got.lines().count(), want.lines().count()),
    })
}

/// The cases of a folder, in order; none, if there is no such folder.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("want.yaml").is_file())
        .collect();
    all.sort();
    all
}

#[test]
fn a_folder_without_cases_has_none() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    assert!(all_in(folder.path()).is_empty() && all_in(&folder.path().join("gone")).is_empty());
    std::fs::create_dir(folder.path().join("case")).expect("a folder can be made");
    std::fs::write(folder.path().join("case/want.yaml"), "").expect("a file can be written");
    assert_eq!(all_in(folder.path()).len(), 1);
}

#[test]
fn cases_of_kustomize_match_to_the_byte() {
    let Some(folder) = cases() else {
        return skip("there is no ../shared/corpus/kustomize, and SLUICE_CORPUS does not name another one");
    };
    let options = Options {
        load_restrictor: LoadRestrictor::None,
        // The release that the cases were recorded with.
        release: match std::env::var("SLUICE_KUSTOMIZE_RELEASE").as_deref() {
            Ok("5.8") => Release::V5_8,
            _ => Release::V5_5,
        },
        ..Options::default()
    };
    let all = all_in(&folder);
    assert!(!all.is_empty(), "there are no cases in {}", folder.display());
    let mut problems = Vec::new();
    let mut matching = 0;
    for case in &all {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let listed = NOT_YET.contains(&name.as_str());
        match run(case, &options) {
            Ok(()) => {
                matching += 1;
                if listed {
                    problems.push(format!("{name}: matches now; take it out of the list"));
                }
            }
            Err(problem) if !listed => problems.push(format!("{name}: {problem}")),
            Err(_) => {}
        }
    }
    eprintln!("{matching} of {} cases match", all.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
