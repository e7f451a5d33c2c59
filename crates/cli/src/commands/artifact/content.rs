//! Local files, packed into the content of an artifact.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{self, Directory, MemoryTree, Modes, Tree};
use tempfile::TempDir;

/// Links that lead in circles end here.
const DEPTH_LIMIT: usize = 100;

#[derive(clap::Args)]
pub(super) struct IgnoreArgs {
    /// Paths to leave out, in the format of .gitignore
    #[arg(long, value_name = "PATHS", value_delimiter = ',', default_value = DEFAULT)]
    ignore_paths: Vec<String>,

    /// More paths to leave out, in the format of .gitignore
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    add_ignore_paths: Vec<String>,
}

const DEFAULT: &str =
    ".git/,.gitignore,.gitmodules,.gitattributes,*.jpg,*.jpeg,*.gif,*.png,*.wmv,*.flv,*.tar.gz,*.zip";

/// What happens to symbolic links.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// They are left out.
    Skip,
    /// What they point to is taken in their place.
    Resolve,
}

/// Packs a directory, a single file, or with `-` what comes by standard input.
pub(super) fn pack(path: &Path, ignore: &IgnoreArgs, links: Links) -> anyhow::Result<Vec<u8>> {
    let patterns = [&ignore.ignore_paths[..], &ignore.add_ignore_paths[..]]
        .concat()
        .join("\n");
    let rules = Rules::only([patterns.as_bytes()]).context("failed to read the paths to ignore")?;
    let mut archive = Vec::new();
    let mut write = |tree: &dyn Tree| {
        archive::pack(tree, &rules, Modes::SHARED, Algorithm::Sha256, &mut archive)
            .with_context(|| format!("failed to pack {}", path.display()))
    };
    if path.as_os_str() == "-" {
        write(&standard_input()?)?;
        return Ok(archive);
    }
    let Ok(metadata) = fs::metadata(path) else {
        bail!(
            "invalid path '{}', must point to an existing directory or file",
            path.display()
        );
    };
    if metadata.is_file() {
        write(&single(path, &metadata)?)?;
    } else if links == Links::Resolve {
        let copy = resolved(path)?;
        write(&Directory::new(copy.path()))?;
    } else {
        write(&Directory::new(path))?;
    }
    Ok(archive)
}

fn standard_input() -> anyhow::Result<MemoryTree> {
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut text)
        .context("failed to read standard input")?;
    while text.last().is_some_and(|last| matches!(last, b'\r' | b'\n')) {
        text.pop();
    }
    Ok(MemoryTree::new().with("stdin.yaml", text))
}

fn single(path: &Path, metadata: &fs::Metadata) -> anyhow::Result<MemoryTree> {
    let content = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("the name of {} is not UTF-8", path.display()))?;
    let tree = MemoryTree::new();
    Ok(if is_executable(metadata) {
        tree.with_executable(name, content)
    } else {
        tree.with(name, content)
    })
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// A copy in which files stand in the place of links to them.
fn resolved(path: &Path) -> anyhow::Result<TempDir> {
    let copy = tempfile::tempdir().context("failed to create a temporary directory")?;
    copy_resolved(path, copy.path(), &mut Vec::new())?;
    Ok(copy)
}

fn copy_resolved(from: &Path, to: &Path, above: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let failed = |path: &Path| format!("failed to resolve the links in {}", path.display());
    let real = fs::canonicalize(from).with_context(|| failed(from))?;
    if above.contains(&real) {
        return Ok(());
    }
    if above.len() > DEPTH_LIMIT {
        bail!("{} is nested too deeply", from.display());
    }
    above.push(real);
    for entry in fs::read_dir(from).with_context(|| failed(from))? {
        let entry = entry.with_context(|| failed(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let metadata = fs::metadata(&source).with_context(|| failed(&source))?;
        if metadata.is_dir() {
            fs::create_dir(&target).with_context(|| failed(&source))?;
            copy_resolved(&source, &target, above)?;
        } else if metadata.is_file() {
            fs::copy(&source, &target).with_context(|| failed(&source))?;
        }
    }
    above.pop();
    Ok(())
}
