//! The header of an age file: version, stanzas, MAC.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::Error;

const VERSION: &[u8] = b"age-encryption.org/v1\n";
/// The prefix of all versions.
const ANY_VERSION: &[u8] = b"age-encryption.org/";
/// Full lines of a stanza's body have this length; a shorter one is the last.
const LINE: usize = 64;
/// The most stanzas a header may have.
const MAX_STANZAS: usize = 1000;

/// The header of a file.
pub(super) struct Header<'a> {
    pub(super) stanzas: Vec<Stanza<'a>>,
    /// The part of the file that the MAC is over.
    pub(super) authenticated: &'a [u8],
    pub(super) mac: Vec<u8>,
}

/// The file key, encrypted for one recipient.
pub(super) struct Stanza<'a> {
    pub(super) tag: &'a str,
    pub(super) arguments: Vec<&'a str>,
    pub(super) body: Vec<u8>,
}

impl<'a> Header<'a> {
    /// Splits a file into its header and the payload.
    pub(super) fn parse(file: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let mut rest = file.strip_prefix(VERSION).ok_or_else(|| {
            if file.starts_with(ANY_VERSION) {
                Error::Version
            } else {
                Error::Broken
            }
        })?;
        let mut stanzas = Vec::new();
        loop {
            let line = take_line(&mut rest)?;
            if let Some(mac) = line.strip_prefix("--- ") {
                let end = file.len() - rest.len() - 1 - mac.len() - 1;
                let header = Header {
                    stanzas,
                    authenticated: &file[..end],
                    mac: decode(mac)?,
                };
                return Ok((header, rest));
            }
            let words = line.strip_prefix("-> ").ok_or(Error::Broken)?;
            let mut words = words.split(' ');
            let tag = words.next().ok_or(Error::Broken)?;
            let arguments: Vec<&str> = words.collect();
            if stanzas.len() == MAX_STANZAS || tag.is_empty() || arguments.contains(&"") {
                return Err(Error::Broken);
            }
            let body = take_body(&mut rest)?;
            stanzas.push(Stanza { tag, arguments, body });
        }
    }
}

/// Takes a line, without its end.
fn take_line<'a>(rest: &mut &'a [u8]) -> Result<&'a str, Error> {
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or(Error::Broken)?;
    let line = std::str::from_utf8(&rest[..end]).map_err(|_| Error::Broken)?;
    *rest = &rest[end + 1..];
    Ok(line)
}

/// Takes the body of a stanza: full lines, then a shorter one, which may be empty.
fn take_body(rest: &mut &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = String::new();
    loop {
        let line = take_line(rest)?;
        if line.len() > LINE {
            return Err(Error::Broken);
        }
        text.push_str(line);
        if line.len() < LINE {
            return decode(&text);
        }
    }
}

pub(super) fn decode(text: &str) -> Result<Vec<u8>, Error> {
    STANDARD_NO_PAD.decode(text).map_err(|_| Error::Broken)
}
