//! The HTTP server of the store: the files, and nothing else.
//!
//! `GET /` answers 200, which readiness probes ask for; directories are not listed. Names that begin with a dot, lock files
//! and whatever links lead out of the store to are not found.

mod answer;
mod conditions;
mod range;

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How long requests that are under way may take once the server shall stop.
const LAST_REQUESTS: Duration = Duration::from_secs(5);
/// How long a client may take to say what it wants, and an idle connection stays open.
const SILENCE: Duration = Duration::from_secs(60);
/// What to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);
const MOST_CONNECTIONS: usize = 4096;

/// Serves the files below `root` until `shutdown` is ready, then answers what is under way and returns.
///
/// # Errors
/// Where the directory is not there.
pub async fn serve(
    root: impl Into<PathBuf>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let root: Arc<PathBuf> = Arc::new(tokio::fs::canonicalize(root.into()).await?);
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let permit = tokio::select! {
            () = &mut shutdown => break,
            permit = Arc::clone(&room).acquire_owned() => permit,
        };
        let stream = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "no connection is accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let connection = connection(stream, Arc::clone(&root), &graceful);
        connections.spawn(async move {
            connection.await;
            drop(permit);
        });
    }
    drop(listener);
    // What takes longer is cut off when the connections are dropped.
    let _ = tokio::time::timeout(LAST_REQUESTS, graceful.shutdown()).await;
    Ok(())
}

fn connection(
    stream: TcpStream,
    root: Arc<PathBuf>,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + 'static {
    let service = service_fn(move |request| {
        let root = Arc::clone(&root);
        async move { Ok::<_, Infallible>(answer::answer(&root, &request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENCE);
    builder.http2().timer(TokioTimer::new());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection.into_owned());
    async move {
        if let Err(error) = connection.await {
            tracing::debug!(error, "a connection to the artifact server ended early");
        }
    }
}
