//! Keeps an instance that does not lead any more from writing.
//!
//! Runs are cut off when their process ends or loses its lease. A request that was sent before that is still on its way, and the server
//! may execute it after another instance has taken over. All writes of a process therefore go through one fence: it knows which are under
//! way, and lets no more pass once it is closed. A lease may be released when the fence is closed and nothing is under way.
//!
//! A write outlives its caller, so each has a deadline of its own. Tenants choose the servers of other clusters: these may hold up only
//! so many writes each, and never keep a lease from being released. Their answers have a largest size and a deadline for the last byte. Dry runs change nothing and pass beside the fence.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};
use tower::{BoxError, service_fn};

/// The longest time that a server has to answer a write, or to begin the answer to a read of another cluster: a little more than the
/// engine waits.
const DEADLINE: Duration = Duration::from_secs(65);

/// The longest time that another cluster has to finish an answer.
const LAST_BYTE: Duration = Duration::from_secs(120);

/// The size of the largest answer of another cluster: a page of definitions is tens of megabytes.
const LARGEST_ANSWER: usize = 128 * 1024 * 1024;

/// How many writes to one other cluster may be under way: as many as the engine sends at a time.
const MOST_REMOTE: usize = 256;

/// How long an aborted write takes to end.
const ABORT: Duration = Duration::from_secs(1);

/// Where the writes of a process pass. Clones are the same fence.
#[derive(Clone)]
pub struct Fence {
    writes: Arc<watch::Sender<Writes>>,
    /// The limits of other clusters that are in use, by their names.
    limits: Arc<Mutex<HashMap<String, Weak<Semaphore>>>>,
}

#[derive(Default)]
struct Writes {
    is_closed: bool,
    /// Writes to other clusters are aborted.
    is_aborted: bool,
    /// How many the server has not answered.
    under_way: usize,
    /// The time until which each lease of this process is held, if nothing renews it.
    held_until: HashMap<String, Instant>,
}

impl Writes {
    fn are_open(&self) -> bool {
        let now = Instant::now();
        !self.is_closed && self.held_until.values().all(|until| *until > now)
    }
}

/// A write was not sent.
#[derive(Debug, thiserror::Error)]
#[error("not sent: this instance has ended its work, or is not the leader any more")]
pub struct Closed;

/// A request that was sent has failed. A write may have been executed all the same.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("the server has not answered within {DEADLINE:?}")]
    Late,
    #[error("the server has not finished its answer within {LAST_BYTE:?}")]
    Unfinished,
    #[error("aborted: this instance ends, and the server has not answered")]
    Aborted,
}

/// A write that is under way.
struct Write(Arc<watch::Sender<Writes>>);

impl Drop for Write {
    fn drop(&mut self) {
        self.0.send_modify(|writes| writes.under_way -= 1);
    }
}

impl Default for Fence {
    fn default() -> Self {
        Fence {
            writes: Arc::new(watch::Sender::new(Writes::default())),
            limits: Arc::default(),
        }
    }
}

impl Fence {
    /// The same client, whose writes pass through the fence. A write that was sent is waited for although its caller is gone.
    pub fn guard(&self, client: Client) -> Client {
        self.guarded(client, None)
    }

    /// The same for a client of another cluster. All clients of the same cluster share its limit.
    pub fn guard_remote(&self, client: Client, cluster: &str) -> Client {
        let mut limits = self.limits.lock();
        let limit = limits.get(cluster).and_then(Weak::upgrade);
        let limit = limit.unwrap_or_else(|| {
            limits.retain(|_, limit| limit.strong_count() > 0);
            let limit = Arc::new(Semaphore::new(MOST_REMOTE));
            limits.insert(cluster.to_owned(), Arc::downgrade(&limit));
            limit
        });
        self.guarded(client, Some(limit))
    }

