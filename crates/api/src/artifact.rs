//! Artifacts in a status: their schema, and how they are read.

use std::collections::BTreeMap;

use model::{Artifact, Time, Value, convert};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::schema::{Described, Field, Presence, Schema};

/// What any algorithm may give: `sha256:<hex>`.
const DIGEST: &str = "^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$";

impl Described for Artifact {
    fn schema() -> Schema {
        use Presence::{Needed, Optional, Required};
        let field = |name, presence, schema: Schema, about: &str| {
            Field::new(name, &[], presence, schema.described(&[about]))
        };
        let text = String::schema;
        let facts = BTreeMap::<String, String>::schema();
        Schema::object(vec![
            field(
                "digest",
                Needed,
                text().pattern(DIGEST),
                "The digest of the file: `<algorithm>:<hex>`.",
            ),
            field(
                "last_update_time",
                Required,
                Time::schema(),
                "When the file was last made.",
            ),
            field(
                "metadata",
                Optional,
                facts,
                "What the source says about it: annotations of an OCI manifest.",
            ),
            field(
                "path",
                Required,
                text(),
                "The place of the file in the artifact store.",
            ),
            field(
                "revision",
                Needed,
                text(),
                "The state of the source that it holds: a commit, digest, version.",
            ),
            field(
                "size",
                Optional,
                i64::schema(),
                "The number of bytes of the file.",
            ),
            field("url", Required, text(), "Where the file is served."),
        ])
        .described(&["The packed content that the source last gave."])
    }
}

/// Reads an artifact, and takes one that cannot be read for none. Anyone may write the status of an ExternalArtifact,
/// and the schema allows more than makes sense, such as digests of unknown algorithms: that object is then without an
/// artifact, and the others of its kind are still seen.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(convert::to_serde(&value).unwrap_or_default())
}
