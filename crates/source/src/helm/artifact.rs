//! Charts as artifacts of a registry: what `helm push` writes, and what `helm pull` reads.

use std::collections::BTreeMap;

use bytes::Bytes;
use model::Digest;
use serde::Serialize;

use super::chart::{Chart, LoadError, Metadata};
use crate::helm::chart::Limits;
use crate::oci::{self, CHART_MEDIA_TYPE, Client, Descriptor, MANIFEST, Reference};

/// The media type of the metadata of a chart.
pub const CONFIG_MEDIA_TYPE: &str = "application/vnd.cncf.helm.config.v1+json";
/// The media type of a provenance file.
pub const PROVENANCE_MEDIA_TYPE: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";
/// The media type of charts that early versions of Helm have pushed.
pub const LEGACY_CHART_MEDIA_TYPE: &str = "application/tar+gzip";

const DESCRIPTION: &str = "org.opencontainers.image.description";
const TITLE: &str = "org.opencontainers.image.title";
const VERSION: &str = "org.opencontainers.image.version";
const URL: &str = "org.opencontainers.image.url";
const AUTHORS: &str = "org.opencontainers.image.authors";

/// A chart that was pulled.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// The digest of the manifest it is from.
    pub digest: Digest,
    /// The packed chart.
    pub archive: Bytes,
    /// Its provenance file, where that was asked for and is there.
    pub provenance: Option<Bytes>,
    /// Whether the layer has the media type of early versions of Helm.
    pub is_legacy: bool,
}

/// Fetches the chart that an artifact holds, and its provenance file if wanted. `None`: the artifact is no chart.
///
/// # Errors
/// Where the registry does not give it, or it is larger than `limit`.
pub async fn pull(
    client: &Client,
    reference: &Reference,
    limit: u64,
    with_provenance: bool,
) -> Result<Option<Pulled>, oci::Error> {
    let (content, manifest) = client.manifest(reference).await?;
    let of_type = |wanted: &str| manifest.layers.iter().find(|layer| layer.media_type == wanted);
    let Some(layer) = of_type(CHART_MEDIA_TYPE).or_else(|| of_type(LEGACY_CHART_MEDIA_TYPE)) else {
        return Ok(None);
    };
    let repository = &reference.repository;
    let archive = client.blob(repository, layer, limit).await?;
    let provenance = match of_type(PROVENANCE_MEDIA_TYPE).filter(|_| with_provenance) {
        Some(layer) => Some(Bytes::from(client.blob(repository, layer, limit).await?)),
        None => None,
    };
    Ok(Some(Pulled {
        digest: content.digest,
        archive: archive.into(),
        provenance,
        is_legacy: layer.media_type == LEGACY_CHART_MEDIA_TYPE,
    }))
}

/// A chart to be pushed.
#[derive(Clone, Debug)]
pub struct Push {
    /// The packed chart.
    pub archive: Bytes,
    /// Its provenance file.
    pub provenance: Option<Bytes>,
    /// When it was made, as RFC 3339 has it.
    pub created: String,
}

