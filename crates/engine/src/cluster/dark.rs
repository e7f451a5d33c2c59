//! A server that does not answer holds up one request at a time and nobody else.
//!
//! Each request to a server that is cut off takes as long as a connection or an answer may: half a minute, or one. With thousands of
//! objects to ask about, whoever asks would be held up for hours. So once a request was in vain for [`LONG`], and nothing was heard of the
//! server meanwhile, others fail for the same reason without being sent. One at a time, a [`PACE`] apart, is sent all the same; the first
//! that is answered, with whatever, ends it. What fails quickly holds nobody up and is no reason.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::error::Error;

/// What fails sooner than this holds nobody up.
const LONG: Duration = Duration::from_secs(5);

/// A server that does not answer is tried this often at most.
const PACE: Duration = Duration::from_secs(1);

/// Whether a server answers.
#[derive(Default)]
pub(super) struct Darkness {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the server was last heard.
    heard: Option<Instant>,
    dark: Option<Dark>,
}

/// Nothing was heard of the server for long.
struct Dark {
    /// Why the last request was in vain.
    error: Error,
    /// When that was.
    tried: Instant,
    /// Whether a request is under way to find out whether it is over.
    probed: bool,
}

/// A request that is sent.
pub(super) struct Sent<'a> {
    darkness: &'a Darkness,
    started: Instant,
    probes: bool,
}

impl Darkness {
    /// A request is about to be sent, as soon as it is its turn; or why it is not.
    pub(super) fn enter(&self, what: &dyn std::fmt::Display) -> Result<Sent<'_>, Error> {
        let mut state = self.state.lock();
        let probes = match &mut state.dark {
            Some(dark) if dark.probed || dark.tried.elapsed() < PACE => return Err(dark.error.about(what)),
            Some(dark) => {
                dark.probed = true;
                true
            }
            None => false,
        };
        Ok(Sent {
            darkness: self,
            started: Instant::now(),
            probes,
        })
    }

    /// The server has answered.
    pub(super) fn heard(&self) {
        let mut state = self.state.lock();
        state.heard = Some(Instant::now());
        state.dark = None;
    }
}

impl<'a> Sent<'a> {
    /// It is its turn; or it has become dark while it has waited for it.
    pub(super) fn now(mut self, what: &dyn std::fmt::Display) -> Result<Sent<'a>, Error> {
        if !self.probes {
            return self.darkness.enter(what);
        }
        self.started = Instant::now();
        Ok(self)
    }

    /// Tells how the request ended.
    pub(super) fn ended<T>(self, result: &Result<T, Error>) {
        let error = match result {
            Err(error @ (Error::Transport { .. } | Error::Timeout { .. })) => error,
            _ => return self.darkness.heard(),
        };
        let mut state = self.darkness.state.lock();
        let is_long = self.started.elapsed() >= LONG;
        let was_heard = state.heard.is_some_and(|heard| heard >= self.started);
        if state.dark.is_some() || (is_long && !was_heard) {
            let probed = state.dark.as_ref().is_some_and(|dark| dark.probed);
            state.dark = Some(Dark {
                error: error.clone(),
                tried: Instant::now(),
                probed,
            });
        }
    }
}

