//! Checks a pack before it is indexed: how large its objects are, and how much memory its deltas take.
//!
//! A pack is small where what it holds is uniform, and a delta of a few bytes makes an object of any size. The indexing keeps
//! each base until the last object that is made of it, so that a chain of deltas holds all of its objects at once.

use flate2::{Decompress, FlushDecompress, Status};

use super::error::{Cause, Source};
use super::memory::BUDGET;
use super::settings::Limits;

/// What the indexing takes for each object, whatever its size.
const OBJECT_OVERHEAD: u64 = 128;
/// Of a thin pack with more objects, the indexing reads many ahead and holds them as they came.
const READ_AHEAD_FROM: u64 = 25_000;
/// The bytes that such a pack may have. A clone costs little more than a larger one.
const LARGEST_READ_AHEAD: u64 = 128 << 20;
/// The two sizes at the begin of a delta, ten bytes each at most.
const DELTA_HEADER: usize = 20;
/// The bytes of the header of a pack.
pub(super) const HEADER: usize = 12;
/// The fewest bytes of an entry: its header, and nothing that is compressed.
const SMALLEST_ENTRY: u64 = 9;
/// The longest header of an entry: kind and size, and an id or an offset.
const ENTRY_HEADER: usize = 32;

/// Takes the bytes of a pack in any pieces.
pub(super) struct Scanner {
    limits: Limits,
    /// Whether bases may be missing.
    is_thin: bool,
    state: State,
    /// A header that is not complete yet.
    header: Vec<u8>,
    offset: u64,
    objects: u64,
    left: u64,
    /// The largest object that is no delta.
    largest: u64,
    deltas: Deltas,
    inflater: Decompress,
    /// What was decompressed last.
    out: Box<[u8]>,
}

enum State {
    Pack,
    Entry,
    Content(Content),
    Complete,
}

/// The entry that is being decompressed.
struct Content {
    offset: u64,
    kind: Kind,
    size: u64,
    /// The first bytes of a delta.
    begin: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Kind {
    Object(&'static str),
    /// A delta of the entry at this offset.
    Offset(u64),
    /// A delta of an object that is anywhere in the pack, or was there before.
    Id,
}

/// What deltas take, by the entry that ends a chain.
#[derive(Default)]
struct Deltas {
    /// In the order of their offsets.
    chains: Vec<(u64, Chain)>,
    longest: Chain,
    /// Of all whose base has an id: where they stand in a chain is not known.
    by_id: Chain,
    largest: u64,
}

/// All of a chain together.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// The bytes of all deltas.
    deltas: u64,
    /// The bytes of all objects, with the one that it begins with.
    objects: u64,
}

impl Scanner {
    pub(super) fn new(limits: &Limits, is_thin: bool) -> Self {
        Scanner {
            limits: limits.clone(),
            is_thin,
            state: State::Pack,
            header: Vec::new(),
            offset: 0,
            objects: 0,
            left: 0,
            largest: 0,
            deltas: Deltas::default(),
            inflater: Decompress::new(true),
            out: vec![0; 16 * 1024].into(),
        }
    }

    /// The bytes that the scan of a pack of a size may remember, once its header is known.
    pub(super) fn memory(&self, pack_bytes: u64) -> u64 {
        self.objects.min(pack_bytes / SMALLEST_ENTRY) * OBJECT_OVERHEAD
    }

    /// Takes more bytes. Returns how much memory the indexing takes, once all objects are known.
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<Option<u64>, Cause> {
        while !piece.is_empty() && !matches!(self.state, State::Complete) {
            let used = match &mut self.state {
                State::Content(content) => {
                    let (used, is_complete) = content.inflate(&mut self.inflater, &mut self.out, piece)?;
                    if is_complete {
                        self.entry_ended()?;
                    }
                    used
                }
                _ => {
                    self.header.push(piece[0]);
                    self.header_grew()?;
                    1
                }
            };
            self.offset += used as u64;
            piece = &piece[used..];
        }
        match self.state {
            State::Complete => self.need().map(Some),
            _ => Ok(None),
        }
    }