/// Why a chart was not pushed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The archive is no chart.
    #[error("the archive holds no chart that can be pushed")]
    Chart(#[source] LoadError),
    /// The registry does not take it.
    #[error("the registry does not take the chart")]
    Registry(#[from] oci::Error),
}

impl Push {
    /// Pushes the chart below an address such as `oci://ghcr.io/org/charts`, under its own name, with its version as the tag. Says where
    /// it is then. The same chart makes the same digest as with Helm.
    ///
    /// # Errors
    /// Where the archive is no chart, or the registry does not take it.
    pub async fn to(
        self,
        client: &Client,
        url: &str,
        limits: &Limits,
    ) -> Result<(Reference, Digest), PushError> {
        let chart = Chart::from_archive(&self.archive, limits).map_err(PushError::Chart)?;
        let metadata = &chart.metadata;
        let url = format!("{}/{}", url.trim_end_matches('/'), metadata.name);
        let repository = oci::Repository::parse(&url)?;
        let reference = repository.tag(&metadata.version.replace('+', "_"))?;
        let config = Bytes::from(go_json(metadata));
        let mut layers = vec![
            client
                .push_blob(&repository, CHART_MEDIA_TYPE, self.archive.clone())
                .await?,
        ];
        let config = client.push_blob(&repository, CONFIG_MEDIA_TYPE, config).await?;
        if let Some(provenance) = self.provenance {
            let layer = client.push_blob(&repository, PROVENANCE_MEDIA_TYPE, provenance);
            layers.push(layer.await?);
        }
        layers.sort_by_key(|layer| layer.digest.to_string());
        let manifest = Manifest {
            schema_version: 2,
            config: Layer::from(&config),
            layers: layers.iter().map(Layer::from).collect(),
            annotations: annotations(metadata, self.created),
        };
        let digest = client
            .push_manifest(&reference, MANIFEST, go_json(&manifest).into_bytes())
            .await?;
        Ok((reference, digest))
    }
}

/// A manifest with its fields in the order that Helm writes them in: the digest depends on it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    config: Layer,
    layers: Vec<Layer>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: String,
    size: u64,
}

impl From<&Descriptor> for Layer {
    fn from(blob: &Descriptor) -> Self {
        Layer {
            media_type: blob.media_type.clone(),
            digest: blob.digest.to_string(),
            size: blob.size,
        }
    }
}

/// What the manifest says of a chart: what the chart says of itself, but neither another name nor another version.
fn annotations(metadata: &Metadata, created: String) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    let mut add = |key: &str, value: &str| {
        if !value.trim().is_empty() {
            said.insert(key.to_owned(), value.to_owned());
        }
    };
    add(DESCRIPTION, &metadata.description);
    add(TITLE, &metadata.name);
    add(VERSION, &metadata.version);
    add(URL, &metadata.home);
    add(oci::CREATED, &created);
    if let Some(first) = metadata.sources.first() {
        add(oci::SOURCE, first);
    }
    let authors = metadata
        .maintainers
        .iter()
        .flatten()
        .map(|maintainer| match maintainer.email.as_str() {
            "" => maintainer.name.clone(),
            email => format!("{} ({email})", maintainer.name),
        });
    add(AUTHORS, &authors.collect::<Vec<_>>().join(", "));
    for (key, value) in &metadata.annotations {
        if key != TITLE && key != VERSION {
            said.insert(key.clone(), value.0.clone());
        }
    }
    said
}

/// JSON as Go writes it, which escapes what browsers could take for a tag.
fn go_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("text, numbers and maps of texts are JSON");
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_those_of_the_chart_but_for_its_name_and_version() {
        let chart = "apiVersion: v2\nname: app\nversion: 1.0.0\nhome: https://a.example\nsources: [https://b.example, c]\nmaintainers: [{name: a, email: a@b}, {name: c}]\nannotations: {x: z, org.opencontainers.image.title: other}\n";
        let tree = ::helm::chart::MemoryTree::new([("Chart.yaml", chart)]);
        let chart = Chart::from_tree(&tree, "", &Limits::default()).unwrap();
        let said = annotations(&chart.metadata, "2026-01-02T03:04:05Z".to_owned());
        let said: Vec<_> = said
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (AUTHORS, "a (a@b), c"),
                (oci::CREATED, "2026-01-02T03:04:05Z"),
                (oci::SOURCE, "https://b.example"),
                (TITLE, "app"),
                (URL, "https://a.example"),
                (VERSION, "1.0.0"),
                ("x", "z"),
            ]
        );
    }

    #[test]
    fn json_has_no_tags_in_it() {
        assert_eq!(go_json(&"a<b>&c"), r#""a\u003cb\u003e\u0026c""#);
    }
}
