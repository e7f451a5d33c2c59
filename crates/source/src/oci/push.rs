//! Sending blobs and manifests.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Method};
use model::Digest;
use reqwest::Response;
use url::Url;

use super::checksum::sha256;
use super::client::{Call, Client, Target};
use super::token::Access;
use super::{Descriptor, Error, Reference, Repository};

/// Larger blobs are sent in pieces of this size.
const PIECE: usize = 8 << 20;

impl Client {
    /// Stores a blob, unless the repository has it already, and describes it.
    ///
    /// # Errors
    /// Where the registry does not take it.
    pub async fn push_blob(
        &self,
        repository: &Repository,
        media_type: &str,
        content: Bytes,
    ) -> Result<Descriptor, Error> {
        let digest = sha256(&content);
        let blob = Descriptor {
            media_type: media_type.to_owned(),
            size: content.len() as u64,
            digest,
            artifact_type: None,
            annotations: Default::default(),
            platform: None,
        };
        if !self.has_blob(repository, digest).await? {
            self.upload(repository, digest, content).await?;
        }
        Ok(blob)
    }

    /// Stores a manifest or index under a tag or its digest.
    ///
    /// # Errors
    /// Where the registry does not take it.
    pub async fn push_manifest(
        &self,
        reference: &Reference,
        media_type: &str,
        content: Vec<u8>,
    ) -> Result<Digest, Error> {
        let digest = sha256(&content);
        let media_type =
            HeaderValue::from_str(media_type).map_err(|error| Error::malformed(media_type, error))?;
        let path = format!("manifests/{}", reference.version);
        let mut call = push_call(&reference.repository, Method::PUT, path, reference);
        call.headers.push((CONTENT_TYPE, media_type));
        call.body = Some(content.into());
        self.send(&call).await?;
        Ok(digest)
    }

    /// Gives an artifact another tag.
    ///
    /// # Errors
    /// Where it is not there, or the registry does not take the tag.
    pub async fn tag(&self, reference: &Reference, tag: &str) -> Result<Reference, Error> {
        let tagged = reference.repository.tag(tag)?;
        let content = self.content(reference).await?;
        self.push_manifest(&tagged, &content.media_type, content.bytes)
            .await?;
        Ok(tagged)
    }

    async fn has_blob(&self, repository: &Repository, digest: Digest) -> Result<bool, Error> {
        let what = format!("{repository}@{digest}");
        let call = push_call(repository, Method::HEAD, format!("blobs/{digest}"), what);
        match self.send(&call).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn upload(&self, repository: &Repository, digest: Digest, content: Bytes) -> Result<(), Error> {
        let what = format!("{repository}@{digest}");
        let mut start = push_call(repository, Method::POST, "blobs/uploads/".to_owned(), &what);
        start.headers.push((CONTENT_LENGTH, HeaderValue::from(0)));
        let mut place = location(&self.send(&start).await?, &what)?;
        let mut rest = content;
        let mut sent = 0;
        while rest.len() > PIECE {
            let piece = rest.split_to(PIECE);
            let range = format!("{sent}-{}", sent + piece.len() - 1);
            sent += piece.len();
            let mut patch = push_call(repository, Method::PATCH, String::new(), &what);
            patch.target = Target::Url(place.clone());
            patch = patch.header(CONTENT_TYPE, "application/octet-stream");
            let range = HeaderValue::from_str(&range).expect("digits and a dash are a header value");
            patch.headers.push((CONTENT_RANGE, range));
            patch.body = Some(piece);
            place = location(&self.send(&patch).await?, &what)?;
        }
        place.query_pairs_mut().append_pair("digest", &digest.to_string());
        let mut finish = push_call(repository, Method::PUT, String::new(), &what);
        finish.target = Target::Url(place);
        finish = finish.header(CONTENT_TYPE, "application/octet-stream");
        if sent > 0 {
            let range = format!("{sent}-{}", sent + rest.len() - 1);
            let range = HeaderValue::from_str(&range).expect("digits and a dash are a header value");
            finish.headers.push((CONTENT_RANGE, range));
        }
        finish.body = Some(rest);
        self.send(&finish).await?;
        Ok(())
    }
}

fn push_call(repository: &Repository, method: Method, path: String, what: impl ToString) -> Call<'_> {
    let mut call = Call::get(repository, path, what).method(method);
    call.access = Access::Push;
    call
}

/// Where an upload goes on. At another host it goes on without credentials.
fn location(response: &Response, what: &str) -> Result<Url, Error> {
    let header = response.headers().get(LOCATION);
    let text = header.and_then(|value| value.to_str().ok());
    let text = text.ok_or_else(|| Error::malformed(what, "it names no place for the upload"))?;
    response
        .url()
        .join(text)
        .map_err(|error| Error::malformed(what, error))
}
