//! A tree of files to a gzipped tar archive.
//!
//! The same files give the same bytes, whoever packs them, when and where: entries come in the order of their paths, nothing
//! is said of owners and times, and there are three modes. The archive begins with the entry `.`; names of directories have
//! no slash at the end; symbolic links are not packed. Names that are long or not ASCII stand in PAX records.

use std::io::{self, Read, Write};

use flate2::{Compression, GzBuilder};
use model::Digest;
use model::digest::Algorithm;
use tar::{EntryType, Header};

use super::ignore::Rules;
use super::{Entry, Hashing, Kind, Limits, Tree};

/// Fast before small: an artifact is fetched inside of a cluster, and level 6 takes three times as long for a tenth less.
const LEVEL: Compression = Compression::new(3);
/// Files up to this size are read at once, which tells their size.
const AT_ONCE: usize = 256 * 1024;
const BLOCK: usize = 512;

/// The modes of what is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    directory: u32,
    executable: u32,
    file: u32,
}

impl Modes {
    /// What only its owner reads, as artifacts of sources are.
    pub const OWN: Self = Modes {
        directory: 0o750,
        executable: 0o700,
        file: 0o600,
    };

    /// What anyone reads, as what is given to others is.
    pub const SHARED: Self = Modes {
        directory: 0o755,
        executable: 0o755,
        file: 0o644,
    };
}

/// What was packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The digest of the archive.
    pub digest: Digest,
    /// The number of bytes of the archive.
    pub size: u64,
}

/// Writes the archive of a tree, without what the rules ignore.
///
/// # Errors
/// Where the tree cannot be read or the writer fails, with the path it is about.
pub fn pack(
    tree: &dyn Tree,
    rules: &Rules,
    modes: Modes,
    algorithm: Algorithm,
    writer: impl Write,
) -> io::Result<Packed> {
    let mut hashing = Hashing::new(algorithm, writer);
    pack_into(tree, rules, modes, &mut hashing)?;
    let (mut writer, digest, size) = hashing.finish();
    writer.flush()?;
    Ok(Packed { digest, size })
}

/// As [`pack`], for a writer that knows the digest already.
///
/// # Errors
/// As [`pack`].
pub fn pack_into(tree: &dyn Tree, rules: &Rules, modes: Modes, writer: impl Write) -> io::Result<()> {
    let mut entries = tree.entries()?;
    entries.retain(|entry| !rules.ignores(&entry.path, entry.kind));
    let bytes_left = Limits::default().size;
    check_size(tree, &entries, bytes_left)?;
    // Without a time, and with a system that says nothing of the machine.
    let compressed = GzBuilder::new().mtime(0).operating_system(255);
    let compressed = compressed.write(writer, LEVEL);
    let mut packer = Packer {
        archive: io::BufWriter::with_capacity(64 * 1024, compressed),
        modes,
        content: Vec::new(),
        bytes_left,
    };
    packer.header(".", EntryType::Directory, modes.directory, 0)?;
    for entry in &entries {
        let written = match entry.kind {
            Kind::Directory => packer.header(&entry.path, EntryType::Directory, modes.directory, 0),
            Kind::File { executable } => packer.file(tree, &entry.path, executable),
        };
        written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", entry.path)))?;
    }
    packer.archive.write_all(&[0; 2 * BLOCK])?;
    let compressed = packer
        .archive
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    compressed.finish()?;
    Ok(())
}

/// Refuses a tree that is too large before anything is read, as far as the sizes of its files are known. A commit of a few
/// kilobytes can list one large file a million times.
fn check_size(tree: &dyn Tree, entries: &[Entry], mut bytes_left: u64) -> io::Result<()> {
    for entry in entries {
        if let Kind::File { .. } = entry.kind
            && let Some(size) = tree.size(&entry.path)?
        {
            bytes_left = bytes_left.checked_sub(size).ok_or_else(too_large)?;
        }
    }
    Ok(())
}

