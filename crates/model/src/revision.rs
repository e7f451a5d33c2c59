//! Which state of a source something was made from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::{self, Algorithm, Digest};

/// Which state of a source an artifact holds.
///
/// | text | where from |
/// |---|---|
/// | `main@sha1:<hex>`, `feature/x@sha1:<hex>`, `v1.2.3@sha1:<hex>` | Git branch or tag |
/// | `refs/heads/main@sha1:<hex>` | Git reference by its full name |
/// | `sha1:<hex>` | Git commit |
/// | `latest@sha256:<hex>`, `6.1.0@sha256:<hex>` | OCI tag |
/// | `sha256:<hex>` | OCI digest, Helm repository index, bucket |
/// | `6.1.0`, `6.1.0+1` | Helm chart version |
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    name: Option<String>,
    digest: Option<Digest>,
}

/// Why a text is no revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no text.
    #[error("revision is empty")]
    Empty,
    /// There is nothing before the `@`.
    #[error("revision {0:?} has no name before the '@'")]
    NoName(String),
    /// What should be a digest is none.
    #[error("revision {text:?} has a malformed digest")]
    Digest {
        /// The revision.
        text: String,
        /// What is wrong.
        source: digest::Error,
    },
}

impl Revision {
    /// A branch, tag or reference and what it points to.
    pub fn named(name: impl Into<String>, digest: Digest) -> Self {
        Revision {
            name: Some(name.into()),
            digest: Some(digest),
        }
    }

    /// Content that no name leads to.
    pub fn unnamed(digest: Digest) -> Self {
        Revision {
            name: None,
            digest: Some(digest),
        }
    }

    /// A version by itself.
    pub fn version(version: impl Into<String>) -> Self {
        Revision {
            name: Some(version.into()),
            digest: None,
        }
    }

    /// The branch, tag, reference or version.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The digest of the content: a commit, a manifest, an index.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

impl FromStr for Revision {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::Empty);
        }
        // Names may hold an `@` themselves: the digest stands after the last one.
        let (name, last) = match text.rsplit_once('@') {
            Some((name, last)) => (Some(name), last),
            None => (None, text),
        };
        // Only what names a known algorithm is meant as a digest: `v1:2` may be a version.
        let is_digest = last
            .split_once(':')
            .is_some_and(|(algorithm, _)| algorithm.parse::<Algorithm>().is_ok());
        if !is_digest {
            return Ok(Revision::version(text));
        }
        let digest = last.parse().map_err(|source| Error::Digest {
            text: text.to_owned(),
            source,
        })?;
        match name {
            Some("") => Err(Error::NoName(text.to_owned())),
            Some(name) => Ok(Revision::named(name, digest)),
            None => Ok(Revision::unnamed(digest)),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.digest) {
            (Some(name), Some(digest)) => write!(f, "{name}@{digest}"),
            (Some(name), None) => f.write_str(name),
            (None, Some(digest)) => write!(f, "{digest}"),
            (None, None) => Ok(()),
        }
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
