//! Objects of a repository on disk, each checked against its name when it is read.

use std::path::Path;

use gix_hash::ObjectId;
use gix_object::{Exists, Find, FindHeader, Kind};
use parking_lot::Mutex;

use super::error::Cause;

/// A database of objects.
pub(super) struct Objects {
    handle: Mutex<gix_odb::HandleArc>,
}

impl Objects {
    /// Opens a directory of objects as it is now: what is added later is not seen.
    pub(super) fn open(directory: &Path) -> Result<Self, Cause> {
        let handle = gix_odb::at(directory, gix_hash::Kind::Sha1)
            .and_then(gix_odb::Handle::into_arc)
            .map_err(|source| Cause::Cache {
                what: format!("opening {}", directory.display()),
                source,
            })?;
        // Files that are deltas of each other follow each other in trees: their bases are kept for a while.
        let handle =
            handle.with_pack_cache(|| Box::new(gix_pack::cache::lru::StaticLinkedList::<64>::default()));
        Ok(Objects {
            handle: Mutex::new(handle),
        })
    }

    /// Whether there is such an object.
    pub(super) fn has(&self, id: ObjectId) -> bool {
        self.handle.lock().exists(&id)
    }

    /// The number of bytes of an object, without reading it.
    pub(super) fn size(&self, id: ObjectId) -> Result<u64, Cause> {
        let broken = |state: &'static str| Cause::Object {
            id: id.to_string(),
            state,
        };
        let found = self.handle.lock().try_header(&id);
        let header = found.map_err(|_| broken("broken"))?;
        header.map(|header| header.size).ok_or_else(|| broken("missing"))
    }

    /// The kind and content of an object.
    pub(super) fn get(&self, id: ObjectId) -> Result<(Kind, Vec<u8>), Cause> {
        let broken = |state: &'static str| Cause::Object {
            id: id.to_string(),
            state,
        };
        let mut buffer = Vec::new();
        let handle = self.handle.lock();
        let found = handle.try_find(&id, &mut buffer).map_err(|_| broken("broken"))?;
        let data = found.ok_or_else(|| broken("missing"))?;
        data.verify_checksum(&id)
            .map_err(|_| broken("not what its name says"))?;
        let (kind, length) = (data.kind, data.data.len());
        buffer.truncate(length);
        Ok((kind, buffer))
    }

    /// The content of an object that must be of this kind.
    pub(super) fn get_kind(&self, id: ObjectId, wanted: Kind) -> Result<Vec<u8>, Cause> {
        let (kind, content) = self.get(id)?;
        match kind == wanted {
            true => Ok(content),
            false => Err(Cause::Object {
                id: id.to_string(),
                state: "of another kind than it should be",
            }),
        }
    }
}
