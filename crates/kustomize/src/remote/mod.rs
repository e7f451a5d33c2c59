//! Bases and files that are somewhere else. Getting them is the business of whoever builds: see [`Fetcher`].

mod credentials;
mod repo_spec;

pub(crate) use credentials::without_credentials;
pub use repo_spec::RepoSpec;

use crate::tree::Tree;

/// Gets what is not in the tree.
pub trait Fetcher {
    /// The content of a file at an `http` or `https` URL.
    fn file(&self, url: &str) -> Result<Vec<u8>, String>;

    /// The files of a Git repository at the revision that the specification names.
    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String>;
}

/// Whether a path is the URL of a file.
pub(crate) fn is_remote_file(path: &str) -> bool {
    let scheme = path
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}
