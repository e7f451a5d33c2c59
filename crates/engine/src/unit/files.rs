//! Keeps what becomes of units in files.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
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
}

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
        let file = self.file(id);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&file, &error)),
            _ => Ok(self.units.remove(id)),
        }
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

    fn write(&self, id: &str, status: &Status) -> Result<(), Failure> {
        let (file, text) = (self.file(id), serde_json::to_vec(status)?);
        let new = file.with_extension("new");
        let mut writing = File::create(&new)?;
        writing.write_all(&text)?;
        writing.sync_all()?;
        fs::rename(&new, &file)?;
        // The name is on the disk when its folder is.
        File::open(&self.folder)?.sync_all()?;
        Ok(())
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
            self.write(id, &status)?;
            self.units.set_status(id, status).await
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
}
