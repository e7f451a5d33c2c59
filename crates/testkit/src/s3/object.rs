//! Reading, writing and deleting objects.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::bucket::{Bucket, Object};
use super::chunked;
use super::failure::Failure;
use super::identity::Proof;
use super::request::Target;
use crate::http::{ByteRange, Reply, Request, is_unchanged};

pub(super) fn reply(
    target: &Target<'_>,
    bucket: &Bucket,
    key: &str,
    proof: Option<&Proof>,
) -> Result<Reply, Failure> {
    let request = target.request;
    let other = ["uploads", "uploadId", "acl", "tagging", "attributes", "retention"];
    if other.iter().any(|name| target.parameter(name).is_some())
        || request.headers.contains_key("x-amz-copy-source")
    {
        return Err(Failure::NotImplemented);
    }
    match request.method {
        Method::GET | Method::HEAD => {
            let object = bucket.objects().get(key).cloned().ok_or(Failure::NoSuchKey)?;
            read(request, &object)
        }
        Method::PUT => write(request, bucket, key, chunked::body(request, proof)?),
        Method::DELETE => {
            bucket.delete(key);
            Ok(Reply::status(204))
        }
        _ => Err(Failure::NotImplemented),
    }
}

fn read(request: &Request, object: &Object) -> Result<Reply, Failure> {
    if let Some(wanted) = request.header(header::IF_MATCH)
        && wanted.trim_matches('"') != object.etag.trim_matches('"')
    {
        return Err(Failure::PreconditionFailed);
    }
    let reply = if is_unchanged(request, &object.etag) {
        Reply::status(304)
    } else {
        match ByteRange::of(request, object.content.len()) {
            ByteRange::Unsatisfiable => return Err(Failure::InvalidRange),
            range => range.reply(&object.media_type, object.content.clone()),
        }
    };
    let reply = reply
        .with(header::ETAG, &object.etag)
        .with(header::LAST_MODIFIED, http_date(object.modified));
    Ok(object
        .metadata
        .iter()
        .fold(reply, |reply, (name, value)| reply.with(name.as_str(), value)))
}

fn write(request: &Request, bucket: &Bucket, key: &str, content: Bytes) -> Result<Reply, Failure> {
    if let Some(stated) = request.header("content-md5")
        && stated != STANDARD.encode(md5::compute(&content).0)
    {
        return Err(Failure::BadDigest);
    }
    if request.header(header::IF_NONE_MATCH) == Some("*") && bucket.objects().contains_key(key) {
        return Err(Failure::PreconditionFailed);
    }
    let media_type = request
        .header(header::CONTENT_TYPE)
        .unwrap_or("application/octet-stream");
    let metadata = request
        .headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with("x-amz-meta-"));
    let metadata =
        metadata.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_string())));
    let etag = bucket.store(key, content, media_type, metadata.collect());
    Ok(Reply::status(200).with(header::ETAG, etag))
}

fn http_date(time: Timestamp) -> String {
    let printed = DateTimePrinter::new().timestamp_to_rfc9110_string(&time);
    printed.unwrap_or_else(|_| "Thu, 01 Jan 1970 00:00:00 GMT".to_string())
}