    fn header_grew(&mut self) -> Result<(), Cause> {
        match self.state {
            State::Pack => {
                let Some(header) = self.header.first_chunk::<HEADER>() else {
                    return Ok(());
                };
                let [.., a, b, c, d] = *header;
                self.objects = u32::from_be_bytes([a, b, c, d]).into();
                if self.objects > self.limits.objects {
                    return Err(Cause::Limit {
                        what: "objects",
                        limit: self.limits.objects,
                    });
                }
                self.left = self.objects;
                self.header.clear();
                self.next_entry();
            }
            _ => {
                let offset = self.offset + 1 - self.header.len() as u64;
                let Some((kind, size)) = entry(&self.header, offset)? else {
                    return match self.header.len() < ENTRY_HEADER {
                        true => Ok(()),
                        false => Err(broken("an entry has no end of its header")),
                    };
                };
                self.header.clear();
                let (what, limit) = match kind {
                    Kind::Object("blob") => ("blob", self.limits.object_bytes),
                    Kind::Object(kind) => (kind, self.limits.meta_bytes),
                    Kind::Offset(_) | Kind::Id => ("delta", self.limits.delta_bytes),
                };
                check_size(what, size, limit)?;
                self.state = State::Content(Content {
                    offset,
                    kind,
                    size,
                    begin: Vec::new(),
                });
                self.inflater.reset(true);
            }
        }
        Ok(())
    }

    fn next_entry(&mut self) {
        self.state = match self.left {
            0 => State::Complete,
            _ => State::Entry,
        };
    }

    fn entry_ended(&mut self) -> Result<(), Cause> {
        let State::Content(content) = &self.state else {
            return Ok(());
        };
        match content.kind {
            Kind::Object(_) => self.largest = self.largest.max(content.size),
            base => {
                let (base_size, used) = number(&content.begin).ok_or_else(no_delta)?;
                let (size, _) = number(&content.begin[used..]).ok_or_else(no_delta)?;
                for size in [base_size, size] {
                    check_size("object in a chain of deltas", size, self.limits.delta_bytes)?;
                }
                self.deltas
                    .add(content.offset, base, content.size, base_size, size);
                // Whoever reads an object holds the deltas that lead to it, and two of the objects on the way.
                let deltas = self.deltas.longest.deltas + self.deltas.by_id.deltas;
                let need = deltas.saturating_add(2 * self.deltas.largest);
                self.check_all("chain of deltas", need, self.limits.delta_bytes)?;
            }
        }
        if self.is_thin && self.objects > READ_AHEAD_FROM && self.offset > LARGEST_READ_AHEAD {
            return Err(broken("it is too large for one that builds on others"));
        }
        self.left -= 1;
        self.next_entry();
        Ok(())
    }

    /// The bytes that the indexing may hold at once.
    fn need(&self) -> Result<u64, Cause> {
        let Deltas { longest, by_id, .. } = &self.deltas;
        let largest = self.largest.max(self.deltas.largest);
        let all = [
            longest.objects,
            by_id.objects,
            longest.deltas,
            by_id.deltas,
            largest,
        ];
        let overhead = self.objects * OBJECT_OVERHEAD;
        let need = all.into_iter().fold(overhead, u64::saturating_add);
        self.check_all("pack with what is made of its deltas", need, BUDGET)?;
        Ok(need)
    }

