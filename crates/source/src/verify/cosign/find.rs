//! Where signatures are kept.

use model::Digest;

use super::Error;
use super::legacy::Signature;
use crate::oci::{self, Client, Repository};

pub(super) const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// Whoever can push can add signatures; more than these are not looked at.
const MOST: usize = 50;
/// A bundle may hold a whole attestation, such as a list of packages.
const BUNDLE_LIMIT: u64 = 16 << 20;
/// The bytes that all bundles together may have. They are in memory at the same time.
const BUNDLES_LIMIT: u64 = 64 << 20;
const PAYLOAD_LIMIT: u64 = 1 << 20;

/// What was found.
pub(super) enum Found {
    /// Bundles, as JSON, and the manifest that they are about, to the letter.
    Bundles {
        bundles: Vec<Vec<u8>>,
        manifest: Vec<u8>,
    },
    /// Signatures of the older form, or nothing at all.
    Signatures(Vec<Signature>),
}

/// The bundles about an artifact, or where there are none its signatures.
pub(super) async fn find(client: &Client, repository: &Repository, digest: Digest) -> Result<Found, Error> {
    let failed = |source: oci::Error| Error::Registry {
        reference: repository.digest(digest).to_string(),
        source: Box::new(source),
    };
    let bundles = bundles(client, repository, digest).await.map_err(failed)?;
    if bundles.is_empty() {
        let signatures = signatures(client, repository, digest).await.map_err(failed)?;
        return Ok(Found::Signatures(signatures));
    }
    let manifest = client.content(&repository.digest(digest)).await.map_err(failed)?;
    Ok(Found::Bundles {
        bundles,
        manifest: manifest.bytes,
    })
}

async fn bundles(
    client: &Client,
    repository: &Repository,
    digest: Digest,
) -> Result<Vec<Vec<u8>>, oci::Error> {
    let referrers = client.referrers(repository, digest, BUNDLE).await?;
    let mut bundles = Vec::new();
    let mut bytes_left = BUNDLES_LIMIT;
    for referrer in referrers.iter().take(MOST) {
        let manifest = client.described(repository, referrer).await?;
        for layer in manifest.layers.iter().filter(|layer| layer.media_type == BUNDLE) {
            bytes_left = bytes_left.saturating_sub(layer.size);
            if bundles.len() == MOST || bytes_left == 0 {
                return Ok(bundles);
            }
            bundles.push(client.blob(repository, layer, BUNDLE_LIMIT).await?);
        }
    }
    Ok(bundles)
}

async fn signatures(
    client: &Client,
    repository: &Repository,
    digest: Digest,
) -> Result<Vec<Signature>, oci::Error> {
    let tag = format!("{}.sig", digest.to_string().replacen(':', "-", 1));
    let manifest = match client.manifest(&repository.tag(&tag)?).await {
        Ok((_, manifest)) => manifest,
        Err(oci::Error::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for layer in manifest.layers.iter().take(MOST) {
        if let Some(signature) = Signature::described(layer) {
            let payload = client.blob(repository, layer, PAYLOAD_LIMIT).await?;
            found.push(signature.with_payload(payload));
        }
    }
    Ok(found)
}
