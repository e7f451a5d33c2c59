//! A gzipped tar archive, from anyone, to files.
//!
//! What is refused: names that are absolute, hold `..`, a backslash or a zero byte; devices and pipes; a name that is a file
//! and a directory; more entries, bytes or compression than the limits allow; an archive that ends too early. Links of both
//! kinds are skipped and so can never be followed. Of two files of one name the later one stays. Set-user bits are dropped,
//! and the owner may always read and write. Times are those of the unpacking.

mod entries;
mod inflate;
mod layout;
mod name;
mod target;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::MemoryTree;
use entries::{Entries, Found};
use layout::Layout;
use target::{OnDisk, Target};

/// A ratio that honest data never has: gzip itself makes at most 1032 bytes of one, and comes near that for a file of zeros.
const MOST_HONEST: u64 = 1100;

/// How much an archive may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files and directories, those included that are only named as parents.
    pub entries: u64,
    /// Bytes of all files together.
    pub size: u64,
    /// Bytes of one file.
    pub file_size: u64,
    /// Bytes that one compressed byte may become, looked at once 16 MiB are unpacked.
    pub ratio: u64,
}

impl Default for Limits {
    /// More than any sensible source holds, and less than what brings a node down.
    fn default() -> Self {
        Limits {
            entries: 500_000,
            size: 4 << 30,
            file_size: 1 << 30,
            ratio: MOST_HONEST,
        }
    }
}

impl Limits {
    /// For archives of our own store, which we packed ourselves: they may be compressed as much as they are.
    #[must_use]
    pub fn of_own_archives() -> Self {
        Limits {
            ratio: u64::MAX,
            ..Limits::default()
        }
    }

    /// The same with at most so many bytes, of all files and of each.
    #[must_use]
    pub fn with_size(self, size: u64) -> Self {
        Limits {
            size,
            file_size: self.file_size.min(size),
            ..self
        }
    }
}

/// What an archive held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Files written.
    pub files: u64,
    /// Bytes of them.
    pub size: u64,
    /// Links that were skipped.
    pub links: u64,
}

/// Why an archive is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no gzipped tar archive, or its source fails.
    #[error("the archive cannot be read: it must be a gzipped tar archive")]
    Read(#[source] io::Error),
    /// It ends in the middle.
    #[error("the archive is truncated: if that comes again, it has to be uploaded again")]
    Truncated,
    /// A header is no header.
    #[error("the archive is damaged after entry {after:?}: {reason}: make and upload it again")]
    Damaged {
        /// The last good name.
        after: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A name would leave the directory, or cannot be a name.
    #[error("the archive holds the name \"{name}\", which {reason}: make it without that entry")]
    Name {
        /// The name, with escapes for what cannot be shown.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An entry is neither file nor directory nor link.
    #[error(
        "entry {name:?} of the archive is {kind}, and only files and directories are unpacked: make it without that entry"
    )]
    Type {
        /// Its name.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// A name is used for a file and for a directory.
    #[error("the archive holds {name:?} both as a file and as a directory: make it without one of both")]
    Conflict {
        /// The name.
        name: String,
    },
    /// Too many entries.
    #[error("the archive has more than {0} entries: leave out what is not needed")]
    TooManyEntries(u64),
    /// Too many bytes.
    #[error("the archive is bigger than {0} bytes when unpacked: leave out what is not needed")]
    TooLarge(u64),
    /// A file is too large.
    #[error("file {name:?} of the archive is bigger than {limit} bytes: leave it out")]
    FileTooLarge {
        /// Its name.
        name: String,
        /// The limit.
        limit: u64,
    },
    /// It grows too much when it is unpacked.
    #[error(
        "the archive is compressed more than {0} to 1, as only archives made to do harm are: make it with gzip"
    )]
    TooCompressed(u64),
    /// The directory to unpack to holds something.
    #[error("the directory {path:?} to unpack to is there already and not empty")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The files cannot be written.
    #[error("{path:?} cannot be written")]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Unpacks to a directory that is not there yet or is empty. It comes to be whole or not at all: files are written to a
/// directory `.unpack-…` beside it, which takes its name at the end and which only a killed process leaves behind.
///
/// # Errors
/// Where the archive is refused or the files cannot be written; the directory is then as it was.
pub fn unpack(reader: impl Read, directory: &Path, limits: &Limits) -> Result<Unpacked, Error> {
    let mut target = OnDisk::beside(directory)?;
    let unpacked = walk(reader, &mut target, limits)?;
    target.take_place()?;
    Ok(unpacked)
}

/// Reads all files into memory.
///
/// # Errors
/// Where the archive is refused.
pub fn read(reader: impl Read, limits: &Limits) -> Result<MemoryTree, Error> {
    let mut tree = MemoryTree::new();
    walk(reader, &mut tree, limits)?;
    Ok(tree)
}

fn walk(reader: impl Read, target: &mut dyn Target, limits: &Limits) -> Result<Unpacked, Error> {
    let mut entries = Entries::new(reader, *limits);
    let mut layout = Layout::new(limits.entries);
    let mut unpacked = Unpacked::default();
    while let Some(found) = entries.next()? {
        match found {
            Found::Link => unpacked.links += 1,
            Found::Directory { name, mode } if name.is_empty() => target.directory("", mode)?,
            Found::Directory { name, mode } => {
                for parent in layout.new_parents(&name)? {
                    target.directory(parent, 0o750)?;
                }
                if layout.add_directory(&name)? {
                    target.directory(&name, mode | 0o700)?;
                }
            }
            Found::File { name, mode, size } => {
                for parent in layout.new_parents(&name)? {
                    target.directory(parent, 0o750)?;
                }
                layout.add_file(&name)?;
                target.file(&name, mode | 0o600, size, &mut entries.content())?;
                unpacked.files += 1;
                unpacked.size += size;
            }
        }
    }
    Ok(unpacked)
}
