//! Packed charts into directories.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use helm::chart::{files, metadata_of_archive};

use super::{chart, whole};

/// Refuses to unpack where something of the name of the chart is already.
pub(in crate::commands) fn check(folder: &Path, name: &str) -> anyhow::Result<()> {
    let place = folder.join(name);
    // A link that leads nowhere is something too.
    if fs::symlink_metadata(&place).is_ok() {
        let place = place.strip_prefix(".").unwrap_or(&place);
        bail!(
            "failed to untar: a file or directory with the name {} already exists",
            place.display()
        );
    }
    Ok(())
}

/// Unpacks a chart into a directory of its name. What is there already is never written to: a link in it could lead anywhere.
pub(in crate::commands) fn write(folder: &Path, archive: &[u8]) -> anyhow::Result<()> {
    let limits = chart::limits();
    let metadata = metadata_of_archive(archive, &limits).map_err(|error| whole(&error))?;
    let name = &metadata.name;
    if matches!(name.as_str(), "" | "." | "..") || name.contains(['/', '\\']) {
        bail!("chart name {name:?} must not contain path separators");
    }
    let files = files::from_archive(archive, &limits).map_err(|error| whole(&error))?;
    check(folder, name)?;
    fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
    // The chart appears whole or not at all.
    let new = tempfile::Builder::new().prefix(".sluice-").tempdir_in(folder);
    let new = new.with_context(|| format!("failed to untar into {}", folder.display()))?;
    let top = new.path().join(name);
    for file in &files {
        // Paths of archives were checked when they were read, and nothing here is a link.
        let path = top.join(&file.path);
        let failed = || format!("failed to write {}", folder.join(name).join(&file.path).display());
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(failed)?;
        }
        fs::write(&path, &file.content).with_context(failed)?;
    }
    fs::rename(&top, folder.join(name)).with_context(|| format!("failed to untar {name}"))
}
