//! Reading a pack's entries as its bytes arrive. A pack does not say how long it is: its end is found by
//! decompressing every entry.

use flate2::{Decompress, FlushDecompress, Status};
use sha1::{Digest, Sha1};

use super::read::Error;
use crate::object::{Id, Kind};

/// The largest object that is accepted.
const MAX_OBJECT: u64 = 1 << 30;

/// The bytes of type 1 to 4 are an object's, those of 6 and 7 a delta's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    None(Kind),
    Offset(u64),
    Id(Id),
}

/// One entry, decompressed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) base: Base,
    pub(super) data: Vec<u8>,
}

enum State {
    PackHeader,
    EntryHeader,
    Content {
        entry: Entry,
        length: usize,
        inflater: Box<Decompress>,
    },
    Trailer,
    Complete,
}

/// Takes a pack's bytes in any pieces.
pub(crate) struct Scanner {
    state: State,
    /// Bytes that came, of which those before `start` are used. They are dropped only when more come, so that many
    /// small entries in one large piece cost no more than their length.
    buffer: Vec<u8>,
    start: usize,
    /// How many bytes are used.
    offset: u64,
    left: u32,
    hash: Sha1,
    entries: Vec<Entry>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            state: State::PackHeader,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            left: 0,
            hash: Sha1::new(),
            entries: Vec::new(),
        }
    }
}

impl Scanner {
    /// Takes more bytes. Says whether the pack is complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
        while self.step()? {}
        Ok(matches!(self.state, State::Complete))
    }

    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Uses some pending bytes. False when more are needed or all is done.
    fn step(&mut self) -> Result<bool, Error> {
        match &mut self.state {
            State::PackHeader => self.pack_header(),
            State::EntryHeader if self.left == 0 => {
                self.state = State::Trailer;
                Ok(true)
            }
            State::EntryHeader => self.entry_header(),
            State::Content { .. } => self.content(),
            State::Trailer => self.trailer(),
            State::Complete => Ok(false),
        }
    }

    fn pack_header(&mut self) -> Result<bool, Error> {
        let Some(header) = self.pending().first_chunk::<12>() else {
            return Ok(false);
        };
        if header[..4] != *b"PACK" || !matches!(header[4..8], [0, 0, 0, 2 | 3]) {
            return Err(Error::NotAPack);
        }
        self.left = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        self.consume(12);
        self.state = State::EntryHeader;
        Ok(true)
    }

    fn entry_header(&mut self) -> Result<bool, Error> {
        let Some((kind, length, mut used)) = type_and_length(self.pending())? else {
            return Ok(false);
        };
        let base = match kind {
            1 => Base::None(Kind::Commit),
            2 => Base::None(Kind::Tree),
            3 => Base::None(Kind::Blob),
            4 => Base::None(Kind::Tag),
            6 => {
                let Some((back, more)) = back_offset(&self.pending()[used..])? else {
                    return Ok(false);
                };
                used += more;
                Base::Offset(self.offset.checked_sub(back).ok_or(Error::BadEntry)?)
            }
            7 => {
                let Some(id) = self.pending().get(used..used + 20) else {
                    return Ok(false);
                };
                used += 20;
                Base::Id(Id::from_bytes(id).ok_or(Error::BadEntry)?)
            }
            _ => return Err(Error::BadEntry),
        };
        if length > MAX_OBJECT {
            return Err(Error::TooLarge);
        }
        let entry = Entry {
            offset: self.offset,
            base,
            data: Vec::new(),
        };
        self.consume(used);
        let length = usize::try_from(length).map_err(|_| Error::TooLarge)?;
        self.state = State::Content {
            entry,
            length,
            inflater: Box::new(Decompress::new(true)),
        };
        Ok(true)
    }

    fn content(&mut self) -> Result<bool, Error> {
        let State::Content {
            entry,
            length,
            inflater,
        } = &mut self.state
        else {
            return Ok(false);
        };
        let (before_in, before_out) = (inflater.total_in(), inflater.total_out());
        // Room for more than was announced, so that a longer content is noticed and not taken for an unfinished one.
        let mut room = [0; 16 * 1024];
        let status = inflater
            .decompress(&self.buffer[self.start..], &mut room, FlushDecompress::None)
            .map_err(|_| Error::BadEntry)?;
        let used = (inflater.total_in() - before_in) as usize;
        let made = (inflater.total_out() - before_out) as usize;
        entry.data.extend_from_slice(&room[..made]);
        if entry.data.len() > *length {
            return Err(Error::BadEntry);
        }
        if status == Status::StreamEnd {
            if entry.data.len() != *length {
                return Err(Error::BadEntry);
            }
            let State::Content { entry, .. } = std::mem::replace(&mut self.state, State::EntryHeader) else {
                return Ok(false);
            };
            self.entries.push(entry);
            self.left -= 1;
            self.consume(used);
            return Ok(true);
        }
        self.consume(used);
        Ok(used > 0 || made > 0)
    }

    fn trailer(&mut self) -> Result<bool, Error> {
        let Some(sum) = self.pending().first_chunk::<20>() else {
            return Ok(false);
        };
        if self.hash.clone().finalize()[..] != sum[..] {
            return Err(Error::Checksum);
        }
        self.state = State::Complete;
        Ok(false)
    }

    fn pending(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn consume(&mut self, count: usize) {
        self.hash.update(&self.buffer[self.start..self.start + count]);
        self.start += count;
        self.offset += count as u64;
    }
}

/// The type, the length and how many bytes they took; nothing when more bytes are needed.
fn type_and_length(bytes: &[u8]) -> Result<Option<(u8, u64, usize)>, Error> {
    let Some(first) = bytes.first() else {
        return Ok(None);
    };
    let mut length = u64::from(first & 0x0f);
    let mut shift = 4;
    let mut used = 1;
    let mut last = *first;
    while last & 0x80 != 0 {
        let Some(byte) = bytes.get(used) else {
            return Ok(None);
        };
        if shift > 53 {
            return Err(Error::TooLarge);
        }
        length |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        used += 1;
        last = *byte;
    }
    Ok(Some(((first >> 4) & 7, length, used)))
}

/// How far back a delta's base is and how many bytes said so; nothing when more bytes are needed.
fn back_offset(bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().enumerate() {
        value = value
            .checked_mul(128)
            .and_then(|value| value.checked_add(u64::from(byte & 0x7f)))
            .ok_or(Error::BadEntry)?;
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
        // Each continuation adds one, so that no distance has two spellings.
        value += 1;
    }
    Ok(None)
}
