//! Keeps what becomes of units in files.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Failure, MemoryStore, Operation, Status, SyncUnit, SyncUnitStore};

/// Keeps the status of units in a folder, one file for each, so that a process that comes later knows what there is and goes on from it. The
/// units themselves, and what is asked of them, are what the program says. Clones share them.
///
/// A file is replaced as a whole, and is on the disk before anything is done that it tells of.
#[derive(Clone, Debug)]
pub struct FileStore {
    folder: PathBuf,
    units: MemoryStore,
    locks: Arc<[Mutex<()>; LOCKS]>,
}

/// A unit and its file change together. There is a lock for each of these parts of all units, so that most wait for no other.
const LOCKS: usize = 64;

impl FileStore {
    /// A store of these units, with what is known of them from before. The folder is made if it is missing.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read.
    pub fn open(
        folder: impl Into<PathBuf>,
        units: impl IntoIterator<Item = SyncUnit>,
    ) -> Result<Self, Failure> {
        let store = FileStore {
            folder: folder.into(),
            units: MemoryStore::default(),
            locks: Arc::new(std::array::from_fn(|_| Mutex::default())),
        };
        fs::create_dir_all(&store.folder).map_err(|error| failed(&store.folder, &error))?;
        for unit in units {
            store.put(unit)?;
        }
        Ok(store)
    }

    /// Adds a unit or replaces it, with what is known to have become of it: its status here counts, whatever that of `unit` is. The engine has to
    /// be [told](crate::Engine::refresh).
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn put(&self, mut unit: SyncUnit) -> Result<(), Failure> {
        let _changing = self.lock(&unit.id);
        let file = self.file(&unit.id);
        match (self.units.unit(&unit.id), fs::read(&file)) {
            (Some(known), _) => unit.status = known.status,
            (None, Ok(text)) => {
                unit.status = serde_json::from_slice(&text).map_err(|error| failed(&file, &error))?;
            }
            (None, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            (None, Err(error)) => return Err(failed(&file, &error)),
        }
        self.units.put(unit);
        Ok(())
    }

    /// Takes a unit out, and forgets what has become of it. What it applied stays.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn remove(&self, id: &str) -> Result<Option<SyncUnit>, Failure> {
        let _changing = self.lock(id);
        let file = self.file(id);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&file, &error)),
            _ => Ok(self.units.remove(id)),
        }
    }

    fn lock(&self, id: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let place = hasher.finish() % LOCKS as u64;
        self.locks[place as usize].lock()
    }

    /// A unit as it is now.
    pub fn unit(&self, id: &str) -> Option<SyncUnit> {
        self.units.unit(id)
    }

    /// Any text can be the id of a unit, but not the name of a file.
    fn file(&self, id: &str) -> PathBuf {
        let name = utf8_percent_encode(id, NON_ALPHANUMERIC);
        self.folder.join(format!("{name}.json"))
    }

    fn write(&self, file: &Path, status: &Status) -> Result<(), std::io::Error> {
        let new = file.with_extension("new");
        let mut writing = File::create(&new)?;
        writing.write_all(&serde_json::to_vec(status)?)?;
        writing.sync_all()?;
        fs::rename(&new, file)?;
        // The name is on the disk when its folder is.
        File::open(&self.folder)?.sync_all()
    }
}

fn failed(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(format!("{}: {error}", file.display()))
}

impl SyncUnitStore for FileStore {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        self.units.list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        self.units.get(id)
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let _changing = self.lock(id);
            // One that was taken out meanwhile has no file any more, and gets none.
            self.units.change(id, |_| ())?;
            let file = self.file(id);
            self.write(&file, &status)
                .map_err(|error| failed(&file, &error))?;
            self.units.change(id, |unit| unit.status = status)
        })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        self.units.set_operation(id, from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_becomes_of_units_is_there_for_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let open = |id: &str| FileStore::open(folder.path().join("units"), [SyncUnit::new(id)]);
        let id = "../team a/shop";
        let store = open(id).unwrap();
        let status = Status {
            revision: "v1".to_owned(),
            ..Status::default()
        };
        store.set_status(id, status.clone()).await.unwrap();
        assert_eq!(store.unit(id).unwrap().status, status);
        // Whoever changes a unit need not know what has become of it.
        store.put(SyncUnit::new(id)).unwrap();
        assert_eq!(store.unit(id).unwrap().status, status);
        drop(store);
        assert_eq!(open(id).unwrap().unit(id).unwrap().status, status);
        assert_eq!(
            open("other").unwrap().unit("other").unwrap().status,
            Status::default()
        );
        let entries = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(entries, 1, "nothing is written elsewhere");
        let other = open("gone").unwrap();
        other.set_status("gone", status.clone()).await.unwrap();
        assert!(other.remove("gone").unwrap().is_some());
        assert_eq!(
            open("gone").unwrap().unit("gone").unwrap().status,
            Status::default()
        );
        // What cannot be read is told with its name, and not taken for nothing.
        let file = fs::read_dir(folder.path().join("units"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        fs::write(&file, "{").unwrap();
        let error = open(id).unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_unit_that_is_taken_out_while_its_status_is_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path(), []).unwrap();
        for round in 0..200 {
            store.put(SyncUnit::new("shop")).unwrap();
            let status = Status {
                revision: format!("v{round}"),
                ..Status::default()
            };
            let writing = store.clone();
            let writing = tokio::spawn(async move { writing.set_status("shop", status).await });
            let removing = store.clone();
            let removing = tokio::task::spawn_blocking(move || removing.remove("shop"));
            // The one that comes second may find nothing.
            let _ = writing.await.unwrap();
            assert!(removing.await.unwrap().unwrap().is_some());
            let left = fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(left, 0, "round {round}: its file has come back");
        }
        let told = store.set_status("shop", Status::default()).await;
        assert_eq!(told.unwrap_err().to_string(), "there is no unit \"shop\"");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
