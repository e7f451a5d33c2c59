//! Real repositories: every kustomization in them is built by the real program and by ours, and the outputs are compared.
//!
//!     SLUICE_KUSTOMIZE_REPOSITORIES=DIR:DIR… cargo test -p kustomize --test it repositories:: -- --nocapture
//!
//! They are not part of the repository, and without the variable nothing is done. The real program is `kustomize`, or what
//! the variable `KUSTOMIZE` names. Neither side renders charts, and ours fetches nothing: what needs that is counted apart.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip;
use kustomize::{Options, Tree, build};

/// A directory that cannot be left.
struct OnDisk(PathBuf);

impl OnDisk {
    fn real(&self, path: &str) -> Option<PathBuf> {
        let real = std::fs::canonicalize(self.0.join(path)).ok()?;
        real.starts_with(&self.0).then_some(real)
    }
}

impl Tree for OnDisk {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        let Some(real) = self.real(path) else {
            return Ok(None);
        };
        let content = std::fs::read(real).map_err(|error| error.to_string())?;
        Ok(Some(Cow::Owned(content)))
    }

    fn is_dir(&self, path: &str) -> bool {
        self.real(path).is_some_and(|real| real.is_dir())
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let real = self.real(path)?;
        Some(real.strip_prefix(&self.0).ok()?.to_str()?.to_owned())
    }
}

/// The directories below one that have a kustomization, as paths from it.
fn kustomizations(root: &Path, below: &Path, found: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(below).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && name != ".git" {
            kustomizations(root, &path, found);
        } else if name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization" {
            let folder = below.strip_prefix(root).unwrap_or(below);
            found.push(folder.to_string_lossy().into_owned());
        }
    }
}

#[derive(Default)]
struct Score {
    same: usize,
    both_fail: usize,
    not_here: usize,
    different: Vec<String>,
}

fn compare(tree: &OnDisk, folder: &str, program: &str, options: &Options<'_>, score: &mut Score) {
    let ours = build(tree, folder, options).and_then(|output| output.to_yaml());
    if let Err(errors) = &ours
        && errors.to_string().contains("not allowed here")
    {
        // The real program would try to get it.
        score.not_here += 1;
        return;
    }
    let real = Command::new(program)
        .arg("build")
        .arg(tree.0.join(folder))
        .output()
        .unwrap_or_else(|error| panic!("failed to run {program}: {error}"));
    let told = String::from_utf8_lossy(&real.stderr);
    match ours {
        Ok(ours) if real.status.success() && ours.as_bytes() == real.stdout => score.same += 1,
        Err(_) if !real.status.success() => score.both_fail += 1,
        Err(errors) => score
            .different
            .push(format!("{folder}: only ours fails: {errors}")),
        Ok(_) if !real.status.success() => {
            score
                .different
                .push(format!("{folder}: only the real one fails: {}", told.trim()));
        }
        Ok(ours) => {
            let wanted = String::from_utf8_lossy(&real.stdout);
            let mut lines = ours.lines().zip(wanted.lines()).enumerate();
            let first = lines.find(|(_, (got, want))| got != want);
            let told = match first {
                Some((number, (got, want))) => format!("line {}: got {got:?}, want {want:?}", number + 1),
                None => format!(
                    "got {} lines, want {}",
                    ours.lines().count(),
                    wanted.lines().count()
                ),
            };
            score.different.push(format!("{folder}: {told}"));
        }
    }
}

#[test]
fn real_repositories_are_built_as_the_real_program_builds_them() {
    let Some(folders) = std::env::var_os("SLUICE_KUSTOMIZE_REPOSITORIES") else {
        return skip("SLUICE_KUSTOMIZE_REPOSITORIES names no directories");
    };
    let program = std::env::var("KUSTOMIZE").unwrap_or_else(|_| "kustomize".to_owned());
    let options = Options::default();
    let mut wrong = 0;
    for folder in std::env::split_paths(&folders) {
        let root = std::fs::canonicalize(&folder)
            .unwrap_or_else(|error| panic!("failed to find {}: {error}", folder.display()));
        let mut found = Vec::new();
        kustomizations(&root, &root, &mut found);
        assert!(!found.is_empty(), "{} has no kustomization", folder.display());
        let tree = OnDisk(root);
        let mut score = Score::default();
        for kustomization in &found {
            compare(&tree, kustomization, &program, &options, &mut score);
        }
        eprintln!(
            "{}: {} kustomizations: {} the same, {} fail with both, {} need what is elsewhere, {} differ",
            folder.display(),
            found.len(),
            score.same,
            score.both_fail,
            score.not_here,
            score.different.len()
        );
        for difference in &score.different {
            eprintln!("  {difference}");
        }
        wrong += score.different.len();
    }
    assert_eq!(wrong, 0, "what differs is told above");
}
