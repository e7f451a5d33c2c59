//! Blobs, checked while they come.

use std::io::{self, Write};

use futures::StreamExt as _;
use http::header::ACCEPT_ENCODING;

use super::checksum::checksum;
use super::client::{Call, Client};
use super::{Descriptor, Error, Repository};

impl Client {
    /// Copies a blob to a writer. What was written is good only if this succeeds: digest and size are known at the end.
    ///
    /// # Errors
    /// Where it cannot be fetched or written, is larger than the limit, or has another digest or size than described.
    pub async fn download(
        &self,
        repository: &Repository,
        blob: &Descriptor,
        limit: u64,
        to: &mut (impl Write + Send),
    ) -> Result<(), Error> {
        let what = format!("{repository}@{}", blob.digest);
        if blob.size > limit {
            return Err(Error::TooLarge { what, limit });
        }
        let mut checksum =
            checksum(blob.digest.algorithm()).ok_or_else(|| Error::Algorithm { what: what.clone() })?;
        let call = Call::get(repository, format!("blobs/{}", blob.digest), &what)
            // A compressed transfer would hide the bytes that the digest is about.
            .header(ACCEPT_ENCODING, "identity");
        let response = self.send(&call).await?;
        let mut found = 0_u64;
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| Error::transport(&what, error))?;
            found += chunk.len() as u64;
            if found > blob.size {
                break;
            }
            checksum.update(&chunk);
            to.write_all(&chunk).map_err(cannot_write)?;
        }
        if found != blob.size {
            return Err(Error::Length {
                what,
                expected: blob.size,
                found,
            });
        }
        to.flush().map_err(cannot_write)?;
        let digest = checksum.finish();
        if digest != blob.digest {
            return Err(Error::Mismatch {
                what,
                expected: blob.digest.to_string(),
                found: digest.to_string(),
            });
        }
        Ok(())
    }

    /// A small blob, whole.
    ///
    /// # Errors
    /// As [`Client::download`].
    pub async fn blob(
        &self,
        repository: &Repository,
        blob: &Descriptor,
        limit: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.download(repository, blob, limit, &mut bytes).await?;
        Ok(bytes)
    }
}

fn cannot_write(source: io::Error) -> Error {
    Error::Io {
        what: "write what the registry sent",
        source,
    }
}
