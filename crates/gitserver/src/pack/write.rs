//! Writing packs. Objects are written whole: deltas are an economy that tests do not need.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use crate::object::{Kind, Object};

/// A pack of these objects.
pub(crate) fn write<'a>(objects: impl ExactSizeIterator<Item = &'a Object>) -> Vec<u8> {
    let count = u32::try_from(objects.len()).expect("a repository in memory has fewer than 2^32 objects");
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&count.to_be_bytes());
    for object in objects {
        entry_header(&mut pack, object);
        let mut encoder = ZlibEncoder::new(pack, Compression::fast());
        encoder.write_all(&object.data).expect("a vector takes all bytes");
        pack = encoder.finish().expect("a vector takes all bytes");
    }
    let checksum = Sha1::digest(&pack);
    pack.extend_from_slice(&checksum);
    pack
}

/// Type and length: four bits of the length beside the type, then seven bits in each byte.
fn entry_header(pack: &mut Vec<u8>, object: &Object) {
    let kind = match object.kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut length = object.data.len();
    let mut byte = (kind << 4) | (length & 0x0f) as u8;
    length >>= 4;
    while length > 0 {
        pack.push(byte | 0x80);
        byte = (length & 0x7f) as u8;
        length >>= 7;
    }
    pack.push(byte);
}
