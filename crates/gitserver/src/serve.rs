//! The server: connections in, answers out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::repositories::Repositories;
use super::smart_http::Access;

/// How many may ask at once.
const MOST_CONNECTIONS: usize = 64;
/// How long a client may take to say what it wants.
const SILENCE: Duration = Duration::from_secs(30);
/// The longest request: what a client tells of the commits that it has.
const LONGEST_REQUEST: usize = 16 << 20;

impl Repositories {
    /// Answers until the future is dropped.
    pub async fn serve(self, access: Access, listener: TcpListener) {
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
            let repositories = self.clone();
            let service = service_fn(move |request| respond(repositories.clone(), access, request));
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

async fn respond(
    repositories: Repositories,
    access: Access,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LONGEST_REQUEST).collect().await else {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        return Ok(response);
    };
    let request = Request::from_parts(head, body.to_bytes());
    // Packing a large tree takes a while: others are answered meanwhile.
    let answered = tokio::task::spawn_blocking(move || repositories.answer(access, &request)).await;
    let response = answered.unwrap_or_else(|_| {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    });
    Ok(response.map(Full::from))
}