    fn guarded(&self, client: Client, remote: Option<Arc<Semaphore>>) -> Client {
        let (fence, namespace) = (self.clone(), client.default_namespace().to_owned());
        let service = service_fn(move |request: Request<Body>| {
            let (fence, client, remote) = (fence.clone(), client.clone(), remote.clone());
            async move {
                let (is_remote, is_watch) = (remote.is_some(), is_watch(request.uri()));
                let answer = match (changes_nothing(&request), is_remote) {
                    (false, _) => fence.write(client, request, remote).await,
                    (true, false) => client.send(request).await,
                    (true, true) => {
                        let answer = timeout(DEADLINE, client.send(request)).await;
                        answer.unwrap_or_else(|_| Err(failed(Unanswered::Late)))
                    }
                };
                // A watch goes on for minutes, and its reader limits each event.
                let is_bounded = is_remote && !is_watch;
                answer.map(|answer| {
                    answer.map(|body| match is_bounded {
                        true => bounded(body),
                        false => body.map_err(BoxError::from).boxed_unsync(),
                    })
                })
            }
        });
        Client::new(service, namespace)
    }

    async fn write(
        &self,
        client: Client,
        request: Request<Body>,
        remote: Option<Arc<Semaphore>>,
    ) -> kube::Result<http::Response<Body>> {
        let is_remote = remote.is_some();
        // Whoever waits here has sent nothing, and waits no longer than its caller.
        let permit = match remote {
            Some(limit) => limit.acquire_owned().await.ok(),
            None => None,
        };
        let Some(write) = self.begin() else {
            return Err(failed(Closed));
        };
        let mut writes = self.writes.subscribe();
        let sent = tokio::spawn(async move {
            let aborted = async {
                match is_remote {
                    true => drop(writes.wait_for(|writes| writes.is_aborted).await),
                    false => std::future::pending().await,
                }
            };
            let answer = tokio::select! {
                answer = timeout(DEADLINE, client.send(request)) => {
                    answer.unwrap_or_else(|_| Err(failed(Unanswered::Late)))
                }
                () = aborted => Err(failed(Unanswered::Aborted)),
            };
            drop((write, permit));
            answer
        });
        sent.await.unwrap_or_else(|error| Err(failed(error)))
    }

    fn begin(&self) -> Option<Write> {
        let mut is_open = false;
        self.writes.send_if_modified(|writes| {
            is_open = writes.are_open();
            writes.under_way += usize::from(is_open);
            is_open
        });
        is_open.then(|| Write(Arc::clone(&self.writes)))
    }

    /// Lets writes pass until this time, unless the lease is renewed before. A process that was stopped for a while may write before it
    /// notices that it has lost its lease.
    pub fn held_until(&self, lease: &str, until: Instant) {
        self.writes.send_if_modified(|writes| {
            writes.held_until.insert(lease.to_owned(), until);
            false
        });
    }

    /// Lets no more writes pass.
    pub fn close(&self) {
        self.writes.send_modify(|writes| writes.is_closed = true);
    }

    /// Waits until no write is under way, for at most this long, and aborts writes to other clusters then. Returns whether none is
    /// under way any more.
    pub async fn quiet(&self, limit: Duration) -> bool {
        if self.is_quiet_within(limit).await {
            return true;
        }
        self.writes.send_modify(|writes| writes.is_aborted = true);
        self.is_quiet_within(ABORT).await
    }

    async fn is_quiet_within(&self, limit: Duration) -> bool {
        let mut writes = self.writes.subscribe();
        let quiet = writes.wait_for(|writes| writes.under_way == 0);
        // The sender is here: this only fails by the time that it takes.
        matches!(timeout(limit, quiet).await, Ok(Ok(_)))
    }
}

/// An answer of another cluster, which ends with an error when it is too large or not finished in time.
fn bounded(body: Body) -> UnsyncBoxBody<Bytes, BoxError> {
    let deadline = Instant::now() + LAST_BYTE;
    let frames =
        futures::stream::try_unfold(Limited::new(body, LARGEST_ANSWER), move |mut body| async move {
            match timeout_at(deadline, body.frame()).await {
                Ok(Some(frame)) => frame.map(|frame| Some((frame, body))),
                Ok(None) => Ok(None),
                Err(_) => Err(BoxError::from(Unanswered::Unfinished)),
            }
        });
    StreamBody::new(frames).boxed_unsync()
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> kube::Error {
    kube::Error::Service(Box::new(error))
}

/// Whether a request reads, or only tries what a write would do.
fn changes_nothing<B>(request: &Request<B>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) || is_dry_run(request.uri())
}

fn is_dry_run(uri: &Uri) -> bool {
    has_parameter(uri, "dryRun=All")
}

fn is_watch(uri: &Uri) -> bool {
    ["watch=true", "watch=1"]
        .iter()
        .any(|watch| has_parameter(uri, watch))
}

