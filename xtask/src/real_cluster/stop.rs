//! Stops clusters, by process id, last started first.

use std::fs;

use anyhow::Context;

use super::home::{ClusterHome, Home};
use super::pins::PARTS;
use super::process::{End, Record};

/// Whether the programs may finish what they do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// The data is kept, so each program closes it.
    Gently,
    /// The data goes away anyway.
    AtOnce,
}

/// Stops what runs of a cluster.
pub(super) fn stop(cluster: &ClusterHome, how: How) -> anyhow::Result<()> {
    for part in PARTS.into_iter().rev() {
        let path = cluster.record(part);
        if let Some(record) = Record::read(&path)?.filter(Record::is_alive) {
            let end = if how == How::Gently { End::Ask } else { End::Kill };
            record
                .end(end)
                .with_context(|| format!("failed to stop {part}"))?;
        }
        if path.exists() {
            fs::remove_file(&path).with_context(|| format!("failed to delete {}", path.display()))?;
        }
    }
    Ok(())
}

/// Stops a cluster and deletes all it has written.
pub(super) fn reset(cluster: &ClusterHome) -> anyhow::Result<()> {
    stop(cluster, How::AtOnce)?;
    let path = cluster.path();
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("failed to delete {}", path.display()))?;
    }
    Ok(())
}

/// Removes the clusters of `exec` runs that were killed before they could do so themselves.
pub(super) fn reset_abandoned(home: &Home) -> anyhow::Result<()> {
    for cluster in home.clusters()? {
        let name = cluster.name();
        let owner = name.strip_prefix(super::exec::PREFIX).and_then(Record::from_name);
        if owner.is_some_and(|owner| !owner.is_alive()) {
            eprintln!("removing the abandoned cluster {name}");
            reset(&cluster)?;
        }
    }
    Ok(())
}
