//! Reading and deleting blobs.

use bytes::Bytes;
use http::{Method, header};

use super::failure::Failure;
use super::store::Store;
use crate::http::{ByteRange, Reply, Request};

pub(super) fn reply(store: &mut Store, request: &Request, name: &str, digest: &str) -> Reply {
    match request.method {
        Method::GET | Method::HEAD => match store.blob(name, digest) {
            Some(content) => read(request, digest, content),
            None => Failure::BlobUnknown.about(digest),
        },
        Method::DELETE => {
            let removed = store
                .repositories
                .get_mut(name)
                .is_some_and(|repository| repository.blobs.remove(digest));
            if removed {
                Reply::status(202)
            } else {
                Failure::BlobUnknown.about(digest)
            }
        }
        _ => Failure::Unsupported.about(request.method.as_str()),
    }
}

fn read(request: &Request, digest: &str, content: Bytes) -> Reply {
    let range = ByteRange::of(request, content.len());
    range
        .reply("application/octet-stream", content)
        .with("docker-content-digest", digest)
        .with(header::ETAG, format!("\"{digest}\""))
}
