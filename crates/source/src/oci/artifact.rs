//! What the flux client writes: media types and annotations.

use std::collections::BTreeMap;

/// The media type of the config of a flux artifact.
pub const CONFIG_MEDIA_TYPE: &str = "application/vnd.cncf.flux.config.v1+json";
/// The media type of the content of a flux artifact, a gzipped tar archive.
pub const CONTENT_MEDIA_TYPE: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";
/// The annotation with the time at which an artifact was made.
pub const CREATED: &str = "org.opencontainers.image.created";
/// The annotation with the place that an artifact was made from.
pub const SOURCE: &str = "org.opencontainers.image.source";
/// The annotation with the revision that an artifact was made from.
pub const REVISION: &str = "org.opencontainers.image.revision";

/// The annotations of a manifest.
pub type Annotations = BTreeMap<String, String>;
