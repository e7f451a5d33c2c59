//! The entries of a tar archive, one after another, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use tar::{EntryType, Header, PaxExtensions};

use super::inflate::{Exceeded, Inflate};
use super::{Error, Limits, name};

const BLOCK: usize = 512;
/// As long as the names and other records of one entry may be together.
const LONGEST_RECORDS: u64 = 64 * 1024;
/// As much as may follow the end of the archive: programs fill up to their block size.
const LONGEST_TAIL: u64 = 16 << 20;

pub(super) enum Found {
    /// The name is empty for the root.
    Directory {
        name: String,
        mode: u32,
    },
    File {
        name: String,
        mode: u32,
        size: u64,
    },
    Link,
}

pub(super) struct Entries<R: Read> {
    reader: BufReader<Inflate<R>>,
    limits: Limits,
    count: u64,
    size: u64,
    /// Of the entry at hand, not read yet.
    content: u64,
    padding: u64,
    last: String,
}

/// What stands before an entry and is said of it.
#[derive(Default)]
struct Said {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl<R: Read> Entries<R> {
    pub(super) fn new(reader: R, limits: Limits) -> Self {
        Entries {
            reader: BufReader::with_capacity(64 * 1024, Inflate::new(reader, limits.ratio)),
            limits,
            count: 0,
            size: 0,
            content: 0,
            padding: 0,
            last: String::new(),
        }
    }

    /// What is left of the content of the entry at hand.
    pub(super) fn content(&mut self) -> Content<'_, R> {
        Content { entries: self }
    }

