//! The small HTTP servers beside the work: metrics and health.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::metrics::Metrics;

/// How many may ask at once.
const MOST_CONNECTIONS: usize = 64;
/// How long a client may take to say what it wants.
const SILENCE: Duration = Duration::from_secs(10);

/// Listens at an address in Go's form: `:8080` is that port on all interfaces.
///
/// # Errors
/// Where the address is none, or is taken.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let Some(port) = address.strip_prefix(':') else {
        return TcpListener::bind(address).await;
    };
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let port: u16 = port.parse().map_err(invalid)?;
    match TcpListener::bind((IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)).await {
        // A host may be without IPv6.
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)).await
        }
        bound => bound,
    }
}

/// What one of these servers answers.
#[derive(Clone)]
pub enum Endpoint {
    /// `/metrics`
    Metrics(Metrics),
    /// `/healthz` and `/readyz`: 200 for as long as the process lives, and the same below them by the name of the check,
    /// `ping`.
    Health,
}

impl Endpoint {
    /// The answer to a path, where there is one.
    fn answer(&self, path: &str) -> Option<(&'static str, String)> {
        match self {
            Endpoint::Metrics(metrics) if path == "/metrics" => {
                Some(("text/plain; version=0.0.4; charset=utf-8", metrics.render()))
            }
            Endpoint::Metrics(_) => None,
            Endpoint::Health => matches!(
                path.trim_end_matches('/'),
                "/healthz" | "/healthz/ping" | "/readyz" | "/readyz/ping"
            )
            .then(|| ("text/plain; charset=utf-8", "ok".to_owned())),
        }
    }

    fn respond<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let plain = "text/plain; charset=utf-8";
        let (status, kind, body) = if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let text = "only GET and HEAD are answered\n".to_owned();
            (StatusCode::METHOD_NOT_ALLOWED, plain, text)
        } else {
            match self.answer(request.uri().path()) {
                Some((kind, body)) => (StatusCode::OK, kind, body),
                None => (StatusCode::NOT_FOUND, plain, "404 page not found\n".to_owned()),
            }
        };
        let mut response = Response::new(Full::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }

    /// Answers until the future is dropped.
    pub async fn serve(self, listener: TcpListener) {
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = listener.accept().await else {
                // The system has no room for another connection.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let endpoint = self.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let response = endpoint.respond(&request);
                async move { Ok::<_, Infallible>(response) }
            });
            tokio::spawn(async move {
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(SILENCE);
                // A client that goes away is of no interest.
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                drop(permit);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(endpoint: &Endpoint, method: &str, path: &str) -> u16 {
        let request = Request::builder().method(method).uri(path).body(()).unwrap();
        endpoint.respond(&request).status().as_u16()
    }

    /// D1: the paths that probes and scrapers ask for.
    #[test]
    fn probes_and_scrapers_are_answered() {
        let metrics = Endpoint::Metrics(Metrics::new());
        assert_eq!(status(&metrics, "GET", "/metrics"), 200);
        assert_eq!(status(&metrics, "GET", "/"), 404);
        for path in ["/healthz", "/readyz", "/healthz/", "/readyz/ping"] {
            assert_eq!(status(&Endpoint::Health, "GET", path), 200, "{path}");
        }
        assert_eq!(status(&Endpoint::Health, "GET", "/metrics"), 404);
        assert_eq!(status(&Endpoint::Health, "POST", "/healthz"), 405);
    }

    #[tokio::test]
    async fn addresses_are_read_as_go_reads_them() {
        for address in [":0", "127.0.0.1:0", "localhost:0"] {
            let listener = listen(address).await.unwrap();
            assert_ne!(listener.local_addr().unwrap().port(), 0);
        }
        for address in [":", ":http", "9090", ":70000", ""] {
            assert!(listen(address).await.is_err(), "{address}");
        }
    }
}
