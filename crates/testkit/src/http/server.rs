//! The listener.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Deref;
use std::sync::Arc;

use http::{HeaderValue, Method, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::body::{Body, body};
use super::fault::{Faults, Kind};
use super::log::Log;
use super::{Content, Credential, Fault, Record, Reply, Request, Thread, access};
use crate::tls::{Authority, Identity, LOOPBACK, Validity};

/// The longest request body that is read, so that a mistake in a test does not eat all memory.
const BODY_LIMIT: usize = 1 << 30;

/// What answers requests. Closures do. One request is answered at a time, so that an answer must not wait for another
/// request to the same server.
pub trait Service: Send + Sync + 'static {
    /// The answer to a request.
    fn reply(&self, request: &Request) -> Reply;
}

impl<F: Fn(&Request) -> Reply + Send + Sync + 'static> Service for F {
    fn reply(&self, request: &Request) -> Reply {
        self(request)
    }
}

/// How a server is started.
#[derive(Debug)]
pub struct Builder<S> {
    pub(crate) service: S,
    identity: Option<Identity>,
    clients: Option<Authority>,
    credentials: Vec<Credential>,
}

impl<S: Service> Builder<S> {
    /// A server that anyone may ask, without TLS.
    pub fn new(service: S) -> Self {
        Self {
            service,
            identity: None,
            clients: None,
            credentials: Vec::new(),
        }
    }

    /// Lets this user in. With several calls each of them is let in.
    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.credentials.push(Credential::basic(user, password));
        self
    }

    /// Lets the holder of this token in.
    pub fn bearer(mut self, token: &str) -> Self {
        self.credentials.push(Credential::bearer(token));
        self
    }

    /// Speaks TLS with a certificate that the authority issues for this machine's loopback names.
    pub fn tls(self, authority: &Authority) -> Self {
        self.identity(authority.server(&LOOPBACK, Validity::Current))
    }

    /// Speaks TLS with a given certificate.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Insists on a client certificate of this authority. Needs TLS.
    pub fn client_certificates(mut self, authority: &Authority) -> Self {
        self.clients = Some(authority.clone());
        self
    }

    /// Starts the server on a free loopback port.
    ///
    /// # Panics
    /// When the machine has no free port, or client certificates are wanted without TLS.
    pub fn start(self) -> Server<S> {
        assert!(
            self.clients.is_none() || self.identity.is_some(),
            "client certificates need a server with TLS"
        );
        let listener = listen();
        listener
            .set_nonblocking(true)
            .expect("a fresh socket can be switched");
        let address = listener.local_addr().expect("a bound socket has an address");
        let tls = self
            .identity
            .map(|identity| identity.server_config(self.clients.as_ref()));
        let tls = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let shared = Arc::new(Shared {
            service: self.service,
            scheme,
            credentials: Mutex::new(self.credentials),
            faults: Faults::default(),
            log: Log::default(),
        });
        let serving = shared.clone();
        let thread = Thread::run("testkit-http", move || accept(listener, tls, serving));
        Server {
            shared,
            address,
            _thread: thread,
        }
    }
}

/// A socket on a free loopback port whose number has no `401` in it: Flux takes these digits anywhere in a message, and so in
/// an address too, for a refusal of credentials. Tests that hold us against it would fail on one port of two hundred.
fn listen() -> TcpListener {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
    let told_as_refusal = |listener: &TcpListener| {
        let address = listener.local_addr().expect("a bound socket has an address");
        address.port().to_string().contains("401")
    };
    // What is refused stays bound meanwhile, so that it is not offered again.
    let mut refused = Vec::new();
    loop {
        let listener = bind();
        if !told_as_refusal(&listener) {
            return listener;
        }
        refused.push(listener);
    }
}

/// A running server. It stops when it is dropped. It has the methods of its service too.
#[derive(Debug)]
pub struct Server<S> {
    shared: Arc<Shared<S>>,
    address: SocketAddr,
    _thread: Thread,
}

impl<S> Deref for Server<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.shared.service
    }
}

