//! Remote bases and files.
//!
//! They are got in this process. What it cannot get, such as a repository that needs a login, the `git` program is asked
//! for: it knows the keys and credentials of its user.

use std::process::Command;

use builder::{Directory, Remote};
use kustomize::Tree;
use kustomize::remote::{Fetcher, RepoSpec};

/// Gets remote bases and files.
pub(in crate::commands) struct Elsewhere {
    remote: Remote,
    /// What was fetched, for as long as the build takes.
    _cache: tempfile::TempDir,
}

impl Elsewhere {
    pub(in crate::commands) fn new(runtime: tokio::runtime::Handle) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let cache = source::git::Cache::open(folder.path())?;
        Ok(Elsewhere {
            remote: Remote::new(runtime, source::http::Options::default(), cache),
            _cache: folder,
        })
    }
}

impl Fetcher for Elsewhere {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        self.remote.file(url)
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        if !spec.host.starts_with("http") {
            return by_program(spec);
        }
        self.remote
            .repository(spec)
            .or_else(|own| by_program(spec).map_err(|other| format!("{own}; {other}")))
    }
}

fn by_program(spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(folder.path())
            .env("GIT_TERMINAL_PROMPT", "0")
            .output()
            .map_err(|error| format!("failed to run git: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        // Where the folder is, and that it is gone, helps nobody.
        let problem = String::from_utf8_lossy(&output.stderr);
        let problem = problem.replace(&*folder.path().to_string_lossy(), "the checkout");
        Err(format!("failed to run git {}: {}", arguments[0], problem.trim()))
    };
    let (url, reference) = (spec.clone_url(), spec.reference.as_deref().unwrap_or("HEAD"));
    git(&["init", "--quiet"])?;
    git(&["fetch", "--quiet", "--depth=1", "--", &url, reference])?;
    git(&["checkout", "--quiet", "FETCH_HEAD"])?;
    if spec.submodules {
        git(&["submodule", "--quiet", "update", "--init", "--recursive"])?;
    }
    let tree = Directory::temporary(folder).map_err(|error| error.to_string())?;
    Ok(Box::new(tree.shown_relative()))
}
