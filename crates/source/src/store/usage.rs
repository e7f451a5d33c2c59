//! The bytes on disk of each namespace's artifacts, and their limit.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use parking_lot::Mutex;

use super::Place;

/// Bytes by namespace. A file counts for each object that has it, although the disk holds equal files once.
pub(super) struct Usage {
    limit: u64,
    bytes: Mutex<HashMap<String, u64>>,
}

impl Usage {
    pub(super) fn new(limit: u64) -> Self {
        Usage {
            limit,
            bytes: Mutex::default(),
        }
    }

    /// Adds a file without checking the limit: it is in the store already.
    pub(super) fn add(&self, namespace: &str, size: u64) {
        *self.bytes.lock().entry(namespace.to_owned()).or_default() += size;
    }

    /// Subtracts a file that was removed or replaced.
    pub(super) fn subtract(&self, namespace: &str, size: u64) {
        let mut bytes = self.bytes.lock();
        if let Some(used) = bytes.get_mut(namespace) {
            *used = used.saturating_sub(size);
            if *used == 0 {
                bytes.remove(namespace);
            }
        }
    }

    /// Starts to count a file that is about to be stored. It is subtracted again unless it is kept.
    pub(super) fn begin<'a>(&'a self, place: &'a Place) -> Charge<'a> {
        Charge {
            usage: self,
            namespace: place.namespace(),
            size: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn of(&self, namespace: &str) -> u64 {
        self.bytes.lock().get(namespace).copied().unwrap_or_default()
    }
}

/// The bytes of one file that is being stored.
pub(super) struct Charge<'a> {
    usage: &'a Usage,
    namespace: &'a str,
    size: u64,
}

impl<'a> Charge<'a> {
    /// Counts more bytes of the file.
    ///
    /// # Errors
    /// With [`ErrorKind::QuotaExceeded`] if the namespace would exceed its limit.
    pub(super) fn add(&mut self, size: u64) -> io::Result<()> {
        let limit = self.usage.limit;
        let mut bytes = self.usage.bytes.lock();
        let used = bytes.entry(self.namespace.to_owned()).or_default();
        if used.saturating_add(size) > limit {
            return Err(io::Error::new(
                ErrorKind::QuotaExceeded,
                format!(
                    "the artifacts of namespace '{}' exceed {limit} bytes: remove sources, exclude files with spec.ignore, or raise \
                     --artifact-namespace-limit",
                    self.namespace
                ),
            ));
        }
        *used += size;
        self.size += size;
        Ok(())
    }

    /// Leaves the file counted: it is in the store.
    pub(super) fn keep(mut self) {
        self.size = 0;
    }

    /// Counts what is written to `inner`.
    pub(super) fn writer<'c, W: Write>(&'c mut self, inner: W) -> Charged<'c, 'a, W> {
        Charged { inner, charge: self }
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        self.usage.subtract(self.namespace, self.size);
    }
}

/// A writer that fails once the namespace exceeds its limit.
pub(super) struct Charged<'c, 'a, W> {
    inner: W,
    charge: &'c mut Charge<'a>,
}

impl<W> Charged<'_, '_, W> {
    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for Charged<'_, '_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.charge.add(bytes.len() as u64)?;
        self.inner.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Returns the namespace of an object's file below `root`: its path is `kind/namespace/name/file`.
pub(super) fn namespace_of<'a>(root: &Path, file: &'a Path) -> Option<&'a str> {
    file.strip_prefix(root).ok()?.iter().nth(1)?.to_str()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::super::{Options, Store};
    use super::*;

    fn open(root: &Path) -> Store {
        let options = Options {
            namespace_limit: 100,
            ..Options::new("storage.test")
        };
        Store::open(root, options, Arc::new(jiff::Timestamp::now)).unwrap()
    }

    #[test]
    fn a_namespace_stores_no_more_than_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let (one, two) = (
            Place::new("Bucket", "apps", "one").unwrap(),
            Place::new("GitRepository", "apps", "two").unwrap(),
        );
        let first = store.copy(&one, "a", &[1; 60][..]).unwrap();
        assert_eq!(store.usage.of("apps"), 60);
        let error = store.copy(&two, "a", &[2; 41][..]).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(
            cause.contains("the artifacts of namespace 'apps' exceed 100 bytes"),
            "{cause}"
        );
        assert_eq!(
            store.usage.of("apps"),
            60,
            "a file that was refused does not count"
        );
        assert!(
            store.link(&two, "a", &first.digest).is_err(),
            "a linked file counts as a copied one"
        );
        // Another namespace has a limit of its own.
        let other = Place::new("Bucket", "other", "one").unwrap();
        assert!(store.link(&other, "a", &first.digest).unwrap().is_some());
        store.copy(&two, "a", &[2; 40][..]).unwrap();
        assert_eq!(store.usage.of("apps"), 100);
        // After a restart, the files count as before.
        drop(store);
        let store = open(folder.path());
        assert_eq!((store.usage.of("apps"), store.usage.of("other")), (100, 60));
        store.remove_all(&one).unwrap();
        assert_eq!(store.usage.of("apps"), 40);
        // A file that replaces another counts instead of it.
        store.copy(&two, "a", &[3; 50][..]).unwrap();
        assert_eq!(store.usage.of("apps"), 50);
        store.remove_all(&two).unwrap();
        assert_eq!(store.usage.of("apps"), 0);
        assert!(!fs::exists(folder.path().join("bucket/apps/one")).unwrap());
    }
}