    /// Refuses what is too large together. A pack that builds on others may take more than a clone, which is tried next.
    fn check_all(&self, what: &str, bytes: u64, limit: u64) -> Result<(), Cause> {
        match check_size(what, bytes, limit) {
            Err(_) if self.is_thin => Err(broken("its deltas take too much memory")),
            checked => checked,
        }
    }
}

impl Deltas {
    fn add(&mut self, offset: u64, base: Kind, delta: u64, base_size: u64, size: u64) {
        self.largest = self.largest.max(base_size).max(size);
        let begin = Chain {
            deltas: 0,
            objects: base_size,
        };
        let before = match base {
            Kind::Offset(base) => {
                let found = self.chains.binary_search_by_key(&base, |(offset, _)| *offset);
                found.map_or(begin, |at| self.chains[at].1)
            }
            _ => {
                self.by_id.deltas = self.by_id.deltas.saturating_add(delta);
                self.by_id.objects = self.by_id.objects.saturating_add(base_size + size);
                begin
            }
        };
        let chain = Chain {
            deltas: before.deltas.saturating_add(delta),
            objects: before.objects.saturating_add(size),
        };
        self.longest.deltas = self.longest.deltas.max(chain.deltas);
        self.longest.objects = self.longest.objects.max(chain.objects);
        self.chains.push((offset, chain));
    }
}

impl Content {
    /// Decompresses, and says how many bytes were used and whether these were the last ones.
    fn inflate(
        &mut self,
        inflater: &mut Decompress,
        out: &mut [u8],
        piece: &[u8],
    ) -> Result<(usize, bool), Cause> {
        let mut used = 0;
        loop {
            let (read, written) = (inflater.total_in(), inflater.total_out());
            let status = inflater
                .decompress(&piece[used..], out, FlushDecompress::None)
                .map_err(|error| Cause::Pack(Box::new(error)))?;
            used += (inflater.total_in() - read) as usize;
            let fresh = &out[..(inflater.total_out() - written) as usize];
            let missing = DELTA_HEADER - self.begin.len();
            self.begin.extend_from_slice(&fresh[..fresh.len().min(missing)]);
            // Blocks without content would be kept, and make nothing.
            if inflater.total_out() > self.size || inflater.total_in() > 2 * self.size + 4096 {
                return Err(broken("an object is larger than its entry says"));
            }
            match status {
                Status::StreamEnd if inflater.total_out() == self.size => return Ok((used, true)),
                Status::StreamEnd => return Err(broken("an object is smaller than its entry says")),
                _ if used == piece.len() && fresh.len() < out.len() => return Ok((used, false)),
                _ if inflater.total_in() == read && fresh.is_empty() => {
                    return Err(broken("an object does not go on"));
                }
                _ => {}
            }
        }
    }
}

/// Refuses what is larger than a limit.
pub(super) fn check_size(what: &str, bytes: u64, limit: u64) -> Result<(), Cause> {
    match bytes > limit {
        true => Err(Cause::TooLarge {
            what: what.to_owned(),
            bytes,
            limit,
        }),
        false => Ok(()),
    }
}

/// What the header of an entry says, if it is complete.
fn entry(header: &[u8], offset: u64) -> Result<Option<(Kind, u64)>, Cause> {
    let mut size = 0u64;
    for (at, byte) in header.iter().enumerate() {
        let (bits, shift) = match at {
            0 => (byte & 0x0f, 0),
            1..=8 => (byte & 0x7f, 4 + 7 * (at - 1)),
            _ => return Err(broken("an object has an impossible size")),
        };
        size |= u64::from(bits) << shift;
        if byte & 0x80 == 0 {
            let kind = match (header[0] >> 4) & 7 {
                1 => Kind::Object("commit"),
                2 => Kind::Object("tree"),
                3 => Kind::Object("blob"),
                4 => Kind::Object("tag"),
                6 => return Ok(base(&header[at + 1..], offset)?.map(|base| (base, size))),
                7 => return Ok((header.len() - at - 1 == 20).then_some((Kind::Id, size))),
                _ => return Err(broken("an entry is of no known kind")),
            };
            return Ok(Some((kind, size)));
        }
    }
    Ok(None)
}

/// The base of a delta, by how far before it is.
fn base(rest: &[u8], offset: u64) -> Result<Option<Kind>, Cause> {
    let mut distance = 0u64;
    for (at, byte) in rest.iter().enumerate() {
        if at == 9 {
            break;
        }
        distance = match at {
            0 => u64::from(byte & 0x7f),
            _ => ((distance + 1) << 7) | u64::from(byte & 0x7f),
        };
        if byte & 0x80 == 0 {
            let base = offset.checked_sub(distance).filter(|_| distance > 0);
            return match base {
                Some(base) => Ok(Some(Kind::Offset(base))),
                None => Err(broken("a delta has no base")),
            };
        }
    }
    match rest.len() < 9 {
        true => Ok(None),
        false => Err(broken("a delta has no base")),
    }
}

/// A number of a delta, and how many bytes it takes.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

fn no_delta() -> Cause {
    broken("a delta does not say how large its object is")
}

fn broken(why: &'static str) -> Cause {
    Cause::Pack(Source::from(why))
}
