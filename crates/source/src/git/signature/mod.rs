//! Signatures of commits and tags: who signed, checked with the keys that are trusted.

pub(crate) mod pgp;
mod ssh;

use super::commit::{Commit, Tag};

/// What must be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The commit.
    Head,
    /// The tag that leads to it.
    Tag,
    /// Both.
    TagAndHead,
}

/// The keys that are trusted, as a secret holds them.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Armored OpenPGP keyrings.
    pub keyrings: Vec<String>,
    /// SSH public keys in the format of `authorized_keys`.
    pub authorized_keys: Vec<String>,
}

impl Keys {
    /// The keys in a secret: `*.sshpub` are SSH keys, everything else (`*.asc`, but also other names) is OpenPGP.
    pub fn of<'a>(entries: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut keys = Keys::default();
        for (name, content) in entries {
            let content = String::from_utf8_lossy(content).into_owned();
            match name.ends_with(".sshpub") {
                true => keys.authorized_keys.push(content),
                false => keys.keyrings.push(content),
            }
        }
        keys
    }
}

/// Which objects were found signed, and by which keys: OpenPGP key ids, or SHA256 fingerprints of SSH keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The tag as it is shown, and its key.
    pub tag: Option<(String, String)>,
    /// The commit's id, and its key.
    pub commit: Option<(String, String)>,
}

impl Verified {
    /// What a status says about it.
    pub fn message(&self) -> String {
        let tag = self
            .tag
            .iter()
            .map(|(tag, key)| format!("\n\t- tag '{tag}' with key '{key}'"));
        let commit = self
            .commit
            .iter()
            .map(|(commit, key)| format!("\n\t- commit '{commit}' with key '{key}'"));
        tag.chain(commit)
            .fold("verified signature of".to_owned(), |text, line| text + &line)
    }
}

/// Why a commit or tag was not found signed as it must be.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A tag shall be signed, but no tag led to the commit: what is wanted must be changed.
    #[error("cannot verify tag object's signature if a tag reference is not specified")]
    NoTag,
    /// The tag has no signature.
    #[error(
        "cannot verify signature of tag '{0}' since it is not signed: sign it, or have only commits verified"
    )]
    TagNotSigned(String),
    /// The signature of the tag is not good.
    #[error("signature verification of tag '{tag}' failed")]
    Tag {
        /// The tag as it is shown.
        tag: String,
        /// What is wrong.
        #[source]
        source: Failure,
    },
    /// The signature of the commit is not good.
    #[error("signature verification of commit '{commit}' failed")]
    Commit {
        /// Its id.
        commit: String,
        /// What is wrong.
        #[source]
        source: Failure,
    },
}

/// What is wrong with a signature, or with the keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There is none, or one of a kind that is not known.
    #[error("unsupported signature type: {0}: sign it with a PGP or SSH key, or have nothing verified")]
    Unsupported(&'static str),
    /// There are no keys of the kind of the signature.
    #[error(
        "{kind} signature detected but no {kind} public keys found in secret (keys with {suffix} suffix)"
    )]
    NoKeys {
        /// The kind.
        kind: &'static str,
        /// What the names of such keys end with.
        suffix: &'static str,
    },
    /// None of the keys can be read.
    #[error("unable to read the public keys: {0}: check the entries of the Secret with the public keys")]
    Keys(String),
    /// The signature cannot be read.
    #[error("unable to read the signature: {0}")]
    Malformed(String),
    /// It was made by none of the keys, or over something else.
    #[error(
        "unable to verify payload with any of the given keys: {0}: if the signer is to be trusted, add the public key to the Secret"
    )]
    NoMatch(String),
}

/// Checks that what must be signed is signed by one of the keys, which must be good at `now` (seconds since 1970).
///
/// # Errors
/// Where it is not.
pub fn verify(
    commit: &Commit,
    tag: Option<&Tag>,
    mode: Mode,
    keys: &Keys,
    now: i64,
) -> Result<Verified, Error> {
    let mut verified = Verified::default();
    if matches!(mode, Mode::Tag | Mode::TagAndHead) {
        let tag = tag.ok_or(Error::NoTag)?;
        let Some(signature) = &tag.signature else {
            return Err(Error::TagNotSigned(tag.shown()));
        };
        let key = verify_object(signature, &tag.payload, keys, now).map_err(|source| Error::Tag {
            tag: tag.shown(),
            source,
        })?;
        verified.tag = Some((tag.shown(), key));
    }
    if matches!(mode, Mode::Head | Mode::TagAndHead) {
        let signature = commit.signature.as_deref().unwrap_or_default();
        let id = commit.id.to_string();
        let key = verify_object(signature, &commit.payload, keys, now).map_err(|source| Error::Commit {
            commit: id.clone(),
            source,
        })?;
        verified.commit = Some((id, key));
    }
    Ok(verified)
}

fn verify_object(signature: &str, payload: &[u8], keys: &Keys, now: i64) -> Result<String, Failure> {
    let signature = signature.trim();
    if signature.starts_with("-----BEGIN PGP SIGNATURE-----") {
        if keys.keyrings.is_empty() {
            return Err(Failure::NoKeys {
                kind: "PGP",
                suffix: ".asc",
            });
        }
        return pgp::verify(signature, payload, &keys.keyrings, now);
    }
    if signature.starts_with("-----BEGIN SSH SIGNATURE-----") {
        if keys.authorized_keys.is_empty() {
            return Err(Failure::NoKeys {
                kind: "SSH",
                suffix: ".sshpub",
            });
        }
        return ssh::verify(signature, payload, &keys.authorized_keys);
    }
    Err(Failure::Unsupported(match signature {
        "" => "empty",
        text if text.starts_with("-----BEGIN SIGNED MESSAGE-----") => "x509",
        _ => "unknown",
    }))
}
