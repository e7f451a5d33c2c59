//! Whether an artifact's file is there and what it should be.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;

use model::{Artifact, Digest};

use super::usage::namespace_of;
use super::{Error, Place, Store};

/// What became of an artifact's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there and has its digest.
    Valid,
    /// It is not there.
    Missing,
    /// It had another digest, and was removed.
    Corrupt,
}

impl Store {
    /// Looks whether the file of an object's artifact is there and has its digest. One that has not is removed. A file that looks
    /// as it did when it was last hashed is not hashed again, so that this can be asked all the time.
    ///
    /// The path stands in a status, which others than the controller may be able to write. So it must be one of the object's own
    /// place, and the digest that is found is shown to nobody: it would be that of a file of somebody else.
    ///
    /// # Errors
    /// Where the path is none of the object, the artifact has no digest, or the file cannot be read or removed.
    pub fn verify(&self, place: &Place, artifact: &Artifact) -> Result<Presence, Error> {
        let local = self.local(&artifact.path)?;
        place.check_owns(&artifact.path)?;
        let wanted = digest_of(artifact)?;
        let Some(file) = open(&local)? else {
            return Ok(Presence::Missing);
        };
        let found = self
            .contents
            .digest_of(&file, wanted)
            .map_err(Error::read(&local))?;
        if found == *wanted {
            return Ok(Presence::Valid);
        }
        self.remove_file(&local)?;
        Ok(Presence::Corrupt)
    }

    /// The file of an artifact, for readers in this process, with its digest verified.
    ///
    /// # Errors
    /// As [`Store::verify`]; also where the file is missing or has another digest.
    pub fn read(&self, artifact: &Artifact) -> Result<File, Error> {
        let local = self.local(&artifact.path)?;
        let wanted = digest_of(artifact)?;
        let mut file = open(&local)?.ok_or_else(|| Error::Missing {
            path: artifact.path.clone(),
        })?;
        let digest = self.contents.digest_of(&file, wanted);
        let found = digest.map_err(Error::read(&local))?;
        if found != *wanted {
            return Err(Error::Mismatch {
                path: artifact.path.clone(),
                wanted: Box::new(*wanted),
            });
        }
        file.rewind().map_err(Error::read(&local))?;
        Ok(file)
    }

    /// Whether content of a digest is in the store, under any object.
    pub fn has(&self, digest: &Digest) -> bool {
        self.contents.has(digest)
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<(), Error> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::read(path)(error)),
        };
        fs::remove_file(path).map_err(Error::remove(path))?;
        if metadata.is_file() {
            self.contents.release(&metadata);
            if let Some(namespace) = namespace_of(&self.root, path) {
                self.usage.subtract(namespace, metadata.len());
            }
        }
        Ok(())
    }
}

fn digest_of(artifact: &Artifact) -> Result<&Digest, Error> {
    artifact.digest.as_ref().ok_or_else(|| Error::NoDigest {
        path: artifact.path.clone(),
    })
}

/// A regular file: links are none, wherever they lead.
fn open(path: &Path) -> Result<Option<File>, Error> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(path)(error)),
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::read(path)(error)),
    }
}
