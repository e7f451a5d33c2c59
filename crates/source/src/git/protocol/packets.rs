//! Packets: lines with their length in front, and the marks between them.

use bytes::{Bytes, BytesMut};

use crate::git::error::Cause;
use crate::git::transport::Chunks;

/// How much of a message of a server is shown.
const MAX_SHOWN: usize = 1000;

/// One packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::git) enum Packet {
    /// The end of a message.
    Flush,
    /// The end of a part of a message.
    Delimiter,
    /// The end of all that a server without state has to say.
    ResponseEnd,
    /// Data; lines end with a line feed that may be missing.
    Data(Bytes),
}

/// Packets as they come in.
pub(in crate::git) struct Packets<'a> {
    chunks: &'a mut dyn Chunks,
    buffer: BytesMut,
}

impl<'a> Packets<'a> {
    /// The packets in a stream.
    pub(in crate::git) fn new(chunks: &'a mut dyn Chunks) -> Self {
        Packets {
            chunks,
            buffer: BytesMut::new(),
        }
    }

    /// The next packet, or nothing at the end of the stream.
    pub(in crate::git) async fn next(&mut self) -> Result<Option<Packet>, Cause> {
        if !self.fill(4).await? {
            return match self.buffer.is_empty() {
                true => Ok(None),
                false => Err(Cause::Disconnected(None)),
            };
        }
        let length = length(&self.buffer[..4])?;
        match length {
            0..=2 => {
                let _ = self.buffer.split_to(4);
                return Ok(Some(
                    [Packet::Flush, Packet::Delimiter, Packet::ResponseEnd][length].clone(),
                ));
            }
            3 => return Err(Cause::protocol("a packet has the length 3")),
            _ => {}
        }
        if !self.fill(length).await? {
            return Err(Cause::Disconnected(None));
        }
        let data = self.buffer.split_to(length).freeze().slice(4..);
        if let Some(message) = data.strip_prefix(b"ERR ") {
            let message = String::from_utf8_lossy(message).trim_end().to_owned();
            return Err(refusal(message));
        }
        Ok(Some(Packet::Data(data)))
    }

    /// The next packet as a line without its end; marks are nothing.
    pub(in crate::git) async fn line(&mut self) -> Result<Option<String>, Cause> {
        Ok(match self.next().await? {
            Some(Packet::Data(data)) => Some(text(&data)),
            _ => None,
        })
    }

    async fn fill(&mut self, length: usize) -> Result<bool, Cause> {
        while self.buffer.len() < length {
            match self.chunks.chunk().await? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// A line without its end.
pub(super) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data)).into_owned()
}

/// What a server says before it gives up. Git servers say in words what HTTP servers say by a status.
pub(in crate::git) fn refusal(message: String) -> Cause {
    // Conditions are read in terminals, and no store of them takes zero bytes.
    let message: String = message.chars().take(MAX_SHOWN).collect();
    let message = message.replace(char::is_control, " ");
    let lower = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let missing = [
        "not found",
        "does not exist",
        "could not be found",
        "does not appear to be a git repository",
    ];
    if lower.contains("repository") && says(&missing) {
        Cause::NotFound
    } else if says(&["access denied", "permission denied", "unauthorized"]) {
        Cause::Authentication(message)
    } else {
        Cause::Refused(message)
    }
}

fn length(digits: &[u8]) -> Result<usize, Cause> {
    let digits = std::str::from_utf8(digits).ok();
    let is_hex = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let length = digits
        .filter(is_hex)
        .and_then(|text| usize::from_str_radix(text, 16).ok());
    length.ok_or_else(|| Cause::protocol("a packet does not begin with its length"))
}

/// Appends a line.
pub(super) fn line(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(format!("{:04x}{text}\n", text.len() + 5).as_bytes());
}

/// Appends the end of a part.
pub(super) fn delimiter(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0001");
}

/// Appends the end of a message.
pub(super) fn flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0000");
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use futures::future::BoxFuture;

    /// Bytes that come in pieces.
    pub(in crate::git::protocol) struct Pieces(pub(in crate::git::protocol) Vec<Bytes>);

    impl Pieces {
        pub(in crate::git::protocol) fn of(bytes: &[u8], size: usize) -> Self {
            Pieces(bytes.chunks(size).map(Bytes::copy_from_slice).rev().collect())
        }
    }

    impl Chunks for Pieces {
        fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, Cause>> {
            let next = self.0.pop();
            Box::pin(async move { Ok(next) })
        }
    }

    async fn read(bytes: &[u8], size: usize) -> Result<Vec<Packet>, Cause> {
        let mut pieces = Pieces::of(bytes, size);
        let mut packets = Packets::new(&mut pieces);
        let mut all = Vec::new();
        while let Some(packet) = packets.next().await? {
            all.push(packet);
        }
        Ok(all)
    }

    #[test]
    fn what_a_server_says_has_no_control_characters() {
        let told = refusal("no\0 \u{1b}[31mred\r\nline".to_owned()).to_string();
        assert!(!told.contains(char::is_control), "{told:?}");
        assert!(told.contains("no   [31mred  line"), "{told:?}");
    }

    #[tokio::test]
    async fn packets_are_put_together_from_pieces_of_any_size() {
        let mut bytes = Vec::new();
        line(&mut bytes, "one");
        delimiter(&mut bytes);
        bytes.extend_from_slice(b"00040002");
        flush(&mut bytes);
        for size in 1..=bytes.len() {
            let packets = read(&bytes, size).await.unwrap();
            let expected = [
                Packet::Data(Bytes::from_static(b"one\n")),
                Packet::Delimiter,
                Packet::Data(Bytes::new()),
                Packet::ResponseEnd,
                Packet::Flush,
            ];
            assert_eq!(packets, expected);
        }
    }

    #[tokio::test]
    async fn broken_packets_are_errors() {
        for (bytes, expected) in [
            (&b"0009on"[..], "closed the connection"),
            (b"00", "closed the connection"),
            (b"0003", "length 3"),
            (b"<!DOCTYPE", "does not begin with its length"),
            (b"+00a1234567", "does not begin with its length"),
            (b"000eERR no way", "the server refused: no way"),
            (
                b"0034ERR upload-pack: Repository not found or private",
                "repository not found",
            ),
        ] {
            let error = read(bytes, 3).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_a_server_sends_makes_it_panic(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
            framed in proptest::bool::ANY,
        ) {
            let mut sent = Vec::new();
            if framed {
                sent.extend_from_slice(format!("{:04x}", bytes.len() + 4).as_bytes());
            }
            sent.extend_from_slice(&bytes);
            flush(&mut sent);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let _ = read(&sent, 7).await;
                let _ = super::super::Greeting::read(&mut Packets::new(&mut Pieces::of(&sent, 7))).await;
                let _ = super::super::read_listing(&mut Packets::new(&mut Pieces::of(&sent, 7))).await;
                let mut pieces = Pieces::of(&sent, 7);
                let _ = super::super::Pack::new(Packets::new(&mut pieces)).piece().await;
            });
        }
    }
}
