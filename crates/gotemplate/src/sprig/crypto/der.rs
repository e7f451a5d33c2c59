//! The binary form of keys and certificates (DER), as much of it as they need, and its text form (PEM).

use super::super::encoding::{base64_decode, base64_encode};

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;

/// A part that is inside of others in a certain place.
pub(super) fn context(number: u8) -> u8 {
    0xa0 | number
}

/// A value with its tag and length.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let bytes = &bytes[length.leading_zeros() as usize / 8..];
        out.push(0x80 | bytes.len() as u8);
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(content);
    out
}

/// Values one after the other in one.
pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(SEQUENCE, &parts.concat())
}

/// A number that is not negative, out of its bytes.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let mut content = bytes[start..].to_vec();
    if content.first().is_none_or(|byte| *byte >= 0x80) {
        content.insert(0, 0);
    }
    value(INTEGER, &content)
}

/// Whole bytes of bits.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes].concat())
}

/// A value that was read: its tag, its content, all of it, and what follows.
type Read<'b> = (u8, &'b [u8], &'b [u8], &'b [u8]);

/// The first value of some bytes.
pub(super) fn read(bytes: &[u8]) -> Option<Read<'_>> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match *first {
        short @ 0..0x80 => (usize::from(short), rest),
        long => {
            let count = usize::from(long & 0x7f);
            let digits = rest.get(..count).filter(|_| (1..=4).contains(&count))?;
            let length = digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit));
            (length, &rest[count..])
        }
    };
    let content = rest.get(..length)?;
    let end = bytes.len() - rest.len() + length;
    Some((*tag, content, &bytes[..end], &bytes[end..]))
}

/// The contents of the first value, which has that tag, and what follows it.
pub(super) fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, _, rest) = read(bytes)?;
    (found == tag).then_some((content, rest))
}

/// A block of text with a label, in lines of 64 letters.
pub(super) fn pem(label: &str, bytes: &[u8]) -> String {
    let encoded = base64_encode(bytes);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in encoded.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// The first block of a text: its label and its bytes. Headers, as encrypted keys have them, are passed over.
pub(super) fn unpem(text: &str) -> Option<(String, Vec<u8>)> {
    let start = text.find("-----BEGIN ")? + "-----BEGIN ".len();
    let (label, rest) = text[start..].split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body = match body.trim_start().split_once("\n\n") {
        Some((headers, body)) if headers.contains(": ") => body,
        _ => body,
    };
    let letters: Vec<u8> = body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some((label.to_owned(), base64_decode(&letters).ok()?))
}
