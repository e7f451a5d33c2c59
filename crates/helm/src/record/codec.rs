//! Records as text: JSON, packed by gzip, in base64.

use std::io::{Read, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::{Error, Record};

/// How much JSON a record may unpack to. An object of the API holds 1 MiB, of which a hostile one could make a thousand times
/// as much.
pub const MAX_JSON: usize = 64 << 20;

/// What stands at the beginning of what gzip has packed.
const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The text that the object of a release holds.
pub fn encode(record: &Record) -> String {
    let json = record.to_json();
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packer.write_all(&json).and_then(|()| packer.finish());
    STANDARD.encode(packed.expect("a Vec takes all"))
}

/// Reads such a text. What was stored before Helm packed releases is read too.
pub fn decode(text: &[u8]) -> Result<Record, Error> {
    decode_within(text, MAX_JSON)
}

fn decode_within(text: &[u8], limit: usize) -> Result<Record, Error> {
    if text.len() > limit {
        return Err(Error::Large(limit));
    }
    let text: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !b"\r\n".contains(byte))
        .collect();
    let bytes = STANDARD.decode(text).map_err(|_| Error::Base64)?;
    if !bytes.starts_with(&GZIP) {
        return Record::from_json(&bytes);
    }
    let mut json = Vec::new();
    let mut unpacker = GzDecoder::new(bytes.as_slice()).take(limit as u64 + 1);
    let unpacked = unpacker.read_to_end(&mut json);
    unpacked.map_err(|_| Error::Gzip)?;
    if json.len() > limit {
        return Err(Error::Large(limit));
    }
    Record::from_json(&json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(json: &[u8]) -> String {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(json).unwrap();
        STANDARD.encode(packer.finish().unwrap())
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let record = Record {
            name: "web".into(),
            namespace: "shop".into(),
            version: 3,
            manifest: "kind: <A>\n".into(),
            ..Record::default()
        };
        assert_eq!(decode(encode(&record).as_bytes()).unwrap(), record);
        let plain = STANDARD.encode(record.to_json());
        assert_eq!(decode(plain.as_bytes()).unwrap(), record);
    }

    #[test]
    fn hostile_texts_end_early() {
        assert!(matches!(decode(b"%"), Err(Error::Base64)));
        assert!(matches!(
            decode(STANDARD.encode([0x1f, 0x8b, 8, 0, 1]).as_bytes()),
            Err(Error::Gzip)
        ));
        assert!(matches!(
            decode(STANDARD.encode("[").as_bytes()),
            Err(Error::Json(_))
        ));
        assert!(matches!(
            decode(STANDARD.encode("[]").as_bytes()),
            Err(Error::Field { .. })
        ));
        let bomb = pack(&vec![b' '; 100_001]);
        assert!(bomb.len() < 10_000);
        assert!(matches!(
            decode_within(bomb.as_bytes(), 100_000),
            Err(Error::Large(_))
        ));
        let nested = pack(&vec![b'['; 100_000]);
        assert!(matches!(decode(nested.as_bytes()), Err(Error::Json(_))));
    }
}
