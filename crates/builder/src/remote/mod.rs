//! Bases in Git repositories and files at URLs, got in this process.

mod checkout;

use kustomize::Tree;
use kustomize::remote::{Fetcher, RepoSpec};
use source::git::{self, Cause, Outcome, Reference, Settings};
use source::http;

use checkout::Checkout;

/// No manifest is larger.
const LARGEST_FILE: usize = 64 << 20;

/// Gets what a kustomization has elsewhere. It waits for answers, and so must be used where waiting is allowed: not on a
/// thread of the runtime itself.
pub struct Remote {
    runtime: tokio::runtime::Handle,
    http: http::Options,
    cache: git::Cache,
}

impl Remote {
    /// With a cache for what was fetched from Git.
    pub fn new(runtime: tokio::runtime::Handle, http: http::Options, cache: git::Cache) -> Self {
        Remote { runtime, http, cache }
    }

    async fn download(&self, url: &str) -> Result<Vec<u8>, String> {
        let client = self.http.client().map_err(|error| chain(&error))?;
        let mut answer = client.get(url).send().await.map_err(|error| chain(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(format!("HTTP Error: status code {status}: check the URL {url}"));
        }
        let mut content = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| chain(&error))? {
            if content.len() + piece.len() > LARGEST_FILE {
                return Err(format!("{url} is larger than {LARGEST_FILE} bytes"));
            }
            content.extend_from_slice(&piece);
        }
        Ok(content)
    }

    async fn fetch(&self, spec: &RepoSpec) -> Result<git::Checkout, String> {
        let url = spec.clone_url();
        let url = url
            .parse()
            .map_err(|error: git::UrlError| format!("{url}: {error}"))?;
        let settings = Settings {
            http: self.http.clone(),
            ..Settings::new(url)
        };
        let remote = git::Remote::new(settings, self.cache.clone());
        let mut missing = String::new();
        for reference in references(spec.reference.as_deref()) {
            let request = git::Request {
                reference,
                submodules: spec.submodules,
                ..git::Request::default()
            };
            match remote.fetch(&request).await {
                Ok(Outcome::Fetched(checkout)) => return Ok(*checkout),
                // Nothing previous was named, and so nothing can be unchanged.
                Ok(Outcome::Unchanged(revision)) => return Err(format!("{revision} was not fetched")),
                Err(error) if matches!(error.cause(), Cause::ReferenceMissing(_)) => missing = chain(&error),
                Err(error) => return Err(chain(&error)),
            }
        }
        Err(missing)
    }
}

impl Fetcher for Remote {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        self.runtime.block_on(self.download(url))
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        let checkout = self.runtime.block_on(self.fetch(spec))?;
        Ok(Box::new(Checkout::new(checkout)?))
    }
}

/// What a revision may be, in the order in which Git tries it.
fn references(revision: Option<&str>) -> Vec<Reference> {
    match revision {
        None => vec![Reference::name("HEAD")],
        Some(name) if name == "HEAD" || name.starts_with("refs/") => vec![Reference::name(name)],
        Some(id) if id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            vec![Reference::commit(id)]
        }
        Some(name) => vec![Reference::tag(name), Reference::branch(name)],
    }
}

/// An error and what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_a_commit_a_tag_or_a_branch() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(references(Some(commit)), [Reference::commit(commit)]);
        assert_eq!(
            references(Some("v1")),
            [Reference::tag("v1"), Reference::branch("v1")]
        );
        assert_eq!(
            references(Some("refs/pull/1/head")),
            [Reference::name("refs/pull/1/head")]
        );
        assert_eq!(references(None), [Reference::name("HEAD")]);
    }
}
