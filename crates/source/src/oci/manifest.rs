//! Manifests and indexes.

use std::collections::BTreeMap;

use http::Method;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use model::Digest;
use reqwest::Response;
use serde::{Deserialize, Deserializer, Serialize};

use super::answer::body;
use super::checksum::{checksum, sha256};
use super::client::{Call, Client};
use super::{Error, Reference, Repository, Version};

/// The media type of an OCI manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an OCI index.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";
/// What the distribution specification wants registries to take at least, and what most of them take at most.
const MANIFEST_LIMIT: u64 = 4 << 20;
/// Indexes of indexes end here.
const DEPTH_LIMIT: usize = 4;
const DIGEST_HEADER: &str = "docker-content-digest";

/// What describes a blob or manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What it is.
    #[serde(default)]
    pub media_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its digest.
    pub digest: Digest,
    /// What kind of artifact a manifest holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// What is said about it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotations: BTreeMap<String, String>,
    /// What an image runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
}

/// What an image runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// The processor, such as `amd64`.
    #[serde(default)]
    pub architecture: String,
    /// The operating system, such as `linux`.
    #[serde(default)]
    pub os: String,
}

/// One artifact: its config and layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// 2.
    pub schema_version: u32,
    /// What the manifest is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What kind of artifact it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The config.
    pub config: Descriptor,
    /// The layers.
    #[serde(default, deserialize_with = "or_default")]
    pub layers: Vec<Descriptor>,
    /// The manifest that this one is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// What is said about it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotations: BTreeMap<String, String>,
}

/// Several manifests under one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// The manifests.
    #[serde(default, deserialize_with = "or_default")]
    pub manifests: Vec<Descriptor>,
    /// What is said about all of them.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotations: BTreeMap<String, String>,
}

/// Go writes lists and maps that are not there as `null`.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// A manifest or index as the registry sent it.
#[derive(Clone, Debug)]
pub struct Content {
    /// What the registry calls it.
    pub media_type: String,
    /// The digest of the bytes.
    pub digest: Digest,
    /// The bytes, to the letter: signatures are about them.
    pub bytes: Vec<u8>,
}

impl Content {
    /// Whether it is an index of several manifests.
    pub fn is_index(&self) -> bool {
        matches!(self.media_type.as_str(), INDEX | DOCKER_LIST)
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, what: &str) -> Result<T, Error> {
        serde_json::from_slice(&self.bytes).map_err(|error| Error::malformed(what, error))
    }
}

impl Client {
    /// The digest that a tag points to now, by one request that carries no content. Registries that do not answer it are asked
    /// for the manifest.
    ///
    /// # Errors
    /// Where the registry does not say it.
    pub async fn digest(&self, reference: &Reference) -> Result<Digest, Error> {
        match self.head(reference).await {
            Ok(Some(digest)) => Ok(digest),
            Ok(None) | Err(Error::NotFound { .. }) => Ok(self.content(reference).await?.digest),
            Err(Error::Status { status, .. }) if (400..500).contains(&status) && status != 429 => {
                Ok(self.content(reference).await?.digest)
            }
            Err(error) => Err(error),
        }
    }

    async fn head(&self, reference: &Reference) -> Result<Option<Digest>, Error> {
        let call = call(reference).method(Method::HEAD);
        let response = self.send(&call).await?;
        let complete = [CONTENT_TYPE, CONTENT_LENGTH]
            .iter()
            .all(|name| response.headers().contains_key(name));
        Ok(digest_header(&response).filter(|_| complete))
    }

    /// A manifest or index, checked against its digest.
    ///
    /// # Errors
    /// Where it is not there or is not what it should be.
    pub async fn content(&self, reference: &Reference) -> Result<Content, Error> {
        let call = call(reference);
        let response = self.send(&call).await?;
        let media_type = response.headers().get(CONTENT_TYPE);
        let media_type = media_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
        let said = digest_header(&response);
        let bytes = body(response, MANIFEST_LIMIT, &call.what).await?;
        let expected = match &reference.version {
            Version::Digest(digest) => *digest,
            Version::Tag(_) => said.unwrap_or_else(|| sha256(&bytes)),
        };
        let mut checksum = checksum(expected.algorithm()).ok_or_else(|| Error::Algorithm {
            what: call.what.clone(),
        })?;
        checksum.update(&bytes);
        let found = checksum.finish();
        if found != expected {
            return Err(Error::Mismatch {
                what: call.what,
                expected: expected.to_string(),
                found: found.to_string(),
            });
        }
        Ok(Content {
            media_type,
            digest: found,
            bytes,
        })
    }

    /// The manifest of an artifact. Of an index the entry for `linux/amd64`, or the first that names no platform, is taken.
    ///
    /// # Errors
    /// Where it is not there or is not what it should be.
    pub async fn manifest(&self, reference: &Reference) -> Result<(Content, Manifest), Error> {
        let mut reference = reference.clone();
        for _ in 0..DEPTH_LIMIT {
            let content = self.content(&reference).await?;
            let what = reference.to_string();
            if !content.is_index() {
                let manifest = content.read(&what)?;
                return Ok((content, manifest));
            }
            let index: Index = content.read(&what)?;
            let child = index
                .manifests
                .iter()
                .find(|entry| is_default(entry.platform.as_ref()));
            let child = child.ok_or(Error::NoPlatform(what))?;
            reference = reference.repository.digest(child.digest);
        }
        Err(Error::malformed(
            &reference.to_string(),
            "its indexes are nested too deeply",
        ))
    }

    /// An index.
    ///
    /// # Errors
    /// Where it is not there or no index.
    pub async fn index(&self, reference: &Reference) -> Result<Index, Error> {
        self.content(reference).await?.read(&reference.to_string())
    }

    /// The manifest that a descriptor describes.
    pub(crate) async fn described(
        &self,
        repository: &Repository,
        descriptor: &Descriptor,
    ) -> Result<Manifest, Error> {
        let reference = repository.digest(descriptor.digest);
        self.content(&reference).await?.read(&reference.to_string())
    }
}

fn is_default(platform: Option<&Platform>) -> bool {
    platform.is_none_or(|platform| platform.os == "linux" && platform.architecture == "amd64")
}

fn call(reference: &Reference) -> Call<'_> {
    let path = format!("manifests/{}", reference.version);
    Call::get(&reference.repository, path, reference).header(ACCEPT, ACCEPTED)
}

fn digest_header(response: &Response) -> Option<Digest> {
    response.headers().get(DIGEST_HEADER)?.to_str().ok()?.parse().ok()
}
