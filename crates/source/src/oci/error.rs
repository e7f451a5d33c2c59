//! What can go wrong with a registry, by cause.

use std::io;

use super::Credential;
use crate::http;

/// Why something could not be had of a registry.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL names no repository, or more than one.
    #[error("'{url}' is no URL of a repository: {reason}")]
    Url {
        /// The URL as given.
        url: String,
        /// What is wrong with it, and how it must look.
        reason: String,
    },
    /// The tag cannot be one.
    #[error("'{0}' is no tag: it must have 1 to 128 letters, digits, '_', '-' or '.'")]
    Tag(String),
    /// The digest is none.
    #[error("'{text}' is no digest: write one like sha256:<64 hexadecimal digits>")]
    Digest {
        /// The digest as given.
        text: String,
        /// What is wrong.
        source: model::digest::Error,
    },
    /// Certificates or proxy cannot be used.
    #[error("no client for the registry can be made")]
    Client(#[source] http::Error),
    /// The file with credentials cannot be read.
    #[error("the docker config cannot be read: {0}")]
    DockerConfig(&'static str),
    /// The registry or its token server does not accept the credentials, or there are none.
    #[error("{registry} {}", refusal(.what, .message, *.is_anonymous))]
    Unauthorized {
        /// Whether nothing was shown that could be accepted.
        is_anonymous: bool,
        /// The registry.
        registry: String,
        /// What was asked for.
        what: String,
        /// What it said.
        message: String,
    },
    /// There is no such repository, tag, manifest or blob.
    #[error("{what} was not found: {message}: check that it exists")]
    NotFound {
        /// What was asked for.
        what: String,
        /// What the registry said.
        message: String,
    },
    /// The registry answers with an error.
    #[error("the registry answers {status} for {what}: {message}: if that comes again, look at its log")]
    Status {
        /// What was asked for.
        what: String,
        /// The status of the answer.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The registry cannot be reached, or the connection broke.
    #[error("{what} cannot be fetched or sent{}", http::remedy(.source))]
    Transport {
        /// What was asked for.
        what: String,
        /// What broke.
        #[source]
        source: reqwest::Error,
    },
    /// The proxy does not lead to the registry.
    #[error("{what} cannot be fetched or sent")]
    Proxy {
        /// What was asked for.
        what: String,
        /// What is wrong with the proxy.
        source: http::ProxyFailure,
    },
    /// The answer is not what the distribution protocol has.
    #[error(
        "the registry's answer for {what} cannot be understood: {reason}: check that the URL is that of a registry"
    )]
    Malformed {
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something is larger than is taken.
    #[error("{what} has more than {limit} bytes, which is the limit: push something smaller")]
    TooLarge {
        /// What was asked for.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// There are more tags or referrers than are read.
    #[error("{what} has more than {limit} entries, which is the limit: remove some")]
    TooMany {
        /// What was listed.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// What came has another digest than it was asked by.
    #[error("{what} is corrupt: its digest is {found} instead of {expected}: push it again")]
    Mismatch {
        /// What was asked for.
        what: String,
        /// The digest it should have.
        expected: String,
        /// The digest it has.
        found: String,
    },
    /// What came has another length than its descriptor says.
    #[error("{what} is corrupt: it has {found} bytes instead of {expected}: push it again")]
    Length {
        /// What was asked for.
        what: String,
        /// The bytes it should have.
        expected: u64,
        /// The bytes it has.
        found: u64,
    },
    /// The digest's algorithm is not used by registries.
    #[error(
        "{what} cannot be checked: only sha256, sha384 and sha512 digests are known: push it again with one of these"
    )]
    Algorithm {
        /// What was asked for.
        what: String,
    },
    /// An index has no entry for the platform.
    #[error("no child with platform linux/amd64 in index {0}: push one, or name the digest of a manifest")]
    NoPlatform(String),
    /// The layer that the manifest names cannot be had, or is not what the manifest says.
    #[error(transparent)]
    Layer(Box<Error>),
    /// The artifact has no layers.
    #[error("no layers found in artifact: push it with content")]
    NoLayers,
    /// No layer has the wanted media type.
    #[error(
        "failed to find layer with media type '{0}' in artifact: check the media type and the layers that there are"
    )]
    NoLayerOfType(String),
    /// The semver range cannot be read.
    #[error("semver '{range}' parse error; write a range like '1.x' or '>=1.2.0 <2.0.0'")]
    Range {
        /// The range.
        range: String,
        /// What is wrong.
        source: model::semver::ConstraintError,
    },
    /// The regular expression for tags cannot be read.
    #[error("the filter '{filter}' of tags is no regular expression: correct it")]
    Filter {
        /// The expression.
        filter: String,
        /// What is wrong.
        source: model::regexp::Error,
    },
    /// No tag is in the range.
    #[error("no match found for semver: {0}: check the range and the tags that there are")]
    NoVersion(String),
    /// A local file cannot be written or read.
    #[error("failed to {what}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What failed.
        source: io::Error,
    },
}

fn refusal(what: &str, message: &str, is_anonymous: bool) -> String {
    match is_anonymous {
        true => format!("wants credentials for {what}: {message}: give some that may do this"),
        false => {
            format!("refuses the credentials for {what}: {message}: check them and that they may do this")
        }
    }
}

impl Error {
    pub(super) fn unauthorized(registry: &str, what: &str, message: String, shown: &Credential) -> Self {
        Error::Unauthorized {
            is_anonymous: matches!(shown, Credential::Anonymous),
            registry: registry.to_owned(),
            what: what.to_owned(),
            message,
        }
    }

    pub(super) fn transport(what: &str, source: reqwest::Error) -> Self {
        Error::Transport {
            what: what.to_owned(),
            // The URL may hold a signature of the storage behind the registry.
            source: source.without_url(),
        }
    }

    pub(super) fn malformed(what: &str, reason: impl ToString) -> Self {
        Error::Malformed {
            what: what.to_owned(),
            reason: reason.to_string(),
        }
    }
}