fn has_parameter(uri: &Uri, wanted: &str) -> bool {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    parameters.any(|parameter| parameter == wanted)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::{StreamExt as _, stream};
    use http::Response;
    use http_body::Frame;

    use super::*;

    /// A client whose requests are answered as soon as there is a permit.
    fn slow(permits: &Arc<Semaphore>) -> Client {
        let permits = Arc::clone(permits);
        let service = service_fn(move |_: Request<Body>| {
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await.map(|permit| permit.forget())?;
                Ok::<_, tokio::sync::AcquireError>(Response::new(Body::empty()))
            }
        });
        Client::new(service, "default")
    }

    fn request(method: Method) -> Request<Body> {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        request
    }

    /// A process that was stopped for longer than its lease wrote before the task ran that notices the loss.
    #[tokio::test(start_paused = true)]
    async fn nothing_is_sent_once_a_lease_has_run_out() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(9)));
        let client = fence.guard(slow(&permits));
        let send = async || client.send(request(Method::PATCH)).await.map(drop);
        send().await.unwrap();
        let soon = Instant::now() + Duration::from_secs(35);
        fence.held_until("one", soon);
        fence.held_until("other", soon + Duration::from_secs(5));
        send().await.unwrap();
        tokio::time::advance(Duration::from_secs(36)).await;
        let told = super::super::chain(&send().await.unwrap_err());
        assert!(told.contains("is not the leader any more"), "{told}");
        fence.held_until("one", soon + Duration::from_secs(35));
        send().await.unwrap();
    }

    /// The client below the fence sent requests again after the lease was lost.
    #[tokio::test(start_paused = true)]
    async fn what_is_sent_again_passes_the_fence_again() {
        let (fence, sent) = (Fence::default(), Arc::new(AtomicUsize::new(0)));
        let (closes, counts) = (fence.clone(), Arc::clone(&sent));
        let busy = service_fn(move |_: Request<Body>| {
            counts.fetch_add(1, Ordering::Relaxed);
            closes.close();
            let mut response = Response::new(Body::empty());
            *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
            async move { Ok::<_, BoxError>(response) }
        });
        let client = engine::cluster::patient(fence.guard(Client::new(busy, "default")));
        let told = super::super::chain(&client.send(request(Method::PATCH)).await.unwrap_err());
        assert!(told.contains("is not the leader any more"), "{told}");
        assert_eq!(sent.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_is_waited_for_and_nothing_is_sent_after_that() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(0)));
        let client = fence.guard(slow(&permits));
        let caller = client.clone();
        let caller = tokio::spawn(async move { caller.send(request(Method::PATCH)).await.map(drop) });
        let mut writes = fence.writes.subscribe();
        writes.wait_for(|writes| writes.under_way == 1).await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        fence.close();
        assert!(!fence.quiet(Duration::from_secs(60)).await, "it is on its way");
        let refused = client.send(request(Method::POST)).await.unwrap_err();
        let told = super::super::chain(&refused);
        assert!(told.contains("not the leader any more"), "{told}");
        permits.add_permits(1);
        assert!(fence.quiet(Duration::from_secs(60)).await);
        permits.add_permits(1);
        client.send(request(Method::GET)).await.unwrap();
    }

    /// Starts as many writes, and ends their callers when they wait for the server.
    async fn abandon(fence: &Fence, client: &Client, count: usize) {
        let callers: Vec<_> = (0..count)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.send(request(Method::PATCH)).await.map(drop) })
            })
            .collect();
        // No timer ends before all of them have got as far as they can.
        tokio::time::sleep(Duration::from_secs(1)).await;
        callers.iter().for_each(tokio::task::JoinHandle::abort);
        assert!(fence.writes.borrow().under_way > 0);
    }

    /// A server that answers no write kept its tasks, bodies and connections forever.
    #[tokio::test(start_paused = true)]
    async fn a_write_that_is_never_answered_ends() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(0)));
        let client = fence.guard(slow(&permits));
        abandon(&fence, &client, 10).await;
        assert_eq!(fence.writes.borrow().under_way, 10);
        assert!(fence.quiet(DEADLINE).await);
        let late = client.send(request(Method::PATCH)).await.unwrap_err();
        let told = super::super::chain(&late);
        assert!(told.contains("has not answered within 65s"), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn another_cluster_holds_up_so_many_writes_and_no_lease() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(0)));
        let clients = [0, 1].map(|_| fence.guard_remote(slow(&permits), "team/https://evil.example"));
        for client in &clients {
            abandon(&fence, client, MOST_REMOTE).await;
        }
        assert_eq!(fence.writes.borrow().under_way, MOST_REMOTE);
        // Other clusters are not held up by it.
        let other = fence.guard_remote(slow(&permits), "team/https://good.example");
        abandon(&fence, &other, 1).await;
        assert_eq!(fence.writes.borrow().under_way, MOST_REMOTE + 1);
        fence.close();
        assert!(
            fence.quiet(Duration::from_secs(10)).await,
            "a lease can be released"
        );
        drop((clients, other));
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(fence.guard_remote(slow(&permits), "another"));
        assert_eq!(
            fence.limits.lock().len(),
            1,
            "clusters that nobody uses are forgotten"
        );
    }

    /// A server of a tenant that answers no request kept the worker that had asked it.
    #[tokio::test(start_paused = true)]
    async fn another_cluster_has_to_answer_what_is_read() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(0)));
        let client = fence.guard_remote(slow(&permits), "team/https://evil.example");
        let late = client.send(request(Method::GET)).await.unwrap_err();
        let told = super::super::chain(&late);
        assert!(told.contains("has not answered within 65s"), "{told}");
    }

    /// A client whose answers have these frames.
    fn dripping(frames: impl Fn() -> stream::BoxStream<'static, Bytes> + Clone + Send + 'static) -> Client {
        let service = service_fn(move |_: Request<Body>| {
            let frames = frames().map(|bytes| Ok::<_, BoxError>(Frame::data(bytes)));
            let answer = Response::new(StreamBody::new(frames));
            async move { Ok::<_, BoxError>(answer) }
        });
        Client::new(service, "default")
    }

    /// A server of a tenant that sends a byte now and then kept the worker that read it.
    #[tokio::test(start_paused = true)]
    async fn answers_of_another_cluster_end() {
        let fence = Fence::default();
        let slow = dripping(|| {
            let drops = stream::unfold((), |()| async {
                tokio::time::sleep(Duration::from_secs(10)).await;
                Some((Bytes::from_static(b" "), ()))
            });
            drops.boxed()
        });
        let large = dripping(|| stream::repeat(Bytes::from_static(&[b' '; 1024 * 1024])).boxed());
        for (client, expected) in [
            (slow, "finished its answer within 120s"),
            (large, "length limit exceeded"),
        ] {
            let client = fence.guard_remote(client, "team/https://evil.example");
            for method in [Method::GET, Method::PATCH] {
                let answer = client.send(request(method)).await.unwrap();
                let error = answer.into_body().collect().await.unwrap_err();
                let shown = super::super::chain(&error);
                assert!(shown.contains(expected), "{shown}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn watches_of_another_cluster_go_on() {
        let frames = || {
            let frames = stream::iter(0..20).then(|_| async {
                tokio::time::sleep(Duration::from_secs(10)).await;
                Bytes::from_static(b"{}\n")
            });
            frames.boxed()
        };
        let client = Fence::default().guard_remote(dripping(frames), "team/https://good.example");
        let mut watch = request(Method::GET);
        *watch.uri_mut() = Uri::from_static("/api/v1/pods?watch=true");
        let answer = client.send(watch).await.unwrap();
        let read = answer.into_body().collect().await.unwrap();
        assert_eq!(read.to_bytes().len(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn dry_runs_pass_beside_the_fence() {
        let (fence, permits) = (Fence::default(), Arc::new(Semaphore::new(0)));
        let client = fence.guard(slow(&permits));
        let dry_run = || {
            let mut request = request(Method::PATCH);
            *request.uri_mut() =
                Uri::from_static("/api/v1/namespaces/x?fieldManager=y&dryRun=All&force=true");
            client.send(request)
        };
        assert!(
            timeout(Duration::from_secs(1), dry_run()).await.is_err(),
            "it goes on"
        );
        assert_eq!(fence.writes.borrow().under_way, 0);
        fence.close();
        permits.add_permits(1);
        dry_run().await.unwrap();
        for query in ["dryRun=", "xdryRun=All", "a=dryRun=All", ""] {
            assert!(!is_dry_run(&format!("/api?{query}").parse().unwrap()), "{query}");
        }
    }
}
