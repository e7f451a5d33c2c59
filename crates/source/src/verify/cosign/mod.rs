//! Signatures of cosign.
//!
//! Version 3 stores bundles as referrers of the artifact, version 2 signatures under the tag `sha256-<hex>.sig`. Bundles are
//! looked for first; where there are none, signatures count. All of them are fetched once and tried with each key.

mod bundle;
mod find;
mod keyless;
mod legacy;
mod refresh;

pub use keyless::{Identity, Keyless};
pub use refresh::{PUBLIC_REPOSITORY, Repository as RootRepository, Root};

use model::Digest;

use super::{PublicKey, key};
use crate::oci::{self, Client, Repository};
use find::{Found, find};

/// Why an artifact is not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that should be a public key is none.
    #[error("'{name}' is no public key")]
    Key {
        /// The name of the file.
        name: String,
        /// What is wrong.
        source: key::Error,
    },
    /// The registry does not hand out the signatures.
    #[error("the signatures of '{reference}' cannot be fetched")]
    Registry {
        /// The artifact.
        reference: String,
        /// What is wrong.
        source: Box<oci::Error>,
    },
    /// There is no signature at all, or no good one.
    #[error(
        "no matching signatures were found for '{reference}'{detail}: have it signed with cosign by a key or an identity that is \
         trusted, or trust the one that signed it"
    )]
    NoMatch {
        /// The artifact.
        reference: String,
        /// How many signatures there were, and what the last was refused for.
        detail: String,
    },
    /// The trusted root cannot be read.
    #[error("the trusted root cannot be used: {0}")]
    TrustedRoot(String),
    /// An identity is no regular expression.
    #[error("the identity '{pattern}' is no regular expression")]
    Identity {
        /// The expression.
        pattern: String,
        /// What is wrong.
        source: model::regexp::Error,
    },
}

/// The public keys of a secret: each entry whose name ends in `.pub`.
///
/// # Errors
/// Where one of them is none.
pub fn keys<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Vec<PublicKey>, Error> {
    files
        .into_iter()
        .filter(|(name, _)| name.ends_with(".pub"))
        .map(|(name, pem)| {
            PublicKey::from_pem(pem).map_err(|source| Error::Key {
                name: name.to_owned(),
                source,
            })
        })
        .collect()
}

/// Whether one of the keys signed an artifact. The transparency log is not looked at.
///
/// # Errors
/// Where none of them did, or the signatures cannot be fetched.
pub async fn verify_with_keys(
    client: &Client,
    repository: &Repository,
    digest: Digest,
    keys: &[PublicKey],
) -> Result<(), Error> {
    let found = find(client, repository, digest).await?;
    let signed = |key: &PublicKey| match &found {
        Found::Bundles { bundles, manifest } => bundles
            .iter()
            .any(|bundle| bundle::is_signed(bundle, digest, manifest, key)),
        Found::Signatures(signatures) => signatures.iter().any(|one| one.is_signed(digest, key)),
    };
    if keys.iter().any(signed) {
        return Ok(());
    }
    Err(no_match(repository, digest, &found, None))
}

fn no_match(repository: &Repository, digest: Digest, found: &Found, last: Option<String>) -> Error {
    let (count, kind) = match found {
        Found::Bundles { bundles, .. } => (bundles.len(), "bundles"),
        Found::Signatures(signatures) => (signatures.len(), "signatures"),
    };
    let detail = match last {
        Some(last) => format!(" ({count} {kind} were refused, the last because: {last})"),
        None => format!(" ({count} {kind} were tried)"),
    };
    Error::NoMatch {
        reference: repository.digest(digest).to_string(),
        detail: if count == 0 { String::new() } else { detail },
    }
}
