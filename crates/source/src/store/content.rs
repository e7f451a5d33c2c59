//! Content by digest: each is on disk once, however many objects have it.
//!
//! `.content/<algorithm>-<hex>` is a hard link to a file of an object. Content that no object has any more has one link left,
//! and is removed. Where the file system has no hard links, each object has a file of its own.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::Digest;
use parking_lot::Mutex;

use super::Error;
use crate::archive::Hasher;

pub(super) const DIRECTORY: &str = ".content";

pub(super) struct Contents {
    directory: PathBuf,
    /// Held while links are made and removed, so that content is not removed while it is being linked.
    files: Mutex<Files>,
}

/// What is known of files, by inode.
#[derive(Default)]
struct Files {
    /// The digests of those with a link in the directory.
    linked: HashMap<u64, Digest>,
    /// What was hashed, and how the file looked then.
    checked: HashMap<u64, (Digest, Look)>,
}

/// What changes when a file is written to. We set the time ourselves, to the nanosecond, so no later write has the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Look {
    fn of(metadata: &Metadata) -> Self {
        Look {
            size: metadata.size(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }
}

impl Contents {
    pub(super) fn new(root: &Path) -> Result<Self, Error> {
        let directory = root.join(DIRECTORY);
        fs::create_dir_all(&directory).map_err(Error::directory(&directory))?;
        Ok(Contents {
            directory,
            files: Mutex::default(),
        })
    }

    fn path_of(&self, digest: &Digest) -> PathBuf {
        self.directory
            .join(format!("{}-{}", digest.algorithm(), digest.hex()))
    }

    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.path_of(digest).is_file()
    }

    /// Forgets content that no object has, and learns what there is.
    pub(super) fn recover(&self) -> Result<(), Error> {
        let mut files = self.files.lock();
        let entries = fs::read_dir(&self.directory).map_err(Error::directory(&self.directory))?;
        for entry in entries {
            let entry = entry.map_err(Error::directory(&self.directory))?;
            let path = entry.path();
            let metadata = entry.metadata().map_err(Error::read(&path))?;
            let digest = entry
                .file_name()
                .to_str()
                .and_then(|name| name.replacen('-', ":", 1).parse().ok());
            match digest {
                Some(digest) if metadata.nlink() > 1 => {
                    files.linked.insert(metadata.ino(), digest);
                }
                _ => fs::remove_file(&path).map_err(Error::remove(&path))?,
            }
        }
        Ok(())
    }

    /// Makes a temporary file, whose content was just hashed, share its disk space with equal content. Gives back the path
    /// to rename to the final name.
    pub(super) fn settle(&self, digest: &Digest, temporary: &Path) -> io::Result<PathBuf> {
        let shared = temporary.with_extension("link");
        if self.link(digest, &shared)? {
            return Ok(shared);
        }
        let metadata = fs::metadata(temporary)?;
        let mut files = self.files.lock();
        if fs::hard_link(temporary, self.path_of(digest)).is_ok() {
            files.linked.insert(metadata.ino(), *digest);
        }
        files
            .checked
            .insert(metadata.ino(), (*digest, Look::of(&metadata)));
        Ok(temporary.to_owned())
    }

    /// Links content of a digest to a path that is free. Gives back whether there is such content, and it is still valid.
    pub(super) fn link(&self, digest: &Digest, to: &Path) -> io::Result<bool> {
        let content = self.path_of(digest);
        match File::open(&content) {
            Ok(file) => {
                if self.digest_of(&file, digest)? != *digest {
                    // The objects that have it find out by themselves.
                    fs::remove_file(&content)?;
                    return Ok(false);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        let _files = self.files.lock();
        // It may be gone since, or have as many links as the file system allows.
        Ok(fs::hard_link(&content, to).is_ok())
    }

    /// The digest of a file by the algorithm of the given one: computed, or known from the last time where the file still
    /// looks the same.
    pub(super) fn digest_of(&self, file: &File, like: &Digest) -> io::Result<Digest> {
        let metadata = file.metadata()?;
        let look = Look::of(&metadata);
        if let Some((digest, seen)) = self.files.lock().checked.get(&metadata.ino())
            && *seen == look
            && digest.algorithm() == like.algorithm()
        {
            return Ok(*digest);
        }
        let (digest, _) = Hasher::digest_of(like.algorithm(), file)?;
        if Look::of(&file.metadata()?) == look {
            self.files.lock().checked.insert(metadata.ino(), (digest, look));
        }
        Ok(digest)
    }

    /// Dates a file whose content is known, which stays known.
    pub(super) fn date(&self, path: &Path, time: std::time::SystemTime) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = File::open(path)?;
        let before = file.metadata()?;
        file.set_modified(time)?;
        let after = Look::of(&file.metadata()?);
        if let Some((_, look)) = files.checked.get_mut(&before.ino())
            && *look == Look::of(&before)
        {
            *look = after;
        }
        Ok(())
    }

    /// Takes note that a file is not there any more, and removes its content where that was the last one.
    pub(super) fn release(&self, removed: &Metadata) {
        let mut files = self.files.lock();
        let path = files
            .linked
            .get(&removed.ino())
            .map(|digest| self.path_of(digest));
        if let Some(path) = path {
            match fs::metadata(&path) {
                Ok(content) if content.ino() == removed.ino() && content.nlink() > 1 => return,
                Ok(content) if content.ino() == removed.ino() => {
                    // What cannot be removed now is removed when the store is opened.
                    let _ = fs::remove_file(&path);
                }
                _ => {}
            }
            files.linked.remove(&removed.ino());
        }
        files.checked.remove(&removed.ino());
    }
}
