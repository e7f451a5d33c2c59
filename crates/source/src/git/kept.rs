//! The listings of files that a process keeps between fetches, so that the next fetch reads only the directories that changed.
//!
//! A repository of a few megabytes can have millions of files. So listings are kept only as far as there is room for them; without
//! its listing a repository is read anew.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::listing::Listing;

/// The bytes that the listings of one owner may take.
const OWNER: u64 = 32 << 20;
/// The bytes that all listings together may take.
const TOTAL: u64 = 256 << 20;

/// The bytes of all kept listings by owner. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptBytes(Arc<Mutex<HashMap<String, u64>>>);

/// A listing that is kept. Its bytes are given back when it is dropped.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) listing: Arc<Listing>,
    owner: String,
    bytes: KeptBytes,
}

impl KeptBytes {
    /// Keeps a listing, if there is room for it.
    pub(super) fn keep(&self, owner: &str, listing: &Arc<Listing>) -> Option<Kept> {
        let mut bytes = self.0.lock();
        let own = bytes.get(owner).copied().unwrap_or_default() + listing.bytes();
        let all = bytes.values().sum::<u64>() + listing.bytes();
        if own > OWNER || all > TOTAL {
            return None;
        }
        bytes.insert(owner.to_owned(), own);
        Some(Kept {
            listing: Arc::clone(listing),
            owner: owner.to_owned(),
            bytes: self.clone(),
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut bytes = self.bytes.0.lock();
        if let Some(own) = bytes.get_mut(&self.owner) {
            *own = own.saturating_sub(self.listing.bytes());
            if *own == 0 {
                bytes.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gix_hash::ObjectId;

    use super::super::listing::What;
    use super::*;

    /// A listing with names of so many bytes.
    fn listing(bytes: u64) -> Arc<Listing> {
        let id = ObjectId::from_bytes_or_panic(&[1; 20]);
        let mut listing = Listing::new(id, true);
        let name = "n".repeat(bytes as usize);
        listing.push(&name, id, What::File { executable: false });
        let mut outer = Listing::new(id, true);
        outer.push("d", id, What::Directory(Arc::new(listing)));
        Arc::new(outer)
    }

    #[test]
    fn listings_of_an_owner_and_of_all_have_limits() {
        let bytes = KeptBytes::default();
        let most = listing(OWNER - 10_000);
        let small = listing(20_000);
        let owners: Vec<String> = (0..TOTAL / OWNER).map(|number| number.to_string()).collect();
        let kept: Vec<Kept> = owners
            .iter()
            .map(|owner| bytes.keep(owner, &most).unwrap())
            .collect();
        assert!(bytes.keep("0", &small).is_none(), "the share is full");
        assert!(bytes.keep("ada", &most).is_none(), "all is full");
        assert!(bytes.keep("ada", &small).is_some());
        drop(kept);
        assert!(bytes.0.lock().is_empty());
        assert!(bytes.keep("ada", &most).is_some());
    }
}
