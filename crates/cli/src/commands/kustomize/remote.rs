//! Remote bases by the `git` program and remote files over HTTP, as kustomize gets them.

use std::process::Command;

use builder::Directory;
use kustomize::Tree;
use kustomize::remote::{Fetcher, RepoSpec};

/// Gets remote bases and files.
pub(in crate::commands) struct Programs {
    runtime: tokio::runtime::Handle,
}

impl Programs {
    pub(in crate::commands) fn new(runtime: tokio::runtime::Handle) -> Self {
        Programs { runtime }
    }
}

impl Fetcher for Programs {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        let client = source::http::Options::default()
            .client()
            .map_err(|error| error.to_string())?;
        self.runtime.block_on(async {
            let answer = client.get(url).send().await.map_err(|error| error.to_string())?;
            let status = answer.status();
            if !status.is_success() {
                return Err(format!("HTTP Error: status code {status}"));
            }
            let content = answer.bytes().await.map_err(|error| error.to_string())?;
            Ok(content.to_vec())
        })
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
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
            let problem = String::from_utf8_lossy(&output.stderr);
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
        Ok(Box::new(tree))
    }
}
