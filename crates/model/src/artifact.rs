//! What a source hands to a builder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, Revision, Time};

/// What a source produced, as it stands in `status.artifact`: a file to be fetched, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The place in the artifact store: `<lower-case kind>/<namespace>/<name>/<file>`.
    pub path: String,
    /// Where the file is served.
    pub url: String,
    /// The state of the source that it holds.
    pub revision: Revision,
    /// The digest of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// When it was last produced.
    pub last_update_time: Time,
    /// The number of bytes of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// What the source says about it: the annotations of an OCI manifest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Artifact {
    /// Whether both hold the same: revision and digest. Time and place may differ.
    pub fn has_content_of(&self, other: &Artifact) -> bool {
        self.revision == other.revision && self.digest == other.digest
    }
}
