//! Why a repository could not be fetched.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::url::Url;
use crate::http::{Lost, ProxyFailure, remedy, repeated};

/// A failure with the repository it happened to. What to do about it follows from [`Error::cause`].
#[derive(Debug)]
pub struct Error {
    remote: String,
    cause: Cause,
}

/// A boxed error of a library.
pub(super) type Source = Box<dyn StdError + Send + Sync>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// What was given to log in with cannot be used. Nothing was sent.
    #[error("the credentials cannot be used: {0}")]
    Credentials(String),
    /// The private key of SSH cannot be read, or not with the passphrase that was given. Nothing was sent.
    #[error("the private key ('identity') cannot be read: {0}")]
    PrivateKey(&'static str),
    /// `known_hosts` cannot be read. Nothing was sent.
    #[error("line {0} of 'known_hosts' cannot be read: correct or remove it")]
    KnownHosts(usize),
    /// The server did not let us in.
    #[error("authentication failed ({0}): check the credentials and that they may read the repository")]
    Authentication(String),
    /// The server did not let us in, and nothing was given to log in with.
    #[error(
        "authentication failed ({0}): give credentials that may read the repository, in the Secret that 'secretRef' names"
    )]
    Anonymous(String),
    /// The server's SSH key is in no line of `known_hosts` for this host.
    #[error("the SSH host key of {host} is not known ({key}): add it to known_hosts")]
    HostKeyUnknown {
        /// Host and port.
        host: String,
        /// Kind and fingerprint of the key that the server has shown.
        key: String,
    },
    /// `known_hosts` says another key for this host, or revokes this one.
    #[error(
        "the SSH host key of {host} does not match known_hosts (the server shows {key}): \
         if its key was changed on purpose, correct known_hosts"
    )]
    HostKeyMismatch {
        /// Host and port.
        host: String,
        /// Kind and fingerprint of the key that the server has shown.
        key: String,
    },
    /// No secure connection could be made.
    #[error("the TLS connection failed{}", tls_remedy(.0.as_ref()))]
    Tls(#[source] Source),
    /// The server cannot be reached.
    #[error("the server cannot be reached{}", remedy(.0.as_ref()))]
    Connect(#[source] Source),
    /// The proxy does not lead to the server.
    #[error("the server cannot be reached")]
    Proxy(#[source] ProxyFailure),
    /// The server leads nowhere.
    #[error("{0}")]
    Redirect(Lost),
    /// There is no such repository, or not for us.
    #[error("repository not found: check the URL and that the credentials may read it")]
    NotFound,
    /// The reference is not there.
    #[error("couldn't find remote ref '{0}': check that it exists")]
    ReferenceMissing(String),
    /// The reference is malformed.
    #[error("{0}")]
    ReferenceInvalid(String),
    /// The commit is not there.
    #[error(
        "unable to resolve commit '{0}': check that it exists in the repository and is not an abbreviation"
    )]
    CommitMissing(String),
    /// No tag is a version in the range.
    #[error("no match found for semver: {0}: check the range and the tags that there are")]
    NoVersion(String),
    /// The reference leads to something that is no commit.
    #[error("'{name}' does not lead to a commit but to a {kind}: name a branch, a tag or a commit")]
    NotACommit {
        /// The reference.
        name: String,
        /// What it leads to.
        kind: String,
    },
    /// The repository has no commits.
    #[error("the repository is empty: push a commit")]
    Empty,
    /// A directory that alone was wanted is not there.
    #[error(
        "sparse checkout dir '{0}' does not exist in repository: correct its name, or add it to the repository"
    )]
    SparsePath(String),
    /// A submodule could not be fetched.
    #[error("submodule '{path}' cannot be fetched")]
    Submodule {
        /// Where it is.
        path: String,
        /// What went wrong there.
        #[source]
        source: Box<Error>,
    },
    /// `.gitmodules` cannot be used.
    #[error("the submodules cannot be read: {0}: correct .gitmodules")]
    Submodules(String),
    /// It took too long.
    #[error(
        "timed out after {}: check that the server can be reached from here, or raise the timeout",
        display_duration(.0)
    )]
    Timeout(Duration),
    /// The server closed the connection too early.
    #[error("the server closed the connection before it had answered: if that comes again, look at its log")]
    Disconnected(#[source] Option<Source>),
    /// The server answered with an HTTP status that says no.
    #[error("the server answered with HTTP status {0}: check the URL, or look at the log of the server")]
    Status(u16),
    /// The server said what is wrong.
    #[error("the server refused: {0}: check the URL and that the credentials may read the repository")]
    Refused(String),
    /// The server does not speak Git as we do.
    #[error("the server does not answer as a Git server does: {0}: check the URL")]
    Protocol(String),
    /// What the server sent is broken.
    #[error(
        "the pack that the server sent is broken: if that comes again, check the repository with 'git fsck'"
    )]
    Pack(#[source] Source),
    /// Objects are missing or broken, though the pack was in order.
    #[error("object {id} is {state}: check the repository with 'git fsck'")]
    Object {
        /// Its id.
        id: String,
        /// Missing, or how it is broken.
        state: &'static str,
    },
    /// A tree has entries that cannot be files.
    #[error("the path {path:?} in the repository cannot be used: {reason}: rename it")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The repository is larger than is allowed.
    #[error("the repository has more than {limit} {what}: raise the limit if this is meant to be")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Something in the repository is larger than may be held in memory.
    #[error(
        "a {what} of the repository has {bytes} bytes, more than {limit}: \
         find large files with 'git ls-tree -r -l HEAD' and keep them elsewhere"
    )]
    TooLarge {
        /// What it is, with its id where that is known.
        what: String,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The repositories of an owner have more bytes on disk than their share.
    #[error(
        "the Git repositories of '{owner}' have more than {limit} bytes: remove some, or fetch smaller ones"
    )]
    Share {
        /// Who owns them.
        owner: String,
        /// How many they may have.
        limit: u64,
    },
    /// All repositories together have more bytes on disk than they may.
    #[error(
        "all Git repositories together have more than {0} bytes: it is tried again when others were removed"
    )]
    Full(u64),
    /// Others hold all the memory there is for objects.
    #[error(
        "the memory for objects of Git repositories was in use for {}: try again later, or keep large files elsewhere",
        display_duration(.0)
    )]
    Busy(Duration),
    /// The objects are named by another hash than SHA-1.
    #[error("repositories with object format '{0}' are not supported: use one with sha1")]
    ObjectFormat(String),
    /// An HTTP client cannot be made of certificates and proxy.
    #[error("the HTTP client cannot be made")]
    Client(#[source] crate::http::Error),
    /// The directory where repositories are kept cannot be used.
    #[error("the cache of Git repositories cannot be used: {what}: check its disk")]
    Cache {
        /// What was being done.
        what: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl Error {
    pub(super) fn new(url: &Url, cause: Cause) -> Self {
        let remote = url.to_string();
        Error { remote, cause }
    }

    /// What went wrong.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The repository, without credentials.
    pub fn remote(&self) -> &str {
        &self.remote
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "git repository '{}': {}", self.remote, self.cause)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

impl Cause {
    pub(super) fn protocol(text: impl Into<String>) -> Self {
        Cause::Protocol(text.into())
    }

    /// The same, without secrets that the server has repeated.
    pub(super) fn without(mut self, secrets: &[SecretString]) -> Self {
        if let Cause::Authentication(text)
        | Cause::Anonymous(text)
        | Cause::Refused(text)
        | Cause::Protocol(text) = &mut self
        {
            *text = repeated::without(text, secrets.iter().map(ExposeSecret::expose_secret));
        }
        self
    }

    /// Whether what we keep of the repository may be to blame, so that fetching it anew can help.
    pub(super) fn may_be_stale_cache(&self) -> bool {
        match self {
            Cause::Object { .. } | Cause::Pack(_) => true,
            // A clone needs more room than the fetch that found none.
            Cause::Cache { source, .. } => source.kind() != io::ErrorKind::StorageFull,
            _ => false,
        }
    }
}

fn display_duration(duration: &Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{}s", duration.as_secs()),
        _ => format!("{}ms", duration.as_millis()),
    }
}

/// What to do about a connection that is not secure, even where it is not known what is wrong with it.
fn tls_remedy(error: &(dyn StdError + 'static)) -> &'static str {
    match remedy(error) {
        "" => ": check the certificate of the server, the CA and the client certificate",
        known => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_a_server_repeats_are_not_told() {
        let url: Url = "https://git.example/app".parse().unwrap();
        let auth = crate::git::Auth::Basic {
            user: "bob".into(),
            password: "geheim".into(),
        };
        let said = format!(
            "wrong login bob:geheim, Basic {}",
            repeated::basic("bob", "geheim")
        );
        let told = Cause::Refused(said).without(&auth.secrets(&url)).to_string();
        assert!(told.contains("wrong login bob:***, Basic ***"), "{told}");
    }

    #[test]
    fn a_full_disk_is_no_reason_to_clone_anew() {
        let cause = |kind: io::ErrorKind| Cause::Cache {
            what: "writing".to_owned(),
            source: kind.into(),
        };
        assert!(!cause(io::ErrorKind::StorageFull).may_be_stale_cache());
        assert!(cause(io::ErrorKind::NotFound).may_be_stale_cache());
    }
}
