//! From a request to a file.

use std::fs::{File, Metadata};
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, Stream};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::conditions::{Conditions, Version};
use super::range::{Part, Wanted};
use crate::http::SOURCE_REQUEST;

pub(super) type Body = BoxBody<Bytes, io::Error>;

const CHUNK: usize = 256 * 1024;

pub(super) async fn answer<B>(root: &Path, request: &Request<B>) -> Response<Body> {
    // A tenant wrote this URL and must not read artifacts of others with the controller's network access.
    if request.headers().contains_key(SOURCE_REQUEST) {
        return plain(StatusCode::FORBIDDEN, "artifacts are no sources\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(header::ALLOW, allowed);
        return response;
    }
    if request.uri().path() == "/" {
        return index();
    }
    let Some(path) = path_below(root, request.uri().path()) else {
        return not_found();
    };
    let root = root.to_owned();
    // A task that panics or is cancelled found nothing either.
    let opened = tokio::task::spawn_blocking(move || open(&root, &path)).await;
    match opened.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok(Some((file, metadata))) => file_response(request, file, &metadata),
        Ok(None) => not_found(),
        Err(error) => {
            tracing::warn!(%error, path = request.uri().path(), "an artifact cannot be served");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n")
        }
    }
}

/// The place of a URL's path, unless it is none that the store serves.
fn path_below(root: &Path, path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let mut local = root.to_owned();
    for part in decoded.strip_prefix('/')?.split('/') {
        if part.is_empty() || part.starts_with('.') || part.contains(['\\', '\0']) {
            return None;
        }
        local.push(part);
    }
    (!decoded.ends_with(".lock")).then_some(local)
}

/// The regular file at a path, whose links do not lead out of the root.
fn open(root: &Path, path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let found = path.canonicalize().and_then(|real| {
        if !real.starts_with(root) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = File::open(real)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    });
    match found {
        Ok((file, metadata)) if metadata.is_file() => Ok(Some((file, metadata))),
        Ok(_) => Ok(None),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                Ok(None)
            }
            _ => Err(error),
        },
    }
}

fn file_response<B>(request: &Request<B>, file: File, metadata: &Metadata) -> Response<Body> {
    let version = Version::of(metadata);
    let conditions = Conditions::of(request.headers());
    let mut response = Response::new(empty());
    let headers = response.headers_mut();
    headers.insert(header::ETAG, version.tag.clone());
    if let Some(modified) = &version.modified {
        headers.insert(header::LAST_MODIFIED, modified.clone());
    }
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if conditions.fail(&version) {
        *response.status_mut() = StatusCode::PRECONDITION_FAILED;
        return response;
    }
    if conditions.has(&version) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(header::CONTENT_TYPE, content_type(request.uri().path()));
    let size = metadata.len();
    let wanted = match conditions.range_holds(&version) {
        true => Wanted::of(request.headers(), size),
        false => Wanted::All,
    };
    let (status, part) = match wanted {
        Wanted::All => {
            let all = Part {
                start: 0,
                length: size,
            };
            (StatusCode::OK, all)
        }
        Wanted::Part(part) => {
            headers.insert(header::CONTENT_RANGE, part.header(size));
            (StatusCode::PARTIAL_CONTENT, part)
        }
        Wanted::Unsatisfiable => {
            let mut response = plain(StatusCode::RANGE_NOT_SATISFIABLE, "there are no such bytes\n");
            let range = Part::none(size);
            response.headers_mut().insert(header::CONTENT_RANGE, range);
            return response;
        }
    };
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(part.length));
    *response.status_mut() = status;
    if request.method() == Method::GET {
        *response.body_mut() = StreamBody::new(frames(file, part)).boxed();
    }
    response
}

fn frames(file: File, part: Part) -> impl Stream<Item = io::Result<Frame<Bytes>>> + Send + Sync {
    let state = (tokio::fs::File::from_std(file), part);
    stream::try_unfold((state, false), |((mut file, mut part), begun)| async move {
        if !begun {
            file.seek(SeekFrom::Start(part.start)).await?;
        }
        if part.length == 0 {
            return Ok(None);
        }
        let wanted = usize::try_from(part.length).map_or(CHUNK, |left| left.min(CHUNK));
        let mut chunk = BytesMut::with_capacity(wanted);
        let read = (&mut file).take(wanted as u64).read_buf(&mut chunk).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        part.length -= read as u64;
        Ok(Some((Frame::data(chunk.freeze()), ((file, part), true))))
    })
}

fn content_type(path: &str) -> HeaderValue {
    let known = match path.rsplit('.').next() {
        Some("gz" | "tgz") => "application/gzip",
        // The content of a Helm repository's index is JSON.
        Some("yaml") => "application/json",
        _ => "application/octet-stream",
    };
    HeaderValue::from_static(known)
}

/// What a file server shows of an empty directory. The store's files are not listed.
fn index() -> Response<Body> {
    let mut response = plain(StatusCode::OK, "<!doctype html>\n<pre>\n</pre>\n");
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

fn not_found() -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "404 page not found\n")
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let body = Full::from(text).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn empty() -> Body {
    Full::default().map_err(|never| match never {}).boxed()
}
