//! Repositories by name, served over smart HTTP.

use gitserver::{Access, Repositories, Repository};

use super::ssh::SshBuilder;
use crate::http::{Builder, Content, Reply, Request, Service};

/// Repositories by name. Clones hold the same ones.
#[derive(Clone, Debug, Default)]
pub struct Git {
    repositories: Repositories,
}

/// A Git server over HTTP.
pub type Server = crate::http::Server<Git>;

impl Git {
    /// No repositories yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The repository of that name, such as `team/app`. It is made when it is asked for first.
    pub fn repository(&self, name: &str) -> Repository {
        self.repositories.repository(name)
    }

    /// The repository of that name, if there is one. A client may add `.git`.
    pub(crate) fn find(&self, name: &str) -> Option<Repository> {
        self.repositories.find(name)
    }

    /// Removes a repository.
    pub fn remove(&self, name: &str) {
        self.repositories.remove(name);
    }

    /// Begins an SSH server for the same repositories.
    pub fn over_ssh(&self) -> SshBuilder {
        SshBuilder::new(self.clone())
    }
}

impl Server {
    /// Starts a server that anyone may read from and push to.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A server with credentials or TLS.
    pub fn builder() -> Builder<Git> {
        Builder::new(Git::new())
    }

    /// The address of a repository.
    pub fn clone_url(&self, name: &str) -> String {
        let name = name.trim_matches('/');
        format!("{}/{}.git", self.url(), name.strip_suffix(".git").unwrap_or(name))
    }
}

impl Service for Git {
    fn reply(&self, request: &Request) -> Reply {
        let mut asked = http::Request::new(request.body.clone());
        *asked.method_mut() = request.method.clone();
        *asked.uri_mut() = request.uri.clone();
        *asked.headers_mut() = request.headers.clone();
        let (head, body) = self.repositories.answer(Access::ReadAndPush, &asked).into_parts();
        Reply {
            status: head.status,
            headers: head.headers,
            content: Content::Whole(body),
        }
    }
}
