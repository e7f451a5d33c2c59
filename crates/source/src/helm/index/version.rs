//! One version of a chart, as an index has it.

use jiff::Timestamp;
use model::Value;
use serde::{Deserialize, Serialize};

use crate::helm::chart::metadata::{Metadata, Text};

/// An entry of an index: a chart in one version, and where to get it.
///
/// The fields that Helm has given up (`checksum`, `engine`, `tillerVersion`, `url`) are not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartVersion {
    /// What `Chart.yaml` says.
    pub metadata: Metadata,
    /// Where the archive is, from the repository's address on. The first one is used.
    pub urls: Vec<String>,
    /// When it was made, as written.
    pub created: String,
    /// The SHA-256 digest of the archive in hexadecimal digits, where given.
    pub digest: String,
    /// Whether it was taken back.
    pub removed: bool,
}

/// The time of entries without one, as Go writes it.
pub(super) const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// The fields beside the metadata.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Place {
    urls: Option<Vec<Text>>,
    created: Option<Text>,
    digest: Option<Text>,
    removed: Option<bool>,
}

/// An entry as it is written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    #[serde(flatten)]
    metadata: &'a Metadata,
    urls: Option<&'a [String]>,
    created: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    removed: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    digest: &'a str,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl ChartVersion {
    /// Reads an entry; nothing if it is broken.
    pub(super) fn read(value: &Value) -> Option<Self> {
        value.as_object()?;
        let mut metadata = Metadata::read(value).ok()?;
        metadata.validate_entry().ok()?;
        let place: Place = model::convert::to_serde(value).ok()?;
        let urls = place.urls.unwrap_or_default();
        Some(ChartVersion {
            metadata,
            urls: urls.into_iter().map(|url| url.0).collect(),
            created: place.created.unwrap_or_default().0,
            digest: place.digest.unwrap_or_default().0,
            removed: place.removed.unwrap_or_default(),
        })
    }

    /// When it was made; nothing if that is not said or no time.
    pub fn created_at(&self) -> Option<Timestamp> {
        self.created.parse().ok()
    }

    pub(super) fn written(&self) -> Written<'_> {
        Written {
            metadata: &self.metadata,
            urls: Some(self.urls.as_slice()).filter(|urls| !urls.is_empty()),
            created: if self.created.is_empty() {
                NO_TIME
            } else {
                &self.created
            },
            removed: self.removed,
            digest: &self.digest,
        }
    }
}
