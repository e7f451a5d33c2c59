//! From the answer of a server to a pack with its index on disk.
//!
//! The pack is read and indexed on a blocking thread while it comes in. When the caller gives up, the thread ends too: its
//! input ends, and a flag tells the indexing to stop.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Buf, Bytes};
use gix_pack::Bundle;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::cache::Cache;
use super::error::{Cause, Source};
use super::memory::{Held, Memory};
use super::protocol::Pack;
use super::scan::Scanner;
use super::settings::Limits;
use super::slot::Generation;

/// How many pieces may wait for the thread that reads them.
const PIECES: usize = 32;

/// Reads a pack into a directory of objects. Objects that are there already may be left out of it.
pub(super) async fn receive(
    mut pack: Pack<'_>,
    cache: &Cache,
    generation: &Generation,
    limits: &Limits,
) -> Result<(), Cause> {
    let _measure = MeasureOnDrop(generation);
    let (sender, receiver) = mpsc::channel(PIECES);
    let stop = Stop::default();
    let task = spawn_blocking({
        let (objects, memory) = (generation.objects(), generation.memory.clone());
        let (flag, limits) = (stop.0.clone(), limits.clone());
        move || write(receiver, &objects, &flag, &limits, memory)
    });
    let mut meter = Meter {
        limits: limits.clone(),
        bytes: 0,
    };
    let copied = async {
        while let Some(piece) = pack.piece().await? {
            meter.count(&piece)?;
            cache.charge(generation, piece.len() as u64).await?;
            if sender.send(piece).await.is_err() {
                // The thread is gone, and says why.
                break;
            }
        }
        Ok(())
    }
    .await;
    drop(sender);
    if copied.is_err() {
        stop.now();
    }
    let written = task.await.map_err(|error| Cause::Pack(Box::new(error)))?;
    copied?;
    written
}

fn write(
    receiver: mpsc::Receiver<Bytes>,
    objects: &Path,
    stop: &AtomicBool,
    limits: &Limits,
    memory: Memory,
) -> Result<(), Cause> {
    let directory = objects.join("pack");
    let ours = |source: io::Error| Cause::Cache {
        what: format!("writing to {}", directory.display()),
        source,
    };
    let mut files = std::fs::read_dir(&directory).map_err(ours)?.flatten();
    let has_packs = files.any(|file| file.path().extension().is_some_and(|end| end == "idx"));
    let bases = has_packs
        .then(|| gix_odb::at(objects, gix_hash::Kind::Sha1))
        .transpose()
        .map_err(ours)?;
    let options = gix_pack::bundle::write::Options {
        // Each thread holds a chain of deltas.
        thread_limit: Some(1),
        alloc_limit_bytes: usize::try_from(limits.object_bytes.max(limits.delta_bytes)).ok(),
        ..Default::default()
    };
    let mut pieces = Pieces {
        receiver,
        piece: Bytes::new(),
        scanner: Scanner::new(limits, bases.is_some()),
        memory,
        held: None,
        refused: None,
    };
    let outcome = Bundle::write_to_directory(
        &mut BufReader::with_capacity(1 << 16, &mut pieces),
        Some(&directory),
        &mut gix_utils::progress::Discard,
        stop,
        bases,
        gix_hash::Kind::Sha1,
        options,
    );
    if let Some(cause) = pieces.refused {
        return Err(cause);
    }
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

impl Stop {
    fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.now();
    }
}

/// The pack as a thread reads it. Nothing is read of what is too large.
struct Pieces {
    receiver: mpsc::Receiver<Bytes>,
    piece: Bytes,
    scanner: Scanner,
    memory: Memory,
    /// What the indexing takes, from when all objects are known.
    held: Option<Held>,
    refused: Option<Cause>,
}

impl Pieces {
    /// Checks what comes next, before anybody reads it.
    fn check(&mut self) -> Result<(), Cause> {
        if self.held.is_none()
            && let Some(need) = self.scanner.feed(&self.piece)?
        {
            self.held = Some(self.memory.take(need)?);
        }
        Ok(())
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.refused.is_some() {
            return Ok(0);
        }
        while self.piece.is_empty() {
            match self.receiver.blocking_recv() {
                Some(piece) => {
                    self.piece = piece;
                    if let Err(cause) = self.check() {
                        let text = cause.to_string();
                        self.refused = Some(cause);
                        return Err(io::Error::other(text));
                    }
                }
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

/// Looks at how much comes.
struct Meter {
    limits: Limits,
    bytes: u64,
}

impl Meter {
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
        let meter = || Meter {
            limits: limits.clone(),
            bytes: 0,
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
        let mut large = meter();
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
