//! From the entries of a pack to objects: deltas are resolved against other entries and against the objects that the
//! repository has.

use std::collections::HashMap;

use bytes::Bytes;

use super::delta;
use super::scan::{Base, Entry, Scanner};
use crate::object::{Id, Object};

/// What is wrong with a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    #[error("the bytes are not a pack")]
    NotAPack,
    #[error("an entry of the pack is malformed")]
    BadEntry,
    #[error("an object of the pack is too large")]
    TooLarge,
    #[error("a delta of the pack is malformed")]
    BadDelta,
    #[error("the pack's checksum is wrong")]
    Checksum,
    #[error("the pack has {0} deltas without a base")]
    MissingBase(usize),
}

/// The objects of a complete pack. `existing` finds objects that a thin pack builds on.
pub(crate) fn read(scanner: Scanner, existing: impl Fn(Id) -> Option<Object>) -> Result<Vec<Object>, Error> {
    let mut resolver = Resolver::default();
    let mut ready = Vec::new();
    for entry in scanner.into_entries() {
        match &entry.base {
            Base::None(kind) => ready.push((Some(entry.offset), Object::new(*kind, entry.data))),
            Base::Offset(offset) => resolver.by_offset.entry(*offset).or_default().push(entry),
            Base::Id(id) => {
                // Deltas on the repository's own objects begin a chain, as whole objects do.
                let wait = resolver.by_id.entry(*id).or_default();
                if wait.is_empty() {
                    ready.extend(existing(*id).map(|object| (None, object)));
                }
                wait.push(entry);
            }
        }
    }
    resolver.resolve(ready)
}

/// The deltas that wait for their bases.
#[derive(Default)]
struct Resolver {
    by_offset: HashMap<u64, Vec<Entry>>,
    by_id: HashMap<Id, Vec<Entry>>,
}

impl Resolver {
    /// Resolves what builds on these objects, then what builds on that, and so on. Objects of the repository have no
    /// offset and are not part of the result.
    fn resolve(mut self, mut ready: Vec<(Option<u64>, Object)>) -> Result<Vec<Object>, Error> {
        let mut objects = Vec::new();
        while let Some((offset, object)) = ready.pop() {
            let waiting = offset
                .and_then(|offset| self.by_offset.remove(&offset))
                .unwrap_or_default();
            let more = self.by_id.remove(&object.id()).unwrap_or_default();
            for entry in waiting.into_iter().chain(more) {
                let data = delta::apply(&object.data, &entry.data)?;
                ready.push((Some(entry.offset), Object::new(object.kind, Bytes::from(data))));
            }
            if offset.is_some() {
                objects.push(object);
            }
        }
        match self
            .by_offset
            .values()
            .chain(self.by_id.values())
            .map(Vec::len)
            .sum()
        {
            0 => Ok(objects),
            left => Err(Error::MissingBase(left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha1::{Digest, Sha1};

    use super::*;
    use crate::object::Kind;
    use crate::pack::write;

    fn parse(
        pack: &[u8],
        piece: usize,
        existing: impl Fn(Id) -> Option<Object>,
    ) -> Result<Vec<Object>, Error> {
        let mut scanner = Scanner::default();
        let mut complete = false;
        for piece in pack.chunks(piece) {
            complete = scanner.feed(piece)?;
        }
        assert!(complete, "the pack's end was not found");
        read(scanner, existing)
    }

    /// A pack of entries that are written by hand: header bytes and uncompressed content.
    fn pack(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
        use std::io::Write;
        let mut pack = b"PACK\0\0\0\x02\0\0\0".to_vec();
        pack.push(entries.len() as u8);
        for (header, content) in entries {
            pack.extend_from_slice(header);
            let mut encoder = flate2::write::ZlibEncoder::new(pack, flate2::Compression::default());
            encoder.write_all(content).unwrap();
            pack = encoder.finish().unwrap();
        }
        let sum = Sha1::digest(&pack);
        pack.extend_from_slice(&sum);
        pack
    }

    const TO_HELLO_THERE: &[u8] = b"\x05\x0b\x90\x05\x06 there";

    #[test]
    fn a_delta_may_come_before_its_base_and_stand_on_another_delta() {
        let hello = Object::new(Kind::Blob, "hello");
        let there = Object::new(Kind::Blob, "hello there");
        let again: &[u8] = b"\x0b\x0c\x90\x0b\x01!";
        let on_there = [&[0x76], &there.id().0[..]].concat();
        let on_hello = [&[0x7b], &hello.id().0[..]].concat();
        let pack = pack(&[
            (&on_there, again),
            (&on_hello, TO_HELLO_THERE),
            (&[0x35], b"hello"),
        ]);
        let mut texts: Vec<_> = parse(&pack, 7, |_| None)
            .unwrap()
            .into_iter()
            .map(|object| object.data)
            .collect();
        texts.sort();
        assert_eq!(texts, ["hello", "hello there", "hello there!"]);
    }

    #[test]
    fn a_thin_pack_builds_on_what_the_repository_has() {
        let hello = Object::new(Kind::Blob, "hello");
        let pack = pack(&[(&[&[0x7b], &hello.id().0[..]].concat(), TO_HELLO_THERE)]);
        let objects = parse(&pack, 1000, |id| (id == hello.id()).then(|| hello.clone())).unwrap();
        assert_eq!(objects, [Object::new(Kind::Blob, "hello there")]);
        assert_eq!(parse(&pack, 1000, |_| None), Err(Error::MissingBase(1)));
    }

    #[test]
    fn an_offset_delta_finds_the_entry_before_it() {
        let first = pack(&[(&[0x35], b"hello")]).len() - 12 - 20;
        let pack = pack(&[(&[0x35], b"hello"), (&[0x6b, first as u8], TO_HELLO_THERE)]);
        assert_eq!(parse(&pack, 3, |_| None).unwrap().len(), 2);
    }

    #[test]
    fn a_wrong_bit_is_noticed() {
        let good = write([Object::new(Kind::Blob, "hello".repeat(20))].iter());
        for index in 0..good.len() {
            let mut bad = good.clone();
            bad[index] ^= 1;
            let mut scanner = Scanner::default();
            assert_ne!(scanner.feed(&bad), Ok(true), "byte {index}");
        }
    }

    proptest! {
        #[test]
        fn a_pack_is_read_back_however_it_arrives(contents: Vec<Vec<u8>>, piece in 1..200_usize) {
            let mut objects: Vec<_> = contents.into_iter().map(|data| Object::new(Kind::Blob, data)).collect();
            let pack = write(objects.iter());
            let mut read = parse(&pack, piece, |_| None).unwrap();
            objects.sort_by_key(Object::id);
            read.sort_by_key(Object::id);
            prop_assert_eq!(read, objects);
        }

        #[test]
        fn hostile_bytes_never_panic(bytes: Vec<u8>, count: u8) {
            let mut scanner = Scanner::default();
            if scanner.feed(&[b"PACK\0\0\0\x02\0\0\0", &[count][..], &bytes].concat()) == Ok(true) {
                let _ = read(scanner, |_| None);
            }
        }
    }
}