impl Drop for Sent<'_> {
    /// Also one that was given up does not probe any more.
    fn drop(&mut self) {
        let dark = &mut self.darkness.state.lock().dark;
        if let Some(dark) = dark.as_mut().filter(|_| self.probes) {
            dark.probed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use futures::future::join_all;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;

    use super::super::{Cluster, Resource};
    use super::*;

    /// A server that hangs for as long as it is told to; requests about `stuck` always hang.
    #[derive(Clone, Default)]
    struct Server {
        hangs: Arc<AtomicBool>,
        asked: Arc<AtomicUsize>,
    }

    impl Server {
        fn cluster(&self) -> Cluster {
            let server = self.clone();
            let service = tower::service_fn(move |request: Request<Body>| {
                server.asked.fetch_add(1, Ordering::SeqCst);
                let hangs = server.hangs.load(Ordering::SeqCst) || request.uri().path().ends_with("stuck");
                async move {
                    if hangs {
                        std::future::pending::<()>().await;
                    }
                    Ok::<_, std::convert::Infallible>(Response::new(Body::from(b"{}".to_vec())))
                }
            });
            Cluster::new(Client::new(service, "default"))
        }

        fn asked(&self) -> usize {
            self.asked.swap(0, Ordering::SeqCst)
        }
    }

    fn config_maps() -> Resource {
        Resource {
            group: "".into(),
            version: "v1".into(),
            kind: "ConfigMap".into(),
            plural: "configmaps".into(),
            namespaced: true,
            watchable: true,
        }
    }

    /// How many of so many requests at once are answered, and how long all of them take.
    async fn ask(cluster: &Cluster, many: usize) -> (usize, Duration) {
        let (kind, began) = (config_maps(), Instant::now());
        let answers = join_all((0..many).map(|_| cluster.get(&kind, "shop", "a"))).await;
        let answered = answers.iter().filter(|answer| answer.is_ok()).count();
        (answered, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_holds_up_few_and_is_found_when_it_is_back() {
        let server = Server::default();
        let cluster = server.cluster();
        server.hangs.store(true, Ordering::SeqCst);
        let (answered, took) = ask(&cluster, 1_000).await;
        assert_eq!(answered, 0);
        assert!(took < Duration::from_secs(70), "{took:?}");
        assert!(server.asked() <= 8, "all that were queued share the failure");
        let error = cluster.get(&config_maps(), "shop", "b").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed to get ConfigMap/shop/b: no answer within 60s"
        );
        // One at a time is sent, and the others do not wait for it, also when no more may be in flight any more.
        for _ in 0..4 {
            tokio::time::advance(PACE).await;
            let probing = cluster.clone();
            let probe = tokio::spawn(async move { ask(&probing, 1).await });
            tokio::task::yield_now().await;
            let (answered, took) = ask(&cluster, 1_000).await;
            assert_eq!((answered, took, server.asked()), (0, Duration::ZERO, 1));
            probe.await.unwrap();
        }
        assert_eq!(cluster.concurrency(), 1);
        let (answered, took) = ask(&cluster, 1_000).await;
        assert_eq!((answered, took), (0, Duration::ZERO));
        tokio::time::advance(PACE).await;
        let (answered, took) = ask(&cluster, 1_000).await;
        assert_eq!((answered, took), (0, Duration::from_secs(60)));
        server.hangs.store(false, Ordering::SeqCst);
        tokio::time::advance(PACE).await;
        assert_eq!(ask(&cluster, 1).await.0, 1);
        assert_eq!(ask(&cluster, 1_000).await.0, 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_given_up_lets_the_next_one_go() {
        let server = Server::default();
        let cluster = server.cluster();
        server.hangs.store(true, Ordering::SeqCst);
        ask(&cluster, 1).await;
        tokio::time::advance(PACE).await;
        let kind = config_maps();
        let probe = tokio::time::timeout(PACE, cluster.get(&kind, "shop", "a"));
        assert!(probe.await.is_err());
        server.hangs.store(false, Ordering::SeqCst);
        assert_eq!(ask(&cluster, 1).await.0, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_that_hangs_is_no_reason_while_others_are_answered() {
        let server = Server::default();
        let cluster = server.cluster();
        let kind = config_maps();
        let stuck = async { cluster.get(&kind, "shop", "stuck").await };
        let other = async {
            tokio::time::sleep(LONG).await;
            ask(&cluster, 1).await
        };
        let (stuck, other) = tokio::join!(stuck, other);
        assert!(stuck.is_err() && other.0 == 1);
        assert_eq!(ask(&cluster, 100).await.0, 100);
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_at_once_is_no_reason() {
        let darkness = Darkness::default();
        let failed = Err::<(), _>(super::super::send::transport("get it", "refused"));
        let sent = darkness
            .enter(&"get it")
            .unwrap_or_else(|error| panic!("{error}"));
        sent.ended(&failed);
        let sent = darkness
            .enter(&"get it")
            .unwrap_or_else(|error| panic!("{error}"));
        tokio::time::advance(LONG).await;
        sent.ended(&failed);
        let why = darkness.enter(&"list it").err().unwrap();
        assert_eq!(why.to_string(), "failed to list it: no connection: refused");
    }
}