/// Who unpacks the archive takes no more.
fn too_large() -> io::Error {
    let limit = Limits::default().size;
    let text = format!("the files have more than {limit} bytes together: ignore some, or split the source");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

struct Packer<W: Write> {
    archive: W,
    modes: Modes,
    /// Of the file at hand, kept for its capacity.
    content: Vec<u8>,
    /// The bytes that files may still have.
    bytes_left: u64,
}

impl<W: Write> Packer<W> {
    fn file(&mut self, tree: &dyn Tree, path: &str, executable: bool) -> io::Result<()> {
        let mode = match executable {
            true => self.modes.executable,
            false => self.modes.file,
        };
        let mut file = tree.open(path)?;
        self.content.clear();
        (&mut file).take(AT_ONCE as u64).read_to_end(&mut self.content)?;
        let mut size = self.content.len() as u64;
        let mut streamed = 0;
        if self.content.len() == AT_ONCE {
            match tree.size(path)? {
                Some(known) => {
                    streamed = known.checked_sub(size).ok_or_else(changed)?;
                    size = known;
                }
                None => {
                    file.read_to_end(&mut self.content)?;
                    size = self.content.len() as u64;
                }
            }
        }
        self.bytes_left = self.bytes_left.checked_sub(size).ok_or_else(too_large)?;
        self.header(path, EntryType::Regular, mode, size)?;
        self.archive.write_all(&self.content)?;
        if streamed > 0 {
            let copied = io::copy(&mut (&mut file).take(streamed), &mut self.archive)?;
            if copied != streamed || file.read(&mut [0])? != 0 {
                return Err(changed());
            }
        }
        self.pad(size)
    }

    fn header(&mut self, path: &str, kind: EntryType, mode: u32, size: u64) -> io::Result<()> {
        // Larger numbers than eleven octal digits hold, and names that do not fit, stand in records before the entry.
        let large = size >= 1 << 33;
        let split = ustar_split(path);
        if large || split.is_none() {
            let mut records = String::new();
            if split.is_none() {
                push_record(&mut records, "path", path);
            }
            if large {
                push_record(&mut records, "size", &size.to_string());
            }
            let length = records.len() as u64;
            let header = ustar(("", "PaxHeaders.0/entry"), EntryType::XHeader, 0o600, length);
            self.archive.write_all(header.as_bytes())?;
            self.archive.write_all(records.as_bytes())?;
            self.pad(length)?;
        }
        let shown = if large { 0 } else { size };
        let header = ustar(split.unwrap_or(("", "entry")), kind, mode, shown);
        self.archive.write_all(header.as_bytes())
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        let over = (size % BLOCK as u64) as usize;
        if over > 0 {
            self.archive.write_all(&[0; BLOCK][over..])?;
        }
        Ok(())
    }
}

fn changed() -> io::Error {
    io::Error::other("the file changed its size while it was packed")
}

/// The two parts of a name as the plain format holds them, where it can.
fn ustar_split(path: &str) -> Option<(&str, &str)> {
    if !path.is_ascii() {
        return None;
    }
    if path.len() <= 100 {
        return Some(("", path));
    }
    path.match_indices('/')
        .map(|(at, _)| (&path[..at], &path[at + 1..]))
        .find(|(prefix, name)| prefix.len() <= 155 && name.len() <= 100 && !name.is_empty())
}

fn ustar((prefix, name): (&str, &str), kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    if let Some(ustar) = header.as_ustar_mut() {
        ustar.name[..name.len()].copy_from_slice(name.as_bytes());
        ustar.prefix[..prefix.len()].copy_from_slice(prefix.as_bytes());
    }
    header.set_cksum();
    header
}

/// A record begins with its own length, the digits of that length included.
fn push_record(records: &mut String, key: &str, value: &str) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while rest + length.to_string().len() != length {
        length = rest + length.to_string().len();
    }
    records.push_str(&format!("{length} {key}={value}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_the_digits_of_its_own_length() {
        for value_length in [1, 88, 89, 90, 91, 989, 990, 991, 992] {
            let mut records = String::new();
            push_record(&mut records, "path", &"x".repeat(value_length));
            let said: usize = records.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(said, records.len());
        }
    }

    #[test]
    fn a_long_name_is_split_at_a_slash() {
        let directory = "d".repeat(120);
        let path = format!("{directory}/{}", "f".repeat(90));
        let (prefix, name) = ustar_split(&path).unwrap();
        assert_eq!((prefix.len(), name.len()), (120, 90));
        assert_eq!(ustar_split(&"x".repeat(101)), None);
        assert_eq!(ustar_split("é"), None);
    }
}
