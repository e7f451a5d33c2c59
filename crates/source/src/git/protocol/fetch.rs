//! Asking for a pack, and reading the answer up to its end.

use bytes::Bytes;
use gix_hash::ObjectId;

use super::AGENT;
use super::greeting::Capabilities;
use super::listing::common;
use super::packets::{Packet, Packets, delimiter, flush, line, refusal, text};
use crate::git::error::Cause;

/// The packets beside the pack, such as messages about its progress, and their bytes. We ask for none, and servers that say
/// something all the same are brief.
const MAX_ASIDE: (u64, u64) = (10_000, 1 << 20);

/// What is asked for. All is said in one request: what we have is so little that it needs no negotiation.
#[derive(Clone, Debug, Default)]
pub(in crate::git) struct Plan {
    /// The objects wanted.
    pub(in crate::git) wants: Vec<ObjectId>,
    /// The commits that we have, each without its history.
    pub(in crate::git) haves: Vec<ObjectId>,
    /// Whether the history is wanted too.
    pub(in crate::git) history: bool,
}

impl Plan {
    /// The request in version 2.
    pub(in crate::git) fn second(&self, capabilities: &Capabilities) -> Vec<u8> {
        let mut out = Vec::new();
        line(&mut out, "command=fetch");
        common(capabilities, &mut out);
        delimiter(&mut out);
        // Only for thin packs do servers leave out what is in the trees of commits that we have without their history.
        for word in ["thin-pack", "ofs-delta", "no-progress"] {
            line(&mut out, word);
        }
        self.wants
            .iter()
            .for_each(|id| line(&mut out, &format!("want {id}")));
        self.shallow(capabilities.offers("fetch", "shallow"), &mut out);
        self.haves
            .iter()
            .for_each(|id| line(&mut out, &format!("have {id}")));
        line(&mut out, "done");
        flush(&mut out);
        out
    }

    /// The request in versions 0 and 1.
    ///
    /// # Errors
    /// Where the server cannot tell the pack from what else it says.
    pub(in crate::git) fn old(&self, capabilities: &Capabilities) -> Result<Vec<u8>, Cause> {
        if !capabilities.has("side-band-64k") {
            return Err(Cause::protocol("it does not offer side-band-64k"));
        }
        let mut words = vec!["side-band-64k".to_owned()];
        let wanted = ["multi_ack_detailed", "thin-pack", "ofs-delta", "no-progress"];
        words.extend(
            wanted
                .iter()
                .filter(|word| capabilities.has(word))
                .map(ToString::to_string),
        );
        let can_be_shallow = capabilities.has("shallow");
        if can_be_shallow {
            words.push("shallow".to_owned());
        }
        if capabilities.has("agent") {
            words.push(format!("agent={AGENT}"));
        }
        let mut out = Vec::new();
        for (index, id) in self.wants.iter().enumerate() {
            match index {
                0 => line(&mut out, &format!("want {id} {}", words.join(" "))),
                _ => line(&mut out, &format!("want {id}")),
            }
        }
        self.shallow(can_be_shallow, &mut out);
        flush(&mut out);
        self.haves
            .iter()
            .for_each(|id| line(&mut out, &format!("have {id}")));
        line(&mut out, "done");
        Ok(out)
    }

    fn shallow(&self, can_be_shallow: bool, out: &mut Vec<u8>) {
        if !can_be_shallow {
            return;
        }
        self.haves
            .iter()
            .for_each(|id| line(out, &format!("shallow {id}")));
        if !self.history {
            line(out, "deepen 1");
        }
    }
}

/// The pack in an answer, piece by piece.
pub(in crate::git) struct Pack<'a> {
    packets: Packets<'a>,
    has_begun: bool,
    /// The packets beside the pack so far, and their bytes.
    aside: (u64, u64),
}

impl<'a> Pack<'a> {
    /// The pack in what these packets say.
    pub(in crate::git) fn new(packets: Packets<'a>) -> Self {
        Pack {
            packets,
            has_begun: false,
            aside: (0, 0),
        }
    }