    /// The next entry, or nothing at the end, which is checked to be one.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Error> {
        let mut said = Said::default();
        loop {
            self.skip(self.content + self.padding)?;
            (self.content, self.padding) = (0, 0);
            let Some(header) = self.header()? else {
                self.finish()?;
                return Ok(None);
            };
            self.count += 1;
            // Each entry may have a few that speak about it.
            if self.count > self.limits.entries.saturating_mul(4) {
                return Err(Error::TooManyEntries(self.limits.entries));
            }
            let size = header
                .entry_size()
                .map_err(|_| self.damaged("its size is no number"))?;
            match header.entry_type() {
                EntryType::XHeader => {
                    let records = self.records(size)?;
                    self.take_pax(&records, &mut said)?;
                }
                EntryType::GNULongName => {
                    let mut long = self.records(size)?;
                    long.truncate(long.iter().position(|&byte| byte == 0).unwrap_or(long.len()));
                    said.name = Some(long);
                }
                EntryType::XGlobalHeader | EntryType::GNULongLink => {
                    self.records(size)?;
                }
                kind => return self.entry(kind, &header, said, size).map(Some),
            }
        }
    }

    fn entry(&mut self, kind: EntryType, header: &Header, said: Said, size: u64) -> Result<Found, Error> {
        let raw = match said.name {
            Some(name) => name,
            None => header.path_bytes().into_owned(),
        };
        let size = said.size.unwrap_or(size);
        let name = name::clean(&raw)?;
        self.last.clone_from(&name);
        let mode = header.mode().unwrap_or(0) & 0o777;
        let unpackable = |kind| {
            Err(Error::Type {
                name: name.clone(),
                kind,
            })
        };
        // Before there was a type for directories, they were files whose names ended in a slash.
        let is_directory = kind.is_dir() || kind.is_file() && raw.ends_with(b"/");
        let found = match kind {
            _ if said.sparse => return unpackable("a sparse file"),
            _ if is_directory => Found::Directory { name, mode },
            EntryType::Regular | EntryType::Continuous => Found::File { name, mode, size },
            // The size of a link says nothing: there is no content.
            EntryType::Symlink | EntryType::Link => return Ok(Found::Link),
            EntryType::Char | EntryType::Block => return unpackable("a device"),
            EntryType::Fifo => return unpackable("a pipe"),
            EntryType::GNUSparse => return unpackable("a sparse file"),
            _ => return unpackable("of an unknown type"),
        };
        if size > self.limits.file_size {
            return Err(Error::FileTooLarge {
                name: self.last.clone(),
                limit: self.limits.file_size,
            });
        }
        self.size = self.size.saturating_add(size);
        if self.size > self.limits.size {
            return Err(Error::TooLarge(self.limits.size));
        }
        self.begin(size);
        Ok(found)
    }

    fn begin(&mut self, size: u64) {
        self.content = size;
        self.padding = size.next_multiple_of(BLOCK as u64) - size;
    }

    /// The next header, or nothing at the end: a block of zeros, or no more blocks.
    fn header(&mut self) -> Result<Option<Header>, Error> {
        let at_end = self.reader.fill_buf().map(<[u8]>::is_empty);
        if at_end.map_err(|error| self.unreadable(error))? {
            return Ok(None);
        }
        let mut header = Header::new_old();
        let read = self.fill(header.as_mut_bytes())?;
        if read < BLOCK {
            // The compression has a proper end: what is too short for one block was never an archive.
            return Err(match self.count {
                0 => Error::Read(io::Error::new(io::ErrorKind::InvalidData, "it is no tar archive")),
                _ => Error::Truncated,
            });
        }
        let bytes = header.as_bytes();
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        // The checksum counts its own place as spaces.
        let outside = bytes[..148].iter().chain(&bytes[156..]);
        let sum = outside.map(|&byte| u32::from(byte)).sum::<u32>() + 8 * u32::from(b' ');
        match header.cksum() {
            Ok(said) if said == sum => Ok(Some(header)),
            _ => Err(self.damaged("the checksum of the header is wrong")),
        }
    }

    /// Reads as much as fits or is there.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(error)),
            }
        }
        Ok(filled)
    }

    /// Content that speaks about another entry and is held whole.
    fn records(&mut self, size: u64) -> Result<Vec<u8>, Error> {
        if size > LONGEST_RECORDS {
            return Err(self.damaged("the records about an entry are too long"));
        }
        let mut records = vec![0; size as usize];
        self.reader
            .read_exact(&mut records)
            .map_err(|error| self.unreadable(error))?;
        self.padding = size.next_multiple_of(BLOCK as u64) - size;
        Ok(records)
    }

    fn take_pax(&self, records: &[u8], said: &mut Said) -> Result<(), Error> {
        for record in PaxExtensions::new(records) {
            let record = record.map_err(|_| self.damaged("a record about an entry is malformed"))?;
            match record.key_bytes() {
                b"path" => said.name = Some(record.value_bytes().to_vec()),
                b"size" => {
                    let size = record.value().ok().and_then(|value| value.parse().ok());
                    said.size = Some(size.ok_or_else(|| self.damaged("its size is no number"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => said.sparse = true,
                _ => {}
            }
        }
        Ok(())
    }

    fn skip(&mut self, size: u64) -> Result<(), Error> {
        let skipped = io::copy(&mut (&mut self.reader).take(size), &mut io::sink());
        match skipped.map_err(|error| self.unreadable(error))? {
            skipped if skipped == size => Ok(()),
            _ => Err(Error::Truncated),
        }
    }

    /// Reads what follows the end, because only then the compression's own checksum is looked at.
    fn finish(&mut self) -> Result<(), Error> {
        let mut tail = (&mut self.reader).take(LONGEST_TAIL + 1);
        match io::copy(&mut tail, &mut io::sink()) {
            Ok(length) if length > LONGEST_TAIL => Err(self.damaged("too much follows its end")),
            Ok(_) => Ok(()),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    fn damaged(&self, reason: &'static str) -> Error {
        Error::Damaged {
            after: self.last.clone(),
            reason,
        }
    }

    fn unreadable(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Truncated,
            _ if error.get_ref().is_some_and(|inner| inner.is::<Exceeded>()) => {
                Error::TooCompressed(self.limits.ratio)
            }
            _ => Error::Read(error),
        }
    }
}

/// The content of one entry. It never ends early without an error.
pub(super) struct Content<'a, R: Read> {
    entries: &'a mut Entries<R>,
}

/// Reads content for a target, which tells failures of reading from its own.
pub(super) trait ReadContent {
    /// Reads some bytes; none only at the end.
    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
}

impl<R: Read> ReadContent for Content<'_, R> {
    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let entries = &mut *self.entries;
        let wanted = usize::try_from(entries.content).map_or(buffer.len(), |left| left.min(buffer.len()));
        if wanted == 0 {
            return Ok(0);
        }
        loop {
            match entries.reader.read(&mut buffer[..wanted]) {
                Ok(0) => return Err(Error::Truncated),
                Ok(read) => {
                    entries.content -= read as u64;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(entries.unreadable(error)),
            }
        }
    }
}
