//! A few HTTP/2 connections instead of one per watch.
//!
//! A server takes a limited number of streams on a connection, a hundred for Kubernetes, and watches hold theirs for
//! minutes. A client that puts everything on one connection stands still when that many watches are open. So requests are
//! spread over lanes, each a connection of its own with room for [`ROOM`] streams; a new lane is opened when all are full.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tower::{Service, ServiceExt};

/// So many requests share a connection.
const ROOM: usize = 80;

/// Spreads requests over several clients of one kind.
#[derive(Clone)]
pub(super) struct Lanes<S> {
    make: Arc<dyn Fn() -> S + Send + Sync>,
    lanes: Arc<Mutex<Vec<Lane<S>>>>,
}

#[derive(Clone)]
struct Lane<S> {
    service: S,
    streams: Arc<AtomicUsize>,
}

/// One stream of a lane, until it is dropped.
struct Stream(Arc<AtomicUsize>);

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<S: Clone> Lanes<S> {
    /// Each lane is made by `make`.
    pub(super) fn new(make: impl Fn() -> S + Send + Sync + 'static) -> Lanes<S> {
        Lanes {
            make: Arc::new(make),
            lanes: Arc::default(),
        }
    }

    /// The first lane with room.
    fn pick(&self) -> (S, Stream) {
        let mut lanes = self.lanes.lock();
        let free = lanes
            .iter()
            .position(|lane| lane.streams.load(Ordering::Acquire) < ROOM);
        let at = free.unwrap_or_else(|| {
            lanes.push(Lane {
                service: (self.make)(),
                streams: Arc::default(),
            });
            lanes.len() - 1
        });
        let lane = &lanes[at];
        lane.streams.fetch_add(1, Ordering::AcqRel);
        (lane.service.clone(), Stream(Arc::clone(&lane.streams)))
    }
}

impl<S, In, Out> Service<Request<In>> for Lanes<S>
where
    S: Service<Request<In>, Response = Response<Out>> + Clone + Send + 'static,
    S::Future: Send,
    In: Send + 'static,
{
    type Response = Response<Streamed<Out>>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<In>) -> Self::Future {
        let (service, stream) = self.pick();
        Box::pin(async move {
            let response = service.oneshot(request).await?;
            Ok(response.map(|body| Streamed {
                body,
                _stream: stream,
            }))
        })
    }
}

/// The body of an answer, which holds its stream until it is read or dropped.
pub(super) struct Streamed<B> {
    body: B,
    _stream: Stream,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Streamed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::Empty;
    use tower::service_fn;

    use super::*;

    #[tokio::test]
    async fn a_lane_is_opened_when_the_others_are_full_and_used_again_when_they_are_not() {
        let mut lanes = Lanes::new(|| {
            service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) })
        });
        let mut open = Vec::new();
        for _ in 0..=ROOM {
            open.push(lanes.call(Request::new(())).await.unwrap());
        }
        assert_eq!(lanes.lanes.lock().len(), 2);
        open.clear();
        for _ in 0..ROOM {
            open.push(lanes.call(Request::new(())).await.unwrap());
        }
        assert_eq!(lanes.lanes.lock().len(), 2);
        assert_eq!(lanes.lanes.lock()[1].streams.load(Ordering::Acquire), 0);
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_gives_its_stream_back() {
        let mut lanes = Lanes::new(|| {
            service_fn(|_: Request<()>| std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>())
        });
        drop(lanes.call(Request::new(())));
        assert_eq!(lanes.lanes.lock()[0].streams.load(Ordering::Acquire), 0);
    }
}
