//! What is said about a manifest by others: signatures, bundles, attestations.

use model::Digest;
use url::form_urlencoded::byte_serialize;

use super::answer::body;
use super::client::{Call, Client, Target};
use super::tags::{next_page, within_pages};
use super::{Descriptor, Error, Index, Repository};

const PAGE_LIMIT: u64 = 4 << 20;
const COUNT_LIMIT: usize = 1000;
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

impl Client {
    /// The manifests about another one that have a type, by the referrers API or, at older registries, by the tag that stands
    /// in for it. None at all is an empty list.
    ///
    /// # Errors
    /// Where the registry does not list them, or there are too many.
    pub async fn referrers(
        &self,
        repository: &Repository,
        digest: Digest,
        artifact_type: &str,
    ) -> Result<Vec<Descriptor>, Error> {
        let listed = match self.referrers_by_api(repository, digest, artifact_type).await {
            Ok(listed) => listed,
            Err(
                Error::NotFound { .. } | Error::Status { status: 400..500, .. } | Error::Malformed { .. },
            ) => self.referrers_by_tag(repository, digest).await?,
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in listed {
            let fits = match entry.artifact_type.as_deref() {
                Some(listed) if listed == artifact_type => true,
                // Lists by tag may leave the type to the manifest itself, or name that of its empty config instead.
                None | Some(EMPTY) => {
                    let manifest = self.described(repository, &entry).await?;
                    let config = manifest.config.media_type;
                    manifest.artifact_type.unwrap_or(config) == artifact_type
                }
                Some(_) => false,
            };
            if fits {
                found.push(entry);
            }
        }
        Ok(found)
    }

    async fn referrers_by_api(
        &self,
        repository: &Repository,
        digest: Digest,
        artifact_type: &str,
    ) -> Result<Vec<Descriptor>, Error> {
        let what = format!("the list of referrers of {repository}@{digest}");
        let filter: String = byte_serialize(artifact_type.as_bytes()).collect();
        let path = format!("referrers/{digest}?artifactType={filter}");
        let mut call = Call::get(repository, path, &what);
        let mut found: Vec<Descriptor> = Vec::new();
        let mut read = 0;
        loop {
            let response = self.send(&call).await?;
            let next = next_page(&response, &what)?;
            let bytes = body(response, PAGE_LIMIT, &what).await?;
            read = within_pages(read, &bytes, &what)?;
            let index: Index =
                serde_json::from_slice(&bytes).map_err(|error| Error::malformed(&what, error))?;
            let before = found.len();
            found.extend(index.manifests);
            if found.len() > COUNT_LIMIT {
                return Err(Error::TooMany {
                    what,
                    limit: COUNT_LIMIT,
                });
            }
            match next {
                Some(url) if found.len() > before => call.target = Target::Url(url),
                _ => return Ok(found),
            }
        }
    }

    async fn referrers_by_tag(
        &self,
        repository: &Repository,
        digest: Digest,
    ) -> Result<Vec<Descriptor>, Error> {
        let tag = repository.tag(&digest.to_string().replacen(':', "-", 1))?;
        match self.index(&tag).await {
            Ok(index) if index.manifests.len() > COUNT_LIMIT => Err(Error::TooMany {
                what: tag.to_string(),
                limit: COUNT_LIMIT,
            }),
            Ok(index) => Ok(index.manifests),
            Err(Error::NotFound { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
