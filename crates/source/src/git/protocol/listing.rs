//! References by the second version: a command of its own, of which a server need not keep any state.

use gix_hash::ObjectId;

use super::greeting::{Capabilities, id_and_rest};
use super::packets::{Packets, delimiter, flush, line};
use super::{AGENT, MAX_REFS};
use crate::git::error::Cause;
use crate::git::refs::Ref;

/// The request for all references that begin with one of the prefixes; with none, for all.
pub(in crate::git) fn request(capabilities: &Capabilities, prefixes: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    line(&mut out, "command=ls-refs");
    common(capabilities, &mut out);
    delimiter(&mut out);
    line(&mut out, "peel");
    for prefix in prefixes {
        line(&mut out, &format!("ref-prefix {prefix}"));
    }
    flush(&mut out);
    out
}

/// What goes with every command.
pub(super) fn common(capabilities: &Capabilities, out: &mut Vec<u8>) {
    if capabilities.has("agent") {
        line(out, &format!("agent={AGENT}"));
    }
    if capabilities.has("object-format") {
        line(out, "object-format=sha1");
    }
}

/// Reads the answer.
pub(in crate::git) async fn read(packets: &mut Packets<'_>) -> Result<Vec<Ref>, Cause> {
    let mut refs = Vec::new();
    loop {
        let Some(packet) = packets.next().await? else {
            // Without its end the list may be cut off.
            return Err(Cause::Disconnected(None));
        };
        let super::packets::Packet::Data(data) = packet else {
            return Ok(refs);
        };
        let line = super::packets::text(&data);
        if line.starts_with("unborn ") {
            continue;
        }
        let (id, rest) = id_and_rest(&line)?;
        let mut words = rest.split(' ');
        let mut found = Ref::new(words.next().unwrap_or_default(), id);
        let peeled = words.find_map(|word| word.strip_prefix("peeled:"));
        found.peeled = peeled.and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
        refs.push(found);
        if refs.len() > MAX_REFS {
            return Err(Cause::Limit {
                what: "references",
                limit: MAX_REFS as u64,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::tests::Pieces;
    use super::*;

    #[tokio::test]
    async fn references_are_read_with_what_tags_lead_to() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let mut bytes = Vec::new();
        line(&mut bytes, &format!("{one} refs/heads/main"));
        line(&mut bytes, &format!("{two} refs/tags/v1 peeled:{one}"));
        let cut = bytes.clone();
        flush(&mut bytes);
        let refs = read(&mut Packets::new(&mut Pieces::of(&bytes, 10)))
            .await
            .unwrap();
        assert_eq!(
            refs[0],
            Ref::new("refs/heads/main", ObjectId::from_hex(one.as_bytes()).unwrap())
        );
        assert_eq!(refs[1].target().to_string(), one);
        let error = read(&mut Packets::new(&mut Pieces::of(&cut, 10)))
            .await
            .unwrap_err();
        assert!(matches!(error, Cause::Disconnected(_)));
    }
}
