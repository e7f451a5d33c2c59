//! References by the second version: a command of its own, of which a server need not keep any state.

use gix_hash::ObjectId;

use super::AGENT;
use super::greeting::{Capabilities, id_and_rest};
use super::packets::{Packets, delimiter, flush, line};
use crate::git::error::Cause;
use crate::git::refs::Ref;

/// The most references that a list may have.
const MAX_REFS: usize = 1_000_000;
/// The most bytes that all lines of a list may have together.
const MAX_LIST: usize = 64 << 20;
/// The most bytes that the name of a reference may have. Git itself writes names to files, whose paths are no longer.
const MAX_NAME: usize = 4 << 10;

/// A list of references as it is read, within limits.
#[derive(Default)]
pub(super) struct List {
    pub(super) refs: Vec<Ref>,
    /// The bytes of all lines.
    bytes: usize,
}

impl List {
    /// Counts a line of the list.
    pub(super) fn count(&mut self, line: &str) -> Result<(), Cause> {
        self.bytes += line.len() + 1;
        at_most(self.bytes, MAX_LIST, "bytes in its list of references")
    }

    /// Adds a reference.
    pub(super) fn add(&mut self, found: Ref) -> Result<(), Cause> {
        at_most(found.name.len(), MAX_NAME, "bytes in the name of a reference")?;
        self.refs.push(found);
        at_most(self.refs.len(), MAX_REFS, "references")
    }
}

/// Refuses what is more than a limit.
pub(super) fn at_most(found: usize, limit: usize, what: &'static str) -> Result<(), Cause> {
    match found > limit {
        true => Err(Cause::Limit {
            what,
            limit: limit as u64,
        }),
        false => Ok(()),
    }
}

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
    let mut list = List::default();
    loop {
        let Some(packet) = packets.next().await? else {
            // Without its end the list may be cut off.
            return Err(Cause::Disconnected(None));
        };
        let super::packets::Packet::Data(data) = packet else {
            return Ok(list.refs);
        };
        let line = super::packets::text(&data);
        list.count(&line)?;
        if line.starts_with("unborn ") {
            continue;
        }
        let (id, rest) = id_and_rest(&line)?;
        let mut words = rest.split(' ');
        let mut found = Ref::new(words.next().unwrap_or_default(), id);
        let peeled = words.find_map(|word| word.strip_prefix("peeled:"));
        found.peeled = peeled.and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
        list.add(found)?;
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
    #[tokio::test]
    async fn lists_have_limits() {
        let one = "1".repeat(40);
        let listed = |names: &mut dyn Iterator<Item = String>| {
            let mut bytes = Vec::new();
            names.for_each(|name| line(&mut bytes, &format!("{one} {name}")));
            flush(&mut bytes);
            bytes
        };
        let longest = |number: usize| format!("{number:05}{}", "n".repeat(MAX_NAME - 5));
        let fit = MAX_LIST / (MAX_NAME + 42);
        for (bytes, expected) in [
            (
                listed(&mut std::iter::once(longest(1) + "n")),
                "more than 4096 bytes in the name of a reference",
            ),
            (
                listed(&mut (0..=fit).map(longest)),
                "more than 67108864 bytes in its list of references",
            ),
        ] {
            let mut pieces = Pieces::of(&bytes, 1 << 16);
            let error = read(&mut Packets::new(&mut pieces)).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let bytes = listed(&mut (0..fit).map(longest));
        let mut pieces = Pieces::of(&bytes, 1 << 16);
        let refs = read(&mut Packets::new(&mut pieces)).await.unwrap();
        assert_eq!(refs.len(), fit);
    }
}
