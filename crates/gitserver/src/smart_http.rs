//! The smart protocol over HTTP: a request in, a response out.

use std::io::Read;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};

use super::pktline::{flush, line};
use super::repositories::Repositories;
use super::repository::Repository;
use super::session::{self, Service, Session, Span};
use super::upload::Version;

/// The longest request after decompression.
const INFLATED_LIMIT: u64 = 1 << 30;

/// What clients may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Clone and fetch.
    Read,
    /// Push as well.
    ReadAndPush,
}

impl Access {
    fn allows(self, service: Service) -> bool {
        self == Access::ReadAndPush || service == Service::UploadPack
    }
}

impl Repositories {
    /// The answer to a request.
    pub fn answer(&self, access: Access, request: &Request<Bytes>) -> Response<Bytes> {
        let path = percent_encoding::percent_decode_str(request.uri().path()).decode_utf8_lossy();
        let path = path.trim_matches('/');
        let version = Version::requested(text(request, "git-protocol"));
        if let Some(name) = path.strip_suffix("/info/refs") {
            return match (self.find(name), request.method()) {
                (Some(repository), &Method::GET) => greeting(&repository, access, request, version),
                _ => not_found(),
            };
        }
        let service = path
            .rsplit_once('/')
            .and_then(|(name, service)| Some((self.find(name)?, Service::named(service)?)));
        let Some((repository, service)) = service else {
            return not_found();
        };
        if !access.allows(service) {
            return refused();
        }
        if request.method() != Method::POST {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "");
            let allowed = HeaderValue::from_static("POST");
            response.headers_mut().insert(header::ALLOW, allowed);
            return response;
        }
        if text(request, header::CONTENT_TYPE.as_str()) != format!("application/x-{}-request", service.name())
        {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "");
        }
        let Some(body) = plain_body(request) else {
            return plain(StatusCode::BAD_REQUEST, "");
        };
        let out = Session::new(repository, service, version, Span::Request).feed(&body);
        said(&format!("application/x-{}-result", service.name()), out)
    }
}

fn greeting(
    repository: &Repository,
    access: Access,
    request: &Request<Bytes>,
    version: Version,
) -> Response<Bytes> {
    let query = request.uri().query().unwrap_or_default();
    let mut asked = form_urlencoded::parse(query.as_bytes());
    let service = asked.find(|(key, _)| key == "service");
    let Some(service) = service.and_then(|(_, name)| Service::named(&name)) else {
        // Without a service the client speaks the old protocol of plain files.
        return plain(
            StatusCode::FORBIDDEN,
            "this server speaks only the smart protocol\n",
        );
    };
    if !access.allows(service) {
        return refused();
    }
    let mut out = Vec::new();
    if version != Version::V2 || service == Service::ReceivePack {
        line(&mut out, format!("# service={}\n", service.name()));
        flush(&mut out);
    }
    out.extend(session::greeting(repository, service, version));
    said(&format!("application/x-{}-advertisement", service.name()), out)
}

/// A header field, if it is text.
fn text<'r>(request: &'r Request<Bytes>, name: &str) -> &'r str {
    let value = request.headers().get(name);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn plain_body(request: &Request<Bytes>) -> Option<Bytes> {
    match text(request, header::CONTENT_ENCODING.as_str()) {
        "" | "identity" => Some(request.body().clone()),
        "gzip" | "x-gzip" => {
            let mut body = Vec::new();
            GzDecoder::new(&request.body()[..])
                .take(INFLATED_LIMIT)
                .read_to_end(&mut body)
                .ok()?;
            Some(body.into())
        }
        _ => None,
    }
}

fn said(media_type: &str, out: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(out));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(media_type) = HeaderValue::from_str(media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = status;
    if !text.is_empty() {
        let media_type = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    }
    response
}

fn not_found() -> Response<Bytes> {
    plain(StatusCode::NOT_FOUND, "repository not found\n")
}

fn refused() -> Response<Bytes> {
    plain(StatusCode::FORBIDDEN, "nothing can be pushed to this server\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(access: Access, method: &str, uri: &str, media_type: &str) -> u16 {
        let repositories = Repositories::new();
        repositories.repository("app").commit("main", "One", [("a", "1")]);
        let request = Request::builder().method(method).uri(uri);
        let request = request.header(header::CONTENT_TYPE, media_type);
        let request = request.body(Bytes::from_static(b"0000")).unwrap();
        repositories.answer(access, &request).status().as_u16()
    }

    #[test]
    fn who_may_only_read_cannot_push() {
        let greeting = "/app.git/info/refs?service=git-receive-pack";
        let push = "application/x-git-receive-pack-request";
        for (access, answer) in [(Access::Read, 403), (Access::ReadAndPush, 200)] {
            assert_eq!(status(access, "GET", greeting, ""), answer);
            assert_eq!(status(access, "POST", "/app.git/git-receive-pack", push), answer);
        }
        let fetch = "application/x-git-upload-pack-request";
        assert_eq!(
            status(Access::Read, "POST", "/app.git/git-upload-pack", fetch),
            200
        );
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for (method, uri, answer) in [
            ("GET", "/", 404),
            ("GET", "/other.git/info/refs?service=git-upload-pack", 404),
            ("GET", "/app.git/info/refs", 403),
            ("GET", "/app.git/git-upload-pack", 405),
            ("POST", "/app.git/git-upload-pack", 415),
            ("GET", "/app.git/../../etc/passwd", 404),
        ] {
            assert_eq!(status(Access::Read, method, uri, ""), answer, "{uri}");
        }
    }
}
