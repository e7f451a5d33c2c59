//! What is pushed: a manifest in the making.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::archive::{File, tar, tgz};
use crate::digest::sha256;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// A manifest in the making, with its blobs.
#[derive(Clone, Debug)]
pub struct Artifact {
    media_type: String,
    artifact_type: Option<String>,
    config: (String, Bytes),
    layers: Vec<Layer>,
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Layer {
    media_type: String,
    content: Bytes,
    annotations: BTreeMap<String, String>,
}

impl Artifact {
    /// An artifact of some type, with an empty config and no layers yet.
    pub fn empty(artifact_type: &str) -> Self {
        Self {
            artifact_type: Some(artifact_type.to_string()),
            ..Self::with_config(EMPTY, "{}")
        }
    }

    /// An artifact whose config says what it is, with no layers yet.
    pub fn with_config(media_type: &str, config: impl Into<Bytes>) -> Self {
        Self {
            media_type: MANIFEST.to_string(),
            artifact_type: None,
            config: (media_type.to_string(), config.into()),
            layers: Vec::new(),
            annotations: BTreeMap::new(),
        }
    }

    /// Files, packed as `flux push artifact` does: what an `OCIRepository` reads.
    pub fn files(files: &[(&str, &str)]) -> Self {
        let files: Vec<_> = files
            .iter()
            .map(|(path, content)| File::new(path, *content))
            .collect();
        Self::with_config("application/vnd.cncf.flux.config.v1+json", "{}")
            .layer("application/vnd.cncf.flux.content.v1.tar+gzip", tgz(&files))
    }

    /// A container image for a platform such as `linux/amd64`, made at an RFC 3339 time, with one small layer.
    pub fn image(platform: &str, created: &str) -> Self {
        let (system, architecture) = platform.split_once('/').unwrap_or(("linux", platform));
        let files = [File::new("created", created)];
        let config = json!({
            "created": created,
            "architecture": architecture,
            "os": system,
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [sha256(&tar(&files))]},
        });
        Self::with_config("application/vnd.oci.image.config.v1+json", config.to_string())
            .layer("application/vnd.oci.image.layer.v1.tar+gzip", tgz(&files))
    }

    /// Adds a layer.
    pub fn layer(mut self, media_type: &str, content: impl Into<Bytes>) -> Self {
        let (media_type, content) = (media_type.to_string(), content.into());
        self.layers.push(Layer {
            media_type,
            content,
            annotations: BTreeMap::new(),
        });
        self
    }

    /// Annotates the layer that was added last.
    pub fn layer_annotation(mut self, key: &str, value: &str) -> Self {
        if let Some(layer) = self.layers.last_mut() {
            layer.annotations.insert(key.to_string(), value.to_string());
        }
        self
    }

    /// Annotates the manifest.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_string(), value.to_string());
        self
    }

    /// Sets the type.
    pub fn artifact_type(mut self, artifact_type: &str) -> Self {
        self.artifact_type = Some(artifact_type.to_string());
        self
    }

    /// Uses another media type for the manifest, such as Docker's.
    pub fn media_type(mut self, media_type: &str) -> Self {
        self.media_type = media_type.to_string();
        self
    }

    pub(super) fn manifest_media_type(&self) -> &str {
        &self.media_type
    }

    /// The digests and contents of config and layers.
    pub(super) fn blobs(&self) -> impl Iterator<Item = (String, Bytes)> {
        let layers = self.layers.iter().map(|layer| &layer.content);
        std::iter::once(&self.config.1)
            .chain(layers)
            .map(|content| (sha256(content), content.clone()))
    }

    /// The manifest, about another one if that one's descriptor is given.
    pub(super) fn manifest(&self, subject: Option<Value>) -> Bytes {
        let mut manifest = json!({
            "schemaVersion": 2,
            "mediaType": self.media_type,
            "config": descriptor(&self.config.0, &self.config.1, &BTreeMap::new()),
            "layers": self.layers.iter().map(|layer| descriptor(&layer.media_type, &layer.content, &layer.annotations)).collect::<Vec<_>>(),
        });
        if let Some(artifact_type) = &self.artifact_type {
            manifest["artifactType"] = json!(artifact_type);
        }
        if let Some(subject) = subject {
            manifest["subject"] = subject;
        }
        if !self.annotations.is_empty() {
            manifest["annotations"] = json!(self.annotations);
        }
        manifest.to_string().into()
    }
}

fn descriptor(media_type: &str, content: &Bytes, annotations: &BTreeMap<String, String>) -> Value {
    let mut descriptor = json!({"mediaType": media_type, "digest": sha256(content), "size": content.len()});
    if !annotations.is_empty() {
        descriptor["annotations"] = json!(annotations);
    }
    descriptor
}