    /// The next piece, or nothing at its end. A pack that does not end in good order is an error.
    pub(in crate::git) async fn piece(&mut self) -> Result<Option<Bytes>, Cause> {
        while let Some(packet) = self.packets.next().await? {
            let data = match packet {
                Packet::Data(data) => data,
                _ if self.has_begun => return Ok(None),
                _ => Bytes::new(),
            };
            match data.first() {
                Some(1) => {
                    self.has_begun = true;
                    return Ok(Some(data.slice(1..)));
                }
                Some(3) => return Err(refusal(text(&data[1..]).trim_end().to_owned())),
                // Progress, acknowledgements, the names of sections and where our history ends now.
                _ => self.count_aside(data.len())?,
            }
        }
        match self.has_begun {
            // Version 2 and side bands end with a mark.
            true => Err(Cause::Disconnected(None)),
            false => Err(Cause::protocol("it sent no pack")),
        }
    }

    /// Counts a packet beside the pack.
    fn count_aside(&mut self, bytes: usize) -> Result<(), Cause> {
        self.aside.0 += 1;
        self.aside.1 += bytes as u64;
        let (packets, bytes) = MAX_ASIDE;
        match self.aside {
            (count, _) if count > packets => Err(Cause::protocol(format!(
                "it sent more than {packets} messages beside the pack"
            ))),
            (_, length) if length > bytes => Err(Cause::protocol(format!(
                "its messages beside the pack have more than {bytes} bytes"
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::tests::Pieces;
    use super::*;

    async fn pack(bytes: &[u8]) -> Result<Vec<u8>, Cause> {
        let mut all = Vec::new();
        let mut pieces = Pieces::of(bytes, 9);
        let mut pack = Pack::new(Packets::new(&mut pieces));
        while let Some(piece) = pack.piece().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn the_pack_is_taken_out_of_what_else_is_said() {
        let mut bytes = Vec::new();
        line(&mut bytes, "shallow-info");
        line(&mut bytes, &format!("shallow {}", "1".repeat(40)));
        delimiter(&mut bytes);
        line(&mut bytes, "packfile");
        bytes.extend_from_slice(b"0009\x02half0009\x01PACK0007\x01ab");
        let cut = bytes.clone();
        flush(&mut bytes);
        assert_eq!(pack(&bytes).await.unwrap(), b"PACKab");
        assert!(matches!(pack(&cut).await.unwrap_err(), Cause::Disconnected(_)));
    }

    #[tokio::test]
    async fn what_a_server_says_instead_of_a_pack_is_told() {
        let error = pack(b"0008NAK\n0011\x03out of luck\n0000").await.unwrap_err();
        let told = error.to_string();
        assert!(
            told.starts_with("the server refused: out of luck: check"),
            "{told}"
        );
        assert!(
            pack(b"0008NAK\n0000")
                .await
                .unwrap_err()
                .to_string()
                .contains("no pack")
        );
    }

    #[tokio::test]
    async fn messages_beside_the_pack_have_limits() {
        let of = |count: usize, length: usize| {
            let packet = format!("{:04x}\x02{}", length + 5, "m".repeat(length));
            let mut bytes = packet.repeat(count).into_bytes();
            bytes.extend_from_slice(b"0009\x01PACK");
            bytes.extend(packet.repeat(count).bytes());
            flush(&mut bytes);
            bytes
        };
        assert_eq!(pack(&of(5_000, 10)).await.unwrap(), b"PACK");
        for (bytes, expected) in [
            (of(5_001, 10), "more than 10000 messages"),
            (of(10, 60_000), "more than 1048576 bytes"),
            (b"0001".repeat(10_001), "more than 10000 messages"),
        ] {
            let error = pack(&bytes).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[tokio::test]
    async fn a_long_message_of_a_server_is_cut() {
        let message = "m".repeat(60_000);
        let bytes = format!("{:04x}\x03{message}0000", message.len() + 5);
        let error = pack(bytes.as_bytes()).await.unwrap_err().to_string();
        assert!(error.contains("mmm") && error.len() < 2000, "{}", error.len());
    }

    #[test]
    fn old_servers_are_asked_only_for_what_they_offer() {
        let id = ObjectId::from_hex("1".repeat(40).as_bytes()).unwrap();
        let plan = Plan {
            wants: vec![id],
            haves: vec![id],
            history: false,
        };
        assert!(plan.old(&Capabilities::default()).is_err());
    }
}
