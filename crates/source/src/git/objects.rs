//! Objects of a repository on disk, each checked against its name when it is read.

use std::ops::Deref;

use gix_hash::ObjectId;
use gix_object::{Exists, Find, Kind};
use gix_odb::Header as _;
use gix_odb::find::Header;
use parking_lot::Mutex;

use super::error::Cause;
use super::memory::{Held, Memory};
use super::scan::check_size;
use super::settings::Limits;
use super::slot::Generation;

/// The bytes of bases of deltas that are kept.
const BASES: usize = 8 << 20;

/// A database of objects.
pub(super) struct Objects {
    handle: Mutex<gix_odb::HandleArc>,
    memory: Memory,
    limits: Limits,
}

impl Objects {
    /// Opens the objects of a generation as they are now: what is added later is not seen.
    pub(super) fn open(generation: &Generation, limits: &Limits) -> Result<Self, Cause> {
        let directory = generation.objects();
        let handle = gix_odb::at(&directory, gix_hash::Kind::Sha1)
            .and_then(gix_odb::Handle::into_arc)
            .map_err(|source| Cause::Cache {
                what: format!("opening {}", directory.display()),
                source,
            })?;
        // Files that are deltas of each other follow each other in trees: their bases are kept for a while.
        let handle =
            handle.with_pack_cache(|| Box::new(gix_pack::cache::lru::StaticLinkedList::<64>::new(BASES)));
        Ok(Objects {
            handle: Mutex::new(handle),
            memory: generation.memory.clone(),
            limits: limits.clone(),
        })
    }

    /// Whether there is such an object.
    pub(super) fn has(&self, id: ObjectId) -> bool {
        self.handle.lock().exists(&id)
    }

    /// The number of bytes of an object, without reading it.
    pub(super) fn size(&self, id: ObjectId) -> Result<u64, Cause> {
        self.header(id).map(|header| header.size())
    }

    fn header(&self, id: ObjectId) -> Result<Header, Cause> {
        let broken = |state: &'static str| Cause::Object {
            id: id.to_string(),
            state,
        };
        let found = self.handle.lock().try_header(&id);
        let header = found.map_err(|_| broken("broken"))?;
        header.ok_or_else(|| broken("missing"))
    }

    /// The kind and content of an object.
    pub(super) fn get(&self, id: ObjectId) -> Result<(Kind, Content), Cause> {
        let broken = |state: &'static str| Cause::Object {
            id: id.to_string(),
            state,
        };
        let header = self.header(id)?;
        let limit = match header.kind() {
            Kind::Blob => self.limits.object_bytes,
            Kind::Commit | Kind::Tree | Kind::Tag => self.limits.meta_bytes,
        };
        check_size(&format!("{} {id}", header.kind()), header.size(), limit)?;
        let making = match header.num_deltas() {
            Some(0) | None => 0,
            Some(_) => self.limits.delta_bytes,
        };
        let mut held = self.memory.take(header.size().max(making))?;
        let mut buffer = Vec::new();
        let handle = self.handle.lock();
        let found = handle.try_find(&id, &mut buffer).map_err(|_| broken("broken"))?;
        let data = found.ok_or_else(|| broken("missing"))?;
        data.verify_checksum(&id)
            .map_err(|_| broken("not what its name says"))?;
        let (kind, length) = (data.kind, data.data.len());
        buffer.truncate(length);
        buffer.shrink_to_fit();
        held.keep(length as u64);
        let content = Content {
            bytes: buffer,
            _held: held,
        };
        Ok((kind, content))
    }

    /// The content of an object that must be of this kind.
    pub(super) fn get_kind(&self, id: ObjectId, wanted: Kind) -> Result<Content, Cause> {
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

/// The content of an object. Its bytes are given back to the budget when it is dropped.
pub(super) struct Content {
    bytes: Vec<u8>,
    _held: Held,
}

impl Content {
    /// The bytes alone. They do not count towards the budget any more.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
