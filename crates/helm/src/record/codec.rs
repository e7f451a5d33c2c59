//! Records as text: JSON, packed by gzip, in base64.

use std::io::{self, Read, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::{Error, Record};

/// How much JSON a record may unpack to. An object of the API holds 1 MiB, of which a hostile one could make a thousand times
/// as much.
pub const MAX_JSON: usize = 64 << 20;

/// The bytes that are unpacked at once.
const PART: usize = 64 << 10;

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
    let mut json = Vec::new();
    unpack(text, MAX_JSON, |part| json.extend_from_slice(part))?;
    Record::from_json(&json)
}

/// Returns the memory that reading such a text takes, about and at most: its JSON, and the record with all values in it. Nothing that is
/// unpacked for that is kept.
pub(super) fn memory(text: &[u8]) -> Result<usize, Error> {
    let mut memory = 0;
    unpack(text, MAX_JSON, |part| {
        memory += part.len() + model::json::memory(part)
    })?;
    Ok(memory)
}

/// Unpacks a text part by part.
fn unpack(text: &[u8], limit: usize, mut each: impl FnMut(&[u8])) -> Result<(), Error> {
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
        each(&bytes);
        return Ok(());
    }
    let mut unpacker = GzDecoder::new(bytes.as_slice());
    let (mut part, mut size) = (vec![0; PART], 0);
    loop {
        match unpacker.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                size += read;
                if size > limit {
                    return Err(Error::Large(limit));
                }
                each(&part[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Error::Gzip),
        }
    }
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
    fn the_memory_of_a_text_is_known_before_it_is_read() {
        let json = format!(r#"{{"config":{{"a":[{}0]}}}}"#, "0,".repeat(1_000_000));
        let packed = pack(json.as_bytes());
        assert!(packed.len() < 50_000);
        let memory = memory(packed.as_bytes()).unwrap();
        assert!((48_000_000..60_000_000).contains(&memory), "{memory}");
        assert!(decode(packed.as_bytes()).unwrap().config.is_some());
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
            unpack(bomb.as_bytes(), 100_000, |_| ()),
            Err(Error::Large(_))
        ));
        let nested = pack(&vec![b'['; 100_000]);
        assert!(matches!(decode(nested.as_bytes()), Err(Error::Json(_))));
    }
}