impl<S: Service> Server<S> {
    /// Starts a server for a service, without credentials or TLS.
    pub fn serve(service: S) -> Self {
        Builder::new(service).start()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address, such as `http://127.0.0.1:40321`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.shared.scheme, self.address)
    }

    /// Its host and port, as an image reference begins.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Record> {
        self.shared.log.records()
    }

    /// How many requests so far have this method and a path that contains this part.
    pub fn count(&self, method: Method, part: &str) -> usize {
        self.requests()
            .iter()
            .filter(|record| record.method == method && record.path.contains(part))
            .count()
    }

    /// Forgets what was asked so far.
    pub fn forget_requests(&self) {
        self.shared.log.clear();
    }

    /// Changes with each request that is answered: what [`crate::settled()`] waits on.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.shared.log.changes()
    }

    /// Makes something go wrong.
    pub fn fail(&self, fault: Fault) {
        self.shared.faults.push(fault);
    }

    /// Ends all faults.
    pub fn heal(&self) {
        self.shared.faults.clear();
    }

    /// From now on lets in whoever shows one of these; with none of them, everyone.
    pub fn accept_only(&self, credentials: &[Credential]) {
        *self.shared.credentials.lock() = credentials.to_vec();
    }
}

#[derive(Debug)]
struct Shared<S> {
    service: S,
    scheme: &'static str,
    credentials: Mutex<Vec<Credential>>,
    faults: Faults,
    log: Log,
}

async fn accept<S: Service>(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared<S>>) {
    let listener =
        tokio::net::TcpListener::from_std(listener).expect("the runtime takes a nonblocking socket");
    loop {
        // A connection that failed before it was accepted concerns only its client.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        tokio::spawn(connection(stream, tls.clone(), shared.clone()));
    }
}

/// Serves one connection. Its errors are the client's business: it sees them too.
async fn connection<S: Service>(stream: TcpStream, tls: Option<TlsAcceptor>, shared: Arc<Shared<S>>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { answer(&shared, request).await }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    match tls {
        None => {
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        }
        Some(tls) => {
            let Ok(stream) = tls.accept(stream).await else {
                return;
            };
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        }
    }
}

async fn answer<S: Service>(
    shared: &Shared<S>,
    request: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Body>> {
    let (parts, incoming) = request.into_parts();
    let (method, uri, headers) = (parts.method, parts.uri, parts.headers);
    let mut request = Request {
        method,
        uri,
        headers,
        body: Default::default(),
        scheme: shared.scheme,
    };
    match Limited::new(incoming, BODY_LIMIT).collect().await {
        Ok(collected) => request.body = collected.to_bytes(),
        Err(error) => return Err(io::Error::other(error)),
    }
    let fault = shared.faults.take(&request);
    match &fault {
        Some(Kind::Drop) => {
            shared.log.push(Record::new(&request, None));
            return Err(io::Error::other("dropped on demand"));
        }
        Some(Kind::Hang) => {
            shared.log.push(Record::new(&request, None));
            let never: Infallible = std::future::pending().await;
            match never {}
        }
        Some(Kind::Delay(by)) => tokio::time::sleep(*by).await,
        _ => {}
    }
    let faulty = fault.as_ref().and_then(|fault| fault.answer(&request));
    let refused = || access::refusal(&shared.credentials.lock(), &request);
    let reply = faulty
        .or_else(refused)
        .unwrap_or_else(|| shared.service.reply(&request));
    shared.log.push(Record::new(&request, Some(reply.status)));
    Ok(response(reply, &request.method, fault.as_ref()))
}

fn response(reply: Reply, method: &Method, fault: Option<&Kind>) -> hyper::Response<Body> {
    let Reply {
        status,
        mut headers,
        mut content,
    } = reply;
    if let Content::Whole(bytes) = &content
        && !headers.contains_key(header::CONTENT_LENGTH)
        && status != http::StatusCode::NO_CONTENT
    {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    if method == Method::HEAD {
        content = Content::Whole(Default::default());
    }
    let mut response = hyper::Response::new(body(content, fault));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
