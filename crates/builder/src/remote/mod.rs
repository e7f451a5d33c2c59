//! Bases in Git repositories and files at URLs, got in this process.

mod allowance;
mod checkout;

use std::sync::Arc;
use std::time::Duration;

use kustomize::Tree;
use kustomize::remote::{Fetcher, RepoSpec};
use source::git::{self, Cause, Outcome, Reference, Settings};
use source::http;

use crate::waiting::{Interrupted, LIMIT, WaitBudget};
use allowance::{Allowance, LARGEST_FILE};
use checkout::Checkout;

/// How long a file may take, where nothing else is said. Git has a limit of its own.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How large a repository with a base may be. It holds manifests, and is fetched without its history.
const LIMITS: git::Limits = git::Limits {
    objects: 1_000_000,
    pack_bytes: 1 << 30,
    object_bytes: 100 << 20,
    meta_bytes: 16 << 20,
    delta_bytes: 128 << 20,
    files: 500_000,
};

/// Gets what a kustomization has elsewhere. It waits for answers, and so must be used where waiting is allowed: not on a
/// thread of the runtime itself.
pub struct Remote {
    runtime: tokio::runtime::Handle,
    http: http::Options,
    cache: git::Cache,
    /// The namespace whose share of the cache the repositories count for.
    owner: String,
    /// The time that all fetches of the build together may take.
    budget: WaitBudget,
    allowance: Arc<Allowance>,
}

impl Remote {
    /// With a cache for what was fetched from Git.
    pub fn new(runtime: tokio::runtime::Handle, mut http: http::Options, cache: git::Cache) -> Self {
        http.timeout.get_or_insert(TIMEOUT);
        Remote {
            runtime,
            http,
            cache,
            owner: String::new(),
            budget: WaitBudget::default(),
            allowance: Arc::default(),
        }
    }

    /// Counts the repositories for the share that a namespace has of the cache.
    #[must_use]
    pub fn owned_by(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.owner);
        self
    }

    /// Limits the time of all fetches by this budget.
    #[must_use]
    pub fn within(mut self, budget: WaitBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Waits for servers, which the owner of the files has chosen, no longer than they may take all together.
    fn wait<T>(&self, what: &str, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let result = self.budget.wait(&self.runtime, work);
        result.unwrap_or_else(|interrupted| {
            Err(match interrupted {
                Interrupted::Spent => format!(
                    "{what} was not fetched: all remote files of a build together may take {LIMIT:?}: check the servers, or \
                     commit the files"
                ),
                Interrupted::Cancelled => format!("{what} was not fetched: the build was cancelled"),
            })
        })
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
            self.allowance.count(url, piece.len())?;
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
            limits: LIMITS,
            owner: self.owner.clone(),
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
        self.wait(url, self.download(url))
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        let checkout = self.wait(&spec.clone_url(), self.fetch(spec))?;
        let allowance = Arc::clone(&self.allowance);
        Ok(Box::new(Checkout::new(checkout, spec.clone_url(), allowance)?))
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
    fn all_files_of_a_build_together_have_a_deadline() {
        // Connections are made, and nobody answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a.yaml", silent.local_addr().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let cache = git::Cache::temporary(folder.path()).unwrap();
        let remote = Remote::new(runtime.handle().clone(), http::Options::default(), cache);
        remote.budget.set_left(Duration::from_millis(300));
        for _ in 0..100 {
            let error = remote.file(&url).unwrap_err();
            assert!(error.contains("all remote files of a build together"), "{error}");
        }
    }

    #[test]
    fn all_files_of_a_build_together_have_a_size() {
        let server = testkit::http::Server::serve(|_: &testkit::http::Request| {
            testkit::http::Reply::text("x".repeat(600))
        });
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let cache = git::Cache::temporary(folder.path()).unwrap();
        let remote = Remote::new(runtime.handle().clone(), http::Options::default(), cache);
        remote.allowance.set_left(1000);
        let url = format!("{}/a.yaml", server.url());
        assert_eq!(remote.file(&url).unwrap().len(), 600);
        let error = remote.file(&url).unwrap_err();
        assert!(error.contains("all remote files of a build together"), "{error}");
    }

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
