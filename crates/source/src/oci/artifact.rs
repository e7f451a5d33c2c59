//! What the flux client writes: media types and annotations, and an artifact of its form.

use std::collections::BTreeMap;
use std::io::{self, Read};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use model::Digest;
use model::digest::Algorithm;
use serde_json::json;

use super::{Client, Error, MANIFEST, Manifest, Reference};
use crate::archive::Hasher;

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

/// More than an archive unpacks to is not hashed for the config.
const UNPACKED_LIMIT: u64 = 4 << 30;

impl Client {
    /// Pushes a gzipped tar archive as the flux client does, and gives back the digest of its manifest. The time in
    /// [`CREATED`] is that of the config too.
    ///
    /// # Errors
    /// Where the archive is none, or the registry does not take it.
    pub async fn push_artifact(
        &self,
        reference: &Reference,
        archive: Bytes,
        annotations: Annotations,
    ) -> Result<Digest, Error> {
        let unpacked = unpacked_digest(&archive).map_err(|source| Error::Io {
            what: "unpack the archive to be pushed",
            source,
        })?;
        let config = json!({
            "architecture": "",
            "created": annotations.get(CREATED),
            "os": "",
            "rootfs": {"type": "layers", "diff_ids": [unpacked]},
            "config": {},
        });
        let repository = &reference.repository;
        let layer = self.push_blob(repository, CONTENT_MEDIA_TYPE, archive).await?;
        let config = self
            .push_blob(repository, CONFIG_MEDIA_TYPE, config.to_string().into())
            .await?;
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: None,
            config,
            layers: vec![layer],
            subject: None,
            annotations,
        };
        let manifest = serde_json::to_vec(&manifest).expect("text and numbers are JSON");
        self.push_manifest(reference, MANIFEST, manifest).await
    }
}

/// The digest of what is in a gzipped file: registries tell layers apart by it.
fn unpacked_digest(archive: &[u8]) -> io::Result<Digest> {
    let content = MultiGzDecoder::new(archive).take(UNPACKED_LIMIT);
    Ok(Hasher::digest_of(Algorithm::Sha256, content)?.0)
}
