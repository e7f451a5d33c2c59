//! How a repository is reached, and how large it may be.

use std::time::Duration;

use super::auth::Auth;
use super::error::{Cause, Error};
use super::transport::SshAlgorithms;
use super::url::Url;
use crate::http;
use crate::trust::{Fingerprint, TrustScope};

/// How a repository is reached.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it is.
    pub url: Url,
    /// Who we are.
    pub auth: Auth,
    /// Whom the credentials were issued to, where they are renewed often and the identity behind them stays: an app, or an
    /// identity at a cloud. What was fetched with one of them is used with the next one then. It must include a secret that
    /// only this identity has, or be vouched for by the cluster.
    pub identity: Option<Fingerprint>,
    /// Authorities, client certificate and proxy for HTTP.
    pub http: http::Options,
    /// How long a listing or a fetch may take, from the first connection to the last file.
    pub timeout: Duration,
    /// How large it may be.
    pub limits: Limits,
    /// What may be used over SSH.
    pub ssh: SshAlgorithms,
    /// The namespace whose share of the disk it counts for. Owners share nothing that was fetched.
    pub owner: String,
}

/// How large a repository may be.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The objects in one pack.
    pub objects: u64,
    /// The bytes of one pack.
    pub pack_bytes: u64,
    /// The bytes of one file.
    pub object_bytes: u64,
    /// The bytes of one commit, tag or tree.
    pub meta_bytes: u64,
    /// The bytes that it takes to make one object of the deltas that lead to it.
    pub delta_bytes: u64,
    /// The files and directories of a commit, with its submodules counted each.
    pub files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            objects: 1_000_000,
            pack_bytes: 4 << 30,
            object_bytes: 100 << 20,
            meta_bytes: 16 << 20,
            delta_bytes: 128 << 20,
            files: 2_000_000,
        }
    }
}

impl Settings {
    /// What happened to this repository. What the server has repeated of the credentials is not in it.
    pub(super) fn told(&self, cause: Cause) -> Error {
        Error::new(&self.url, cause.without(&self.auth.secrets(&self.url)))
    }

    /// Who reads, and whom they trust to be the server. Only readers of one scope share what was fetched.
    pub(super) fn scope(&self) -> TrustScope {
        let identity = self.identity.unwrap_or_else(|| self.auth.fingerprint(&self.url));
        let trust = Fingerprint::builder("git trust")
            .fingerprint(&self.http.trust())
            .optional(self.auth.known_hosts().map(str::as_bytes))
            .build();
        TrustScope::new(&identity, &trust)
    }

    /// Settings for an address: no credentials, a minute.
    pub fn new(url: Url) -> Self {
        Settings {
            url,
            auth: Auth::None,
            identity: None,
            http: http::Options::default(),
            timeout: Duration::from_secs(60),
            limits: Limits::default(),
            ssh: SshAlgorithms::default(),
            owner: String::new(),
        }
    }
}
