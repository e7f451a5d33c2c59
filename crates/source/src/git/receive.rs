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

use super::error::{Cause, Source};
use super::protocol::Pack;
use super::settings::Limits;

/// How many pieces may wait for the thread that reads them.
const PIECES: usize = 32;

/// Reads a pack into a directory of objects. Objects that are there already may be left out of it.
pub(super) async fn receive(mut pack: Pack<'_>, objects: &Path, limits: &Limits) -> Result<(), Cause> {
    let (sender, receiver) = mpsc::channel(PIECES);
    let stop = Stop::default();
    let task = spawn_blocking({
        let (objects, flag, limit) = (objects.to_owned(), stop.0.clone(), limits.object_bytes);
        move || {
            write(
                Pieces {
                    receiver,
                    piece: Bytes::new(),
                },
                &objects,
                &flag,
                limit,
            )
        }
    });
    let mut meter = Meter {
        limits: limits.clone(),
        bytes: 0,
        header: Vec::new(),
    };
    let copied = async {
        while let Some(piece) = pack.piece().await? {
            meter.count(&piece)?;
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

fn write(pieces: Pieces, objects: &Path, stop: &AtomicBool, limit: u64) -> Result<(), Cause> {
    let directory = objects.join("pack");
    let ours = |source: io::Error| Cause::Cache {
        what: format!("writing to {}", directory.display()),
        source,
    };
    let has_packs = std::fs::read_dir(&directory).map_err(ours)?.next().is_some();
    let bases = has_packs
        .then(|| gix_odb::at(objects, gix_hash::Kind::Sha1))
        .transpose()
        .map_err(ours)?;
    let options = gix_pack::bundle::write::Options {
        alloc_limit_bytes: Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        ..Default::default()
    };
    let outcome = Bundle::write_to_directory(
        &mut BufReader::with_capacity(1 << 16, pieces),
        Some(&directory),
        &mut gix_utils::progress::Discard,
        stop,
        bases,
        gix_hash::Kind::Sha1,
        options,
    )
    .map_err(|error| {
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

/// The pack as a thread reads it.
struct Pieces {
    receiver: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.receiver.blocking_recv() {
                Some(piece) => self.piece = piece,
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
    header: Vec<u8>,
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
        if self.header.len() < 12 {
            let missing = 12 - self.header.len();
            self.header.extend_from_slice(&piece[..piece.len().min(missing)]);
            if let Some(count) = self.header.get(8..12) {
                let count = u32::from_be_bytes(count.try_into().expect("the slice has four bytes"));
                if u64::from(count) > self.limits.objects {
                    return Err(Cause::Limit {
                        what: "objects",
                        limit: self.limits.objects,
                    });
                }
            }
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
            header: Vec::new(),
        };
        let mut many = meter();
        many.count(b"PACK\0\0\0\x02\0\0").unwrap();
        assert!(matches!(
            many.count(b"\0\x0b").unwrap_err(),
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
