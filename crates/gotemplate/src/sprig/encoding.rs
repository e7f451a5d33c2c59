//! Base 64, base 32 and digests.

use sha1::Digest;

use super::{STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "b64enc",
            Function::new(&[STR], |call| {
                let text = base64_encode(call.bytes(0));
                made(call, text.into_bytes())
            }),
        )
        .insert(
            "b64dec",
            Function::new(&[STR], |call| {
                let decoded = decode(call.bytes(0), &BASE64);
                made(
                    call,
                    decoded.unwrap_or_else(|at| corrupt("base64", at).into_bytes()),
                )
            }),
        )
        .insert(
            "b32enc",
            Function::new(&[STR], |call| {
                let text = encode(call.bytes(0), &BASE32);
                made(call, text.into_bytes())
            }),
        )
        .insert(
            "b32dec",
            Function::new(&[STR], |call| {
                let decoded = decode(call.bytes(0), &BASE32);
                made(
                    call,
                    decoded.unwrap_or_else(|at| corrupt("base32", at).into_bytes()),
                )
            }),
        )
        .insert(
            "sha1sum",
            Function::new(&[STR], |call| {
                hex(call, |bytes| sha1::Sha1::digest(bytes).to_vec())
            }),
        )
        .insert(
            "sha256sum",
            Function::new(&[STR], |call| {
                hex(call, |bytes| sha2::Sha256::digest(bytes).to_vec())
            }),
        )
        .insert(
            "sha512sum",
            Function::new(&[STR], |call| {
                hex(call, |bytes| sha2::Sha512::digest(bytes).to_vec())
            }),
        )
        .insert(
            "adler32sum",
            Function::new(&[STR], |call| Ok(Value::str(adler32(call.bytes(0)).to_string()))),
        );
}

fn hex(call: &mut Call<'_, '_>, digest: fn(&[u8]) -> Vec<u8>) -> Result<Value, Error> {
    use std::fmt::Write;
    let mut text = String::with_capacity(128);
    for byte in digest(call.bytes(0)) {
        // A String takes all that is written.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Value::str(text))
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut a, mut b) = (1_u32, 0_u32);
    // So many sums fit before the remainder must be taken.
    for chunk in bytes.chunks(5_552) {
        for byte in chunk {
            a += u32::from(*byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

/// A code of some bits per letter, in groups that are filled up with `=`.
struct Code {
    letters: &'static [u8],
    bits: u32,
    group: usize,
}

const BASE64: Code = Code {
    letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    bits: 6,
    group: 4,
};

const BASE32: Code = Code {
    letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    bits: 5,
    group: 8,
};

fn encode(bytes: &[u8], code: &Code) -> String {
    let mut out = String::with_capacity(bytes.len() * 8 / code.bits as usize + code.group);
    for chunk in bytes.chunks(code.group * code.bits as usize / 8) {
        let mut buffer = [0_u8; 8];
        buffer[..chunk.len()].copy_from_slice(chunk);
        let number = u64::from_be_bytes(buffer);
        let used = (chunk.len() * 8).div_ceil(code.bits as usize);
        for index in 0..code.group {
            if index < used {
                let shift = 64 - code.bits * (index as u32 + 1);
                let letter = (number >> shift) as usize & (code.letters.len() - 1);
                out.push(char::from(code.letters[letter]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// `base64.StdEncoding.EncodeToString`
pub(super) fn base64_encode(bytes: &[u8]) -> String {
    encode(bytes, &BASE64)
}

/// `base64.StdEncoding.DecodeString`, or where it goes wrong.
pub(super) fn base64_decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    decode(text, &BASE64)
}

fn corrupt(name: &str, at: usize) -> String {
    format!("illegal {name} data at input byte {at}")
}

/// What `DecodeString` says to a text that is wrong there.
pub(super) fn base64_error(at: usize) -> Error {
    Error::new(corrupt("base64", at))
}

/// Reads groups; line ends anywhere are passed over. The error is the place of the first letter that is wrong.
fn decode(text: &[u8], code: &Code) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() * code.bits as usize / 8);
    let letters: Vec<(usize, u8)> = text
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let mut groups = letters.chunks(code.group);
    while let Some(group) = groups.next() {
        let mut number = 0_u64;
        let mut count = 0;
        for (at, letter) in group {
            if *letter == b'=' {
                break;
            }
            let digit = code.letters.iter().position(|known| known == letter).ok_or(*at)?;
            number = number << code.bits | digit as u64;
            count += 1;
        }
        let padded = &group[count..];
        let end = group.last().map_or(text.len(), |(at, _)| at + 1);
        if group.len() < code.group {
            return Err(match padded.first() {
                // Go counts back from the end, whatever line ends are between.
                None if code.group == 4 => text.len() - count,
                None => group[0].0,
                Some((at, _)) if count < 2 => *at,
                Some(_) => text.len(),
            });
        }
        if !padded.is_empty() {
            let rest = groups.next().map(|group| group[0].0);
            check_padding(code, padded, count, rest, end)?;
        }
        let bits = count * code.bits as usize;
        let bytes = (number << (64 - bits)).to_be_bytes();
        out.extend_from_slice(&bytes[..bits / 8]);
    }
    Ok(out)
}

fn check_padding(
    code: &Code,
    padded: &[(usize, u8)],
    count: usize,
    rest: Option<usize>,
    end: usize,
) -> Result<(), usize> {
    let fits = match code.group {
        4 => matches!(count, 2 | 3),
        _ => matches!(count, 2 | 4 | 5 | 7),
    };
    if !fits {
        return Err(padded[0].0);
    }
    if let Some((at, _)) = padded.iter().find(|(_, letter)| *letter != b'=') {
        // Go names the place before it.
        return Err(at - 1);
    }
    match rest {
        Some(at) if code.group == 4 => Err(at.max(end)),
        _ => Ok(()),
    }
}
