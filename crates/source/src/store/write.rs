//! Putting files into the store.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::{Artifact, Digest, Revision, Time};
use tempfile::{NamedTempFile, TempPath};

use super::lock::Lock;
use super::place::TEMPORARY;
use super::usage::{Charge, namespace_of};
use super::{Error, Place, Store};
use crate::archive::ignore::Rules;
use crate::archive::{self, Hashing, Modes, Tree};

/// A file of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The path from the root: `<kind>/<namespace>/<name>/<file>`.
    pub path: String,
    /// Where it is served.
    pub url: String,
    /// The digest of the file.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
    /// When it was put there.
    pub time: Time,
}

impl Stored {
    /// What stands in the status of the object.
    pub fn artifact(&self, revision: Revision, metadata: BTreeMap<String, String>) -> Artifact {
        Artifact {
            path: self.path.clone(),
            url: self.url.clone(),
            revision,
            digest: Some(self.digest),
            last_update_time: self.time,
            size: i64::try_from(self.size).ok(),
            metadata,
        }
    }
}

impl Store {
    /// Packs a tree, without what the rules ignore.
    ///
    /// # Errors
    /// Where the tree cannot be read or the file cannot be written; what was there before is there still.
    pub fn pack(&self, place: &Place, file: &str, tree: &dyn Tree, rules: &Rules) -> Result<Stored, Error> {
        self.put(place, file, |writer| {
            archive::pack_into(tree, rules, Modes::OWN, writer)
        })
    }

    /// Copies what can be read.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn copy(&self, place: &Place, file: &str, mut reader: impl Read) -> Result<Stored, Error> {
        self.put(place, file, |mut writer| {
            io::copy(&mut reader, &mut writer).map(drop)
        })
    }

    /// Puts a file: what `write` writes.
    ///
    /// # Errors
    /// Where `write` fails or the file cannot be written; what was there before is there still.
    pub fn put(
        &self,
        place: &Place,
        file: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Stored, Error> {
        let path = place.file(file)?;
        let target = self.local(&path)?;
        let directory = self.make_directory(place)?;
        let _lock = Lock::acquire(&target)?;
        let mut charge = self.usage.begin(place);
        let written = self.write_temporary(&directory, &mut charge, write);
        let (temporary, digest, size) = written.map_err(Error::write(&target))?;
        self.contents
            .settle(&digest, temporary.path())
            .and_then(TempPath::try_from_path)
            .and_then(|settled| self.move_in(settled, &target, charge))
            .map_err(Error::write(&target))?;
        Ok(self.stored(path, digest, size))
    }

    /// Gives an object a file whose content is in the store already, under any object. There is nothing to give where the
    /// content is not there any more.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub fn link(&self, place: &Place, file: &str, digest: &Digest) -> Result<Option<Stored>, Error> {
        let path = place.file(file)?;
        let target = self.local(&path)?;
        let directory = self.make_directory(place)?;
        let _lock = Lock::acquire(&target)?;
        let attempt = || {
            let name = tempfile::Builder::new()
                .prefix(TEMPORARY)
                .tempfile_in(&directory)?;
            let linked = name.path().with_extension("link");
            if !self.contents.link(digest, &linked)? {
                return Ok(None);
            }
            let linked = TempPath::try_from_path(linked)?;
            let size = fs::metadata(&linked)?.len();
            let mut charge = self.usage.begin(place);
            charge.add(size)?;
            self.move_in(linked, &target, charge)?;
            Ok(Some(size))
        };
        let size = attempt().map_err(Error::write(&target))?;
        Ok(size.map(|size| self.stored(path, *digest, size)))
    }

    fn write_temporary(
        &self,
        directory: &Path,
        charge: &mut Charge<'_>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<(NamedTempFile, Digest, u64)> {
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(directory)?;
        let hashing = Hashing::new(self.options.algorithm, temporary.as_file());
        let mut writer = BufWriter::with_capacity(128 * 1024, charge.writer(hashing));
        write(&mut writer)?;
        let charged = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        let hashing = charged.into_inner();
        let (file, digest, size) = hashing.finish();
        file.set_modified(self.now())?;
        file.sync_all()?;
        Ok((temporary, digest, size))
    }

    /// Gives a temporary file its name, in place of what had it. Where that fails, or both were one file already so that the
    /// rename did nothing, the temporary one goes.
    fn move_in(&self, temporary: TempPath, target: &Path, charge: Charge<'_>) -> io::Result<()> {
        self.contents.date(&temporary, self.now())?;
        let (moved, replaced) = (fs::metadata(&temporary)?, fs::symlink_metadata(target).ok());
        let renamed = fs::rename(&temporary, target);
        drop(temporary);
        if renamed.is_err() {
            self.contents.release(&moved);
            return renamed;
        }
        charge.keep();
        if let (Some(replaced), Some(namespace)) = (&replaced, namespace_of(&self.root, target))
            && replaced.is_file()
        {
            self.usage.subtract(namespace, replaced.len());
        }
        if let Some(replaced) = replaced
            && replaced.ino() != fs::symlink_metadata(target)?.ino()
        {
            self.contents.release(&replaced);
        }
        match target.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }

    fn make_directory(&self, place: &Place) -> Result<PathBuf, Error> {
        let directory = self.directory_of(place);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(Error::directory(&directory))?;
        Ok(directory)
    }

    fn now(&self) -> SystemTime {
        SystemTime::from((self.clock)())
    }

    fn stored(&self, path: String, digest: Digest, size: u64) -> Stored {
        Stored {
            url: self.url_of(&path),
            path,
            digest,
            size,
            time: Time::new((self.clock)()),
        }
    }
}
