//! Manifests in files: versions are replaced in the text, so that all else stays.

use std::fs;
use std::path::{Component, Path};

use anyhow::{Context as _, bail};

use super::versions::Latest;
use crate::commands::objects::is_agreed;

/// A migration of files.
pub(super) struct Migration<'a> {
    /// The directory or the file, from the working directory on.
    pub(super) path: &'a str,
    pub(super) extensions: &'a [String],
    pub(super) latest: &'static [Latest],
    pub(super) yes: bool,
    pub(super) dry_run: bool,
}

/// The changes to one file.
struct FileUpgrades {
    file: String,
    upgrades: Vec<Upgrade>,
}

/// A version that is replaced.
#[derive(Debug, PartialEq, Eq)]
struct Upgrade {
    /// The line, from 0.
    line: usize,
    kind: String,
    old: String,
    new: &'static str,
}

impl Migration<'_> {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        eprintln!("► starting migration of custom resources");
        let mut all = Vec::new();
        for file in self.files()? {
            let text = read(&file)?;
            let upgrades = upgrades(&file, &text, self.latest);
            for Upgrade { line, kind, old, new } in &upgrades {
                eprintln!("✚ {file}:{}: {kind} {old} -> {new}", line + 1);
            }
            if !upgrades.is_empty() {
                all.push(FileUpgrades { file, upgrades });
            }
        }
        if all.is_empty() {
            eprintln!("✔ no custom resources found that require migration");
            return Ok(());
        }
        if self.dry_run {
            eprintln!("✔ dry-run mode enabled, no changes will be made");
            return Ok(());
        }
        let question = "Are you sure you want to proceed with the above upgrades";
        if !self.yes && !is_agreed(question, "--yes migrates without asking")? {
            bail!("aborting");
        }
        for FileUpgrades { file, upgrades } in &all {
            let text = upgraded(&read(file)?, upgrades);
            fs::write(file, text).with_context(|| format!("failed to write file {file}"))?;
            eprintln!("✔ file {file} migrated successfully");
        }
        eprintln!("✔ custom resources migrated successfully");
        Ok(())
    }

    /// The files of the path, in the order of their names.
    fn files(&self) -> anyhow::Result<Vec<String>> {
        let path = cleaned(self.path)?;
        let kind = fs::metadata(&path).with_context(|| format!("failed to stat path {path}"))?;
        let working =
            fs::canonicalize(".").context("failed to open filesystem at the current working directory")?;
        let real = fs::canonicalize(&path).with_context(|| format!("failed to stat path {path}"))?;
        if !real.starts_with(working) {
            bail!("failed to stat path {path}: path escapes from parent");
        }
        if kind.is_dir() {
            let mut files = Vec::new();
            self.walk(&path, &mut files)
                .with_context(|| format!("failed to walk directory {path}"))?;
            return Ok(files);
        }
        if !self.matches(&path) {
            bail!(
                "file {path} does not match the specified extensions: {}",
                self.extensions.join(", ")
            );
        }
        if !fs::symlink_metadata(&path)?.is_file() {
            bail!("file {path} is irregular");
        }
        Ok(vec![path])
    }

    fn walk(&self, directory: &str, files: &mut Vec<String>) -> anyhow::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory).with_context(|| directory.to_owned())? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().with_context(|| format!("{name:?} is not UTF-8"))?;
            entries.push((name.to_owned(), entry.file_type()?));
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in entries {
            let path = match directory {
                "." => name,
                directory => format!("{directory}/{name}"),
            };
            if kind.is_dir() {
                self.walk(&path, files)?;
            } else if self.matches(&path) {
                match kind.is_file() {
                    true => files.push(path),
                    false => eprintln!("⚠️ skipping irregular file {path}"),
                }
            }
        }
        Ok(())
    }

    fn matches(&self, path: &str) -> bool {
        self.extensions
            .iter()
            .any(|extension| path.ends_with(extension.as_str()))
    }
}

/// The path without detours. Nothing outside of the working directory is changed.
fn cleaned(path: &str) -> anyhow::Result<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str().unwrap_or_default()),
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                bail!("failed to stat path {path}: it must be below the current working directory")
            }
        }
    }
    Ok(match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join("/"),
    })
}

fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("failed to read file {file}"))
}

/// The first word after a prefix anywhere in a line.
fn word_after(line: &[u8], prefix: &str) -> Option<String> {
    let at = line
        .windows(prefix.len())
        .position(|found| found == prefix.as_bytes())?;
    let rest = String::from_utf8_lossy(&line[at + prefix.len()..]).into_owned();
    Some(rest.trim().split(' ').next().unwrap_or_default().to_owned())
}

/// The versions in a text that are older than the latest: `kind` stands in the line below `apiVersion`.
fn upgrades(file: &str, text: &[u8], latest: &[Latest]) -> Vec<Upgrade> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut upgrades = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(api_version) = word_after(line, "apiVersion: ") else {
            continue;
        };
        let parts: Vec<&str> = api_version.split('/').collect();
        let [group, old] = parts[..] else {
            if parts.len() > 2 {
                eprintln!(
                    "⚠️ {file}:{}: unexpected GroupVersion string: {api_version}",
                    number + 1
                );
            }
            continue;
        };
        let below = lines.get(number + 1);
        let Some(kind) = below.and_then(|below| word_after(below, "kind: ")) else {
            continue;
        };
        let found = latest
            .iter()
            .find(|(of_group, of_kind, _)| *of_group == group && *of_kind == kind);
        if let Some((_, _, new)) = found
            && *new != old
            && !old.is_empty()
        {
            upgrades.push(Upgrade {
                line: number,
                kind,
                old: old.to_owned(),
                new,
            });
        }
    }
    upgrades
}

fn upgraded(text: &[u8], upgrades: &[Upgrade]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for Upgrade { line, old, new, .. } in upgrades {
        let Some(line) = lines.get_mut(*line) else {
            continue;
        };
        let at = line.windows(old.len()).position(|found| found == old.as_bytes());
        if let Some(at) = at {
            line.splice(at..at + old.len(), new.bytes());
        }
    }
    lines.join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_working_directory() {
        assert_eq!(cleaned("./a//b/../c/").unwrap(), "a/c");
        assert_eq!(cleaned("a/..").unwrap(), ".");
        for wrong in ["/etc", "..", "a/../../b"] {
            assert!(cleaned(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_the_version_is_replaced() {
        const LATEST: &[Latest] = &[("g.io", "Kind", "v1")];
        let text = b"# \xff\n- apiVersion: g.io/v1beta1 # v1beta1\r\n  kind: Kind\r\napiVersion: g.io/v1\nkind: Kind\napiVersion: g.io/v1alpha1";
        let found = upgrades("file", text, LATEST);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].old.as_str()), (1, "v1beta1"));
        let wanted = b"# \xff\n- apiVersion: g.io/v1 # v1beta1\r\n  kind: Kind\r\napiVersion: g.io/v1\nkind: Kind\napiVersion: g.io/v1alpha1";
        assert_eq!(upgraded(text, &found), wanted);
    }
}
