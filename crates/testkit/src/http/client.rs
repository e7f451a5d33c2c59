//! A small HTTP client for tests that want to see exactly what a server says: no redirects are followed, nothing is
//! retried, and each request has a connection of its own.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::Credential;
use crate::tls::{Authority, Identity};

/// A client. It trusts no one over TLS unless it is told to.
#[derive(Clone, Debug, Default)]
pub struct Client {
    tls: Option<Arc<rustls::ClientConfig>>,
    headers: HeaderMap,
}

/// An answer with its whole body.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header field, or the empty text.
    pub fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

impl Client {
    /// A client for plain HTTP.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts an authority and, if one is given, shows a certificate.
    pub fn tls(mut self, authority: &Authority, identity: Option<&Identity>) -> Self {
        self.tls = Some(Arc::new(authority.client_config(identity)));
        self
    }

    /// Sends a header field with each request.
    ///
    /// # Panics
    /// When the name or value cannot stand in a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: header::HeaderName = name
            .parse()
            .unwrap_or_else(|_| panic!("{name:?} is no header name"));
        self.headers.insert(
            name,
            value
                .parse()
                .unwrap_or_else(|_| panic!("{value:?} is no header value")),
        );
        self
    }

    /// Shows a credential with each request.
    pub fn credential(self, credential: &Credential) -> Self {
        self.header("authorization", &credential.authorization())
    }

    /// GET.
    ///
    /// # Errors
    /// When the server cannot be reached or breaks off.
    pub async fn get(&self, url: &str) -> io::Result<Response> {
        self.send(Method::GET, url, Bytes::new()).await
    }

    /// Any request.
    ///
    /// # Errors
    /// When the server cannot be reached or breaks off.
    pub async fn send(&self, method: Method, url: &str, body: impl Into<Bytes>) -> io::Result<Response> {
        let uri: Uri = url.parse().map_err(io::Error::other)?;
        let authority = uri
            .authority()
            .ok_or_else(|| io::Error::other("the address has no host"))?
            .clone();
        let secure = uri.scheme_str() == Some("https");
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, authority.as_str());
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
        }
        let request = request.body(Full::new(body.into())).map_err(io::Error::other)?;
        let host = authority.host().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, port)).await?;
        if !secure {
            return exchange(stream, request).await;
        }
        let config = self
            .tls
            .clone()
            .ok_or_else(|| io::Error::other("the client trusts no authority"))?;
        let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        exchange(TlsConnector::from(config).connect(name, stream).await?, request).await
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> io::Result<Response> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    connection.abort();
    Ok(Response {
        status: parts.status,
        headers: parts.headers,
        body,
    })
}
