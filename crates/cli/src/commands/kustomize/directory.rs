//! A directory as the tree of a build.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// A directory that cannot be left: links that lead out of it lead nowhere.
pub(super) struct Directory {
    root: PathBuf,
    /// Removes the directory at the end, if it is there for this build alone.
    _temporary: Option<tempfile::TempDir>,
}

impl Directory {
    pub(super) fn new(root: &Path) -> anyhow::Result<Self> {
        let root =
            std::fs::canonicalize(root).with_context(|| format!("failed to find {}", root.display()))?;
        Ok(Directory {
            root,
            _temporary: None,
        })
    }

    pub(super) fn temporary(folder: tempfile::TempDir) -> anyhow::Result<Self> {
        let mut directory = Directory::new(folder.path())?;
        directory._temporary = Some(folder);
        Ok(directory)
    }

    /// Where the path really is; `None` if that is nowhere or outside.
    fn real(&self, path: &str) -> Option<PathBuf> {
        let real = std::fs::canonicalize(self.root.join(path)).ok()?;
        real.starts_with(&self.root).then_some(real)
    }
}

impl kustomize::Tree for Directory {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        let Some(real) = self.real(path) else {
            return Ok(None);
        };
        std::fs::read(&real)
            .map(|content| Some(Cow::Owned(content)))
            .map_err(|error| format!("failed to read {}: {error}", real.display()))
    }

    fn is_dir(&self, path: &str) -> bool {
        self.real(path).is_some_and(|real| real.is_dir())
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let real = self.real(path)?;
        Some(real.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    fn show(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kustomize::Tree as _;

    #[test]
    fn links_that_lead_out_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tree")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::fs::write(folder.path().join("tree/own"), "y").unwrap();
        std::os::unix::fs::symlink("../secret", folder.path().join("tree/out")).unwrap();
        std::os::unix::fs::symlink("own", folder.path().join("tree/in")).unwrap();
        let tree = Directory::new(&folder.path().join("tree")).unwrap();
        assert_eq!(tree.read("out"), Ok(None));
        assert_eq!(tree.read("../secret"), Ok(None));
        assert_eq!(tree.resolve("in").as_deref(), Some("own"));
        assert_eq!(tree.read("in").unwrap().unwrap().as_ref(), b"y");
    }
}
