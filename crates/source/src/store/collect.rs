//! Removing what is not needed any more.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::place::{LOCK, TEMPORARY};
use super::{Error, Place, Store};

/// How long one collection may take. What is left is found by the next one.
const BUDGET: Duration = Duration::from_secs(5);
/// How many files of an object are looked at in one collection.
const MOST_FILES: usize = 1000;

struct Candidate {
    path: PathBuf,
    time: SystemTime,
    current: bool,
}

impl Store {
    /// Removes the files of an object that are older than the retention time, and of the others the oldest beyond the number
    /// to keep. The current file, given by its name or its path in the store, always stays. Gives back the paths of what was
    /// removed.
    ///
    /// # Errors
    /// Where the directory cannot be listed or a file cannot be removed; others are removed all the same.
    pub fn collect(&self, place: &Place, current: Option<&str>) -> Result<Vec<String>, Error> {
        self.collect_until(Instant::now() + BUDGET, place, current)
    }

    fn collect_until(
        &self,
        deadline: Instant,
        place: &Place,
        current: Option<&str>,
    ) -> Result<Vec<String>, Error> {
        let current = current.and_then(|current| current.rsplit('/').next());
        let candidates = self.candidates(place, current, deadline)?;
        let now = (self.clock)();
        let mut removed = Vec::new();
        let mut failure = None;
        for garbage in self.garbage(candidates, now) {
            if Instant::now() >= deadline {
                break;
            }
            match self.remove_artifact(&garbage) {
                Ok(()) => removed.extend(relative(&self.root, &garbage)),
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            None => Ok(removed),
            Some(error) => Err(error),
        }
    }

    /// Removes all files of an object that is deleted. Gives back whether there were any.
    ///
    /// # Errors
    /// Where a file cannot be removed.
    pub fn remove_all(&self, place: &Place) -> Result<bool, Error> {
        let directory = self.directory_of(place);
        let Some(entries) = list(&directory)? else {
            return Ok(false);
        };
        for entry in entries {
            let entry = entry.map_err(Error::directory(&directory))?;
            if entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                self.remove_file(&entry.path())?;
            }
        }
        fs::remove_dir_all(&directory).map_err(Error::remove(&directory))?;
        Ok(true)
    }

    fn candidates(
        &self,
        place: &Place,
        current: Option<&str>,
        deadline: Instant,
    ) -> Result<Vec<Candidate>, Error> {
        let directory = self.directory_of(place);
        let mut candidates = Vec::new();
        for entry in list(&directory)?.into_iter().flatten() {
            if candidates.len() == MOST_FILES || Instant::now() >= deadline {
                break;
            }
            let entry = entry.map_err(Error::directory(&directory))?;
            candidates.extend(candidate(&entry, current).map_err(Error::read(&entry.path()))?);
        }
        Ok(candidates)
    }

    /// What of the candidates has to go, the oldest first.
    fn garbage(&self, mut candidates: Vec<Candidate>, now: Timestamp) -> Vec<PathBuf> {
        candidates.sort_by(|left, right| (left.time, &left.path).cmp(&(right.time, &right.path)));
        let now = SystemTime::from(now);
        let mut left = candidates.len();
        let mut garbage = Vec::new();
        for candidate in candidates {
            // A time to come is no age.
            let age = now.duration_since(candidate.time).unwrap_or_default();
            let expired = age > self.options.retention_ttl;
            if !candidate.current && (expired || left > self.options.retention_records) {
                left -= 1;
                garbage.push(candidate.path);
            }
        }
        garbage
    }

    fn remove_artifact(&self, path: &Path) -> Result<(), Error> {
        self.remove_file(path)?;
        let mut lock = path.as_os_str().to_owned();
        lock.push(LOCK);
        self.remove_file(Path::new(&lock))
    }
}

/// Nothing for what is no artifact, and for what is gone since.
fn candidate(entry: &DirEntry, current: Option<&str>) -> io::Result<Option<Candidate>> {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    if name.ends_with(LOCK) || name.starts_with(TEMPORARY) || !entry.file_type()?.is_file() {
        return Ok(None);
    }
    match entry.metadata() {
        Ok(metadata) => Ok(Some(Candidate {
            path: entry.path(),
            time: metadata.modified()?,
            current: current == Some(&*name),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn list(directory: &Path) -> Result<Option<fs::ReadDir>, Error> {
    match fs::read_dir(directory) {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::directory(directory)(error)),
    }
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let path = path.strip_prefix(root).ok()?;
    Some(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Options;
    use super::*;

    /// A9: what the time is too short for is left to the next collection
    #[test]
    fn a_collection_ends_with_its_budget() {
        let folder = tempfile::tempdir().unwrap();
        let clock: super::super::Clock = Arc::new(Timestamp::now);
        let store = Store::open(folder.path(), Options::new("storage.test"), clock).unwrap();
        let place = Place::new("Bucket", "apps", "a").unwrap();
        let directory = store.directory_of(&place);
        fs::create_dir_all(&directory).unwrap();
        for number in 0..5 {
            fs::write(directory.join(number.to_string()), "").unwrap();
        }
        let none = store.collect_until(Instant::now(), &place, None).unwrap();
        assert_eq!(none, [""; 0]);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 5);
        assert_eq!(BUDGET, Duration::from_secs(5));
        assert_eq!(store.collect(&place, None).unwrap().len(), 3);
    }
}
