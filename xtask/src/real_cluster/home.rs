//! Where programs and clusters are kept: outside the checkout, so that they outlive it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::pins;

/// The folder of everything, and where ready-made programs may lie.
pub(super) struct Home {
    root: PathBuf,
    ready_made: Option<PathBuf>,
}

/// The folder of one cluster.
pub(super) struct ClusterHome(PathBuf);

impl Home {
    /// `$SLUICE_REAL_CLUSTER_HOME`, else `real-cluster` in the user's cache folder. Programs that are already in
    /// `$BED_HOME/bin` are used as they are.
    pub(super) fn from_environment() -> anyhow::Result<Home> {
        let absolute = |name: &str| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let root = absolute("SLUICE_REAL_CLUSTER_HOME")
            .or_else(|| absolute("XDG_CACHE_HOME").map(|cache| cache.join("sluice/real-cluster")))
            .or_else(|| absolute("HOME").map(|home| home.join(".cache/sluice/real-cluster")))
            .context("neither SLUICE_REAL_CLUSTER_HOME, XDG_CACHE_HOME nor HOME names an absolute path")?;
        Ok(Home {
            root,
            ready_made: absolute("BED_HOME").map(|bed| bed.join("bin")),
        })
    }

    /// Where the programs of the pinned version go.
    pub(super) fn programs(&self) -> PathBuf {
        self.root.join(pins::KUBERNETES).join("bin")
    }

    /// Where the wrapper modules of the builds go.
    pub(super) fn sources(&self) -> PathBuf {
        self.root.join(pins::KUBERNETES).join("src")
    }

    /// The folder in which somebody else may have put built programs.
    pub(super) fn ready_made(&self) -> Option<&Path> {
        self.ready_made.as_deref()
    }

    /// The folder of the cluster of that name.
    pub(super) fn cluster(&self, name: &str) -> ClusterHome {
        ClusterHome(self.root.join("clusters").join(name))
    }

    /// Every cluster that was started and not reset, by name.
    pub(super) fn clusters(&self) -> anyhow::Result<Vec<ClusterHome>> {
        let folder = self.root.join("clusters");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("failed to list {}", folder.display()))? {
            found.push(ClusterHome(
                entry
                    .with_context(|| format!("failed to list {}", folder.display()))?
                    .path(),
            ));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }
}

impl ClusterHome {
    /// The cluster's folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The name under which the cluster was started.
    pub(super) fn name(&self) -> String {
        self.0
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// The kubeconfig with all three users.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.0.join("kubeconfig")
    }

    /// A certificate, key or token file.
    pub(super) fn pki(&self, file: &str) -> PathBuf {
        self.0.join("pki").join(file)
    }

    /// The file that remembers the process of one part.
    pub(super) fn record(&self, part: &str) -> PathBuf {
        self.0.join(format!("{part}.process"))
    }

    /// Standard output and error of one part.
    pub(super) fn log(&self, part: &str) -> PathBuf {
        self.0.join(format!("{part}.log"))
    }
}

/// A cluster's name becomes a folder's name.
pub(super) fn parse_name(name: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        Ok(name.to_owned())
    } else {
        Err("a name is made of up to 64 letters, digits, '-' and '_'".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::parse_name;

    #[test]
    fn a_name_that_would_leave_the_folder_is_refused() {
        assert!(parse_name("../x").is_err());
        assert!(parse_name("").is_err());
        assert_eq!(parse_name("side-2").as_deref(), Ok("side-2"));
    }
}
