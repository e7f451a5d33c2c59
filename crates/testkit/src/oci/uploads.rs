//! Uploading blobs: at once, in chunks, or by mounting one of another repository.

use bytes::Bytes;
use http::{Method, header};

use super::digest::matches;
use super::failure::Failure;
use super::store::Store;
use crate::http::{Reply, Request};

pub(super) fn reply(store: &mut Store, request: &Request, name: &str, id: Option<&str>) -> Reply {
    let Some(id) = id else {
        return match request.method {
            Method::POST => begin(store, request, name),
            _ => Failure::Unsupported.about(request.method.as_str()),
        };
    };
    if store
        .uploads
        .get(id)
        .is_none_or(|upload| upload.repository != name)
    {
        return Failure::BlobUploadUnknown.about(id);
    }
    match request.method {
        Method::PATCH => chunk(store, request, name, id),
        Method::PUT => finish(store, request, name, id),
        Method::GET => progress(store, name, id).with_status(204),
        Method::DELETE => {
            store.uploads.remove(id);
            Reply::status(204)
        }
        _ => Failure::Unsupported.about(request.method.as_str()),
    }
}

fn begin(store: &mut Store, request: &Request, name: &str) -> Reply {
    if let Some(digest) = request.query("mount") {
        let source = request.query("from");
        let content = match &source {
            Some(source) => store.blob(source, &digest),
            // Without a source the registry may know the content from anywhere.
            None => store.blobs.get(&digest).cloned(),
        };
        if let Some(content) = content {
            store.put_blob(name, &digest, content);
            return created(name, &digest);
        }
    }
    if let Some(digest) = request.query("digest") {
        return store_blob(store, name, &digest, request.body.clone());
    }
    let id = store.begin_upload(name);
    progress(store, name, &id).with_status(202)
}

fn chunk(store: &mut Store, request: &Request, name: &str, id: &str) -> Reply {
    let Some(upload) = store.uploads.get_mut(id) else {
        return Failure::BlobUploadUnknown.about(id);
    };
    // Without a range the body follows what is there already.
    if let Some(range) = request.header(header::CONTENT_RANGE)
        && !follows(range, upload.content.len(), request.body.len())
    {
        return Failure::RangeInvalid.about(range);
    }
    upload.content.extend_from_slice(&request.body);
    progress(store, name, id).with_status(202)
}

/// Whether a range such as `0-99` begins where the upload ends and is as long as the body.
fn follows(range: &str, start: usize, length: usize) -> bool {
    let range = range.strip_prefix("bytes ").unwrap_or(range);
    let range = range.split('/').next().unwrap_or_default();
    let Some((first, last)) = range.split_once('-') else {
        return false;
    };
    first.parse() == Ok(start)
        && last
            .parse::<usize>()
            .is_ok_and(|last| last.checked_add(1) == start.checked_add(length))
}

fn finish(store: &mut Store, request: &Request, name: &str, id: &str) -> Reply {
    let Some(digest) = request.query("digest") else {
        return Failure::DigestInvalid.about("no digest was given");
    };
    let Some(upload) = store.uploads.get(id) else {
        return Failure::BlobUploadUnknown.about(id);
    };
    if let Some(range) = request.header(header::CONTENT_RANGE)
        && !follows(range, upload.content.len(), request.body.len())
    {
        return Failure::RangeInvalid.about(range);
    }
    let mut content = store
        .uploads
        .remove(id)
        .map(|upload| upload.content)
        .unwrap_or_default();
    content.extend_from_slice(&request.body);
    store_blob(store, name, &digest, content.into())
}

fn store_blob(store: &mut Store, name: &str, digest: &str, content: Bytes) -> Reply {
    match matches(digest, &content) {
        Some(true) => {
            store.put_blob(name, digest, content);
            created(name, digest)
        }
        Some(false) => Failure::DigestInvalid.about(digest),
        None => Failure::BlobUploadInvalid.about(digest),
    }
}

fn created(name: &str, digest: &str) -> Reply {
    Reply::status(201)
        .with(header::LOCATION, format!("/v2/{name}/blobs/{digest}"))
        .with("docker-content-digest", digest)
}

/// Where an upload is and how far it came.
fn progress(store: &Store, name: &str, id: &str) -> Reply {
    let length = store.uploads.get(id).map_or(0, |upload| upload.content.len());
    Reply::status(202)
        .with(header::LOCATION, format!("/v2/{name}/blobs/uploads/{id}"))
        .with("docker-upload-uuid", id)
        .with(header::RANGE, format!("0-{}", length.saturating_sub(1)))
}
