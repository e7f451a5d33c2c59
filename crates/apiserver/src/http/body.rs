use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use http_body::Frame;

/// The body of an answer: whole, or a watch that goes on.
pub struct Body(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    /// A body that is all there.
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Body(Kind::Whole((!bytes.is_empty()).then_some(bytes)))
    }

    /// The same body with its text changed; what comes piece by piece stays as it is.
    pub(crate) fn map(self, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        match self.0 {
            Kind::Whole(Some(bytes)) => Body::whole(change(&bytes)),
            other => Body(other),
        }
    }

    /// A body that comes piece by piece.
    pub(crate) fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Body(Kind::Stream(Box::pin(stream)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Stream(stream) => stream
                .as_mut()
                .poll_next(cx)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Kind::Whole(None))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => {
                http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64))
            }
            Kind::Stream(_) => http_body::SizeHint::default(),
        }
    }
}
