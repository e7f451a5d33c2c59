//! The body of a reply on its way to the client, with what goes wrong on that way.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};

use super::Content;
use super::fault::Kind;

pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// The content as a body that hyper sends.
pub(super) fn body(content: Content, fault: Option<&Kind>) -> Body {
    let pieces: Box<dyn Iterator<Item = Bytes> + Send> = match content {
        Content::Whole(bytes) => Box::new(std::iter::once(bytes).filter(|bytes| !bytes.is_empty())),
        Content::Pieces(pieces) => pieces,
    };
    match fault {
        Some(Kind::Truncate(after)) => boxed(truncated(pieces, *after)),
        Some(Kind::Corrupt) => boxed(stream::iter(corrupted(pieces).map(Ok))),
        Some(Kind::Slow { piece, pause }) => boxed(slow(pieces, *piece, *pause)),
        _ => boxed(stream::iter(pieces.map(Ok))),
    }
}

fn boxed(stream: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(stream.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

/// The first bytes, then an error, upon which hyper closes the connection.
fn truncated(
    pieces: Box<dyn Iterator<Item = Bytes> + Send>,
    after: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let mut left = after;
    let kept = pieces.map_while(move |mut piece| {
        if left == 0 {
            return None;
        }
        piece.truncate(left);
        left -= piece.len();
        Some(Ok(piece))
    });
    // The pause lets hyper send what it has before the error makes it close the connection.
    let end = stream::once(async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(io::Error::other("cut off on demand"))
    });
    stream::iter(kept).chain(end)
}

fn corrupted(pieces: Box<dyn Iterator<Item = Bytes> + Send>) -> impl Iterator<Item = Bytes> + Send {
    pieces.enumerate().map(|(index, piece)| {
        if index > 0 || piece.is_empty() {
            return piece;
        }
        let mut piece = piece.to_vec();
        let middle = piece.len() / 2;
        piece[middle] ^= 1;
        piece.into()
    })
}

fn slow(
    pieces: Box<dyn Iterator<Item = Bytes> + Send>,
    length: usize,
    pause: Duration,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let begin = (pieces, Bytes::new(), Duration::ZERO);
    stream::unfold(begin, move |(mut pieces, mut rest, wait)| async move {
        while rest.is_empty() {
            rest = pieces.next()?;
        }
        tokio::time::sleep(wait).await;
        let piece = rest.split_to(length.min(rest.len()));
        Some((Ok(piece), (pieces, rest, pause)))
    })
}
