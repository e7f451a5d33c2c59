//! From the answer of a server to a pack with its index on disk.
//!
//! A pack is first written to a file, as slowly as the server sends it: that takes no thread and next to no memory. Only when all of it
//! is there is it read: once to see how much memory the indexing takes, and once to index it. So what others wait for depends on
//! the disk here and never on a server.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gix_pack::Bundle;
use tempfile::NamedTempFile;
use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::task::spawn_blocking;

use super::cache::Cache;
use super::error::{Cause, Source};
use super::memory::{Held, Memory};
use super::protocol::Pack;
use super::scan::{HEADER, Scanner};
use super::settings::Limits;
use super::slot::Generation;

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;
/// The checksum at the end of a pack.
const TRAILER: u64 = 20;

/// Reads a pack into a directory of objects. Objects that are there already may be left out of it.
pub(super) async fn receive(
    mut pack: Pack<'_>,
    cache: &Cache,
    generation: &Generation,
    limits: &Limits,
) -> Result<(), Cause> {
    let _measure = MeasureOnDrop(generation);
    let directory = prepare(&generation.objects())?;
    let ours = |source: io::Error| written(&directory, source);
    let received = NamedTempFile::new_in(&directory).map_err(ours)?;
    let file = tokio::fs::File::from_std(received.reopen().map_err(ours)?);
    let mut file = BufWriter::with_capacity(BUFFER, file);
    let mut meter = Meter { limits, bytes: 0 };
    while let Some(piece) = pack.piece().await? {
        meter.count(&piece)?;
        cache.charge(generation, piece.len() as u64).await?;
        file.write_all(&piece).await.map_err(ours)?;
    }
    file.flush().await.map_err(ours)?;
    drop(file);
    let stop = Stop::default();
    let task = spawn_blocking({
        let (objects, memory) = (generation.objects(), generation.memory.clone());
        let (flag, limits) = (stop.0.clone(), limits.clone());
        move || index(received, &objects, &flag, &limits, &memory)
    });
    task.await.map_err(|error| Cause::Pack(Box::new(error)))?
}

/// Writes a pack that is complete and its index into a directory of objects.
fn index(
    mut received: NamedTempFile,
    objects: &Path,
    stop: &AtomicBool,
    limits: &Limits,
    memory: &Memory,
) -> Result<(), Cause> {
    let directory = objects.join("pack");
    let ours = |source: io::Error| written(&directory, source);
    let mut files = std::fs::read_dir(&directory).map_err(ours)?.flatten();
    let has_packs = files.any(|file| file.path().extension().is_some_and(|end| end == "idx"));
    let bases = has_packs
        .then(|| gix_odb::at(objects, gix_hash::Kind::Sha1))
        .transpose()
        .map_err(ours)?;
    let need = scan(received.as_file_mut(), limits, bases.is_some(), stop, memory)?;
    let _held = memory.take(need)?;
    received.rewind().map_err(ours)?;
    let options = gix_pack::bundle::write::Options {
        // Each thread holds a chain of deltas.
        thread_limit: Some(1),
        alloc_limit_bytes: usize::try_from(limits.object_bytes.max(limits.delta_bytes)).ok(),
        ..Default::default()
    };
    let outcome = Bundle::write_to_directory(
        &mut BufReader::with_capacity(BUFFER, received.as_file_mut()),
        Some(&directory),
        &mut gix_utils::progress::Discard,
        stop,
        bases,
        gix_hash::Kind::Sha1,
        options,
    );
    let outcome = outcome.map_err(|error| {
        let mut causes = error.iter_errors().filter_map(|cause| cause.downcast_ref());
        match causes.find_map(|cause: &io::Error| is_our_disk(cause).then(|| cause.kind())) {
            Some(kind) => ours(io::Error::from(kind)),
            None => {
                let causes = error.iter_errors().map(ToString::to_string);
                Cause::Pack(Source::from(causes.collect::<Vec<_>>().join(": ")))
            }
        }
    })?;
    if let Some(keep) = outcome.keep_path {
        std::fs::remove_file(keep).map_err(ours)?;
    }
    Ok(())
}

/// Reads a pack that is complete. Returns the bytes of memory that indexing it takes.
fn scan(
    pack: &mut File,
    limits: &Limits,
    is_thin: bool,
    stop: &AtomicBool,
    memory: &Memory,
) -> Result<u64, Cause> {
    let unread = |source: io::Error| Cause::Cache {
        what: "reading a pack".to_owned(),
        source,
    };
    let bytes = pack.metadata().map_err(unread)?.len();
    pack.rewind().map_err(unread)?;
    let mut scanner = Scanner::new(limits, is_thin);
    let mut buffer = vec![0; BUFFER];
    // What the scan itself remembers: it is known when the header is.
    let mut held: Option<Held> = None;
    let mut left = bytes.saturating_sub(TRAILER);
    while left > 0 {
        let most = match held {
            Some(_) => BUFFER,
            None => HEADER,
        };
        let most = most.min(usize::try_from(left).unwrap_or(most));
        pack.read_exact(&mut buffer[..most]).map_err(unread)?;
        left -= most as u64;
        if let Some(need) = scanner.feed(&buffer[..most])? {
            return Ok(need);
        }
        if held.is_none() {
            held = Some(memory.take(scanner.memory(bytes))?);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Err(Cause::Pack(Source::from("it ends before all of its objects")))
}

/// Writing to a directory failed.
fn written(directory: &Path, source: io::Error) -> Cause {
    Cause::Cache {
        what: format!("writing to {}", directory.display()),
        source,
    }
}

/// Whether it is the disk here that is to blame, and not what the server sent.
fn is_our_disk(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::StorageFull | Kind::QuotaExceeded | Kind::ReadOnlyFilesystem | Kind::PermissionDenied
    )
}

/// Counts what is on disk when a pack was received or was not.
struct MeasureOnDrop<'g>(&'g Generation);

impl Drop for MeasureOnDrop<'_> {
    fn drop(&mut self) {
        self.0.measure();
    }
}

/// Stops the thread when it is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks at how much comes.
struct Meter<'a> {
    limits: &'a Limits,
    bytes: u64,
}

impl Meter<'_> {
    fn count(&mut self, piece: &[u8]) -> Result<(), Cause> {
        self.bytes += piece.len() as u64;
        if self.bytes > self.limits.pack_bytes {
            return Err(Cause::Limit {
                what: "bytes in its pack",
                limit: self.limits.pack_bytes,
            });
        }
        Ok(())
    }
}

/// The directory for packs below one for objects, made if it is missing.
pub(super) fn prepare(objects: &Path) -> Result<PathBuf, Cause> {
    let directory = objects.join("pack");
    std::fs::create_dir_all(&directory).map_err(|source| Cause::Cache {
        what: format!("making {}", directory.display()),
        source,
    })?;
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_that_are_too_large_are_refused_as_soon_as_it_shows() {
        let limits = Limits {
            objects: 10,
            pack_bytes: 20,
            ..Limits::default()
        };
        let mut many = Scanner::new(&limits, false);
        many.feed(b"PACK\0\0\0\x02\0\0").unwrap();
        assert!(matches!(
            many.feed(b"\0\x0b").unwrap_err(),
            Cause::Limit {
                what: "objects",
                limit: 10
            }
        ));
        let mut large = Meter {
            limits: &limits,
            bytes: 0,
        };
        large.count(b"PACK\0\0\0\x02\0\0\0\x01").unwrap();
        assert!(
            large
                .count(&[0; 9])
                .unwrap_err()
                .to_string()
                .contains("more than 20 bytes")
        );
    }
}
