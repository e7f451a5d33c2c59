//! Where unpacked files go: to a directory, or into memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Error;
use super::entries::ReadContent;
use crate::archive::MemoryTree;

const CHUNK: usize = 128 * 1024;

/// Takes files and directories. Parents come first, and no name is ever both.
pub(super) trait Target {
    /// Takes a new directory, or the mode of the root where the name is empty.
    fn directory(&mut self, name: &str, mode: u32) -> Result<(), Error>;

    /// Takes a file, in place of an earlier one of the same name.
    fn file(&mut self, name: &str, mode: u32, size: u64, content: &mut dyn ReadContent) -> Result<(), Error>;
}

impl Target for MemoryTree {
    fn directory(&mut self, name: &str, _: u32) -> Result<(), Error> {
        if !name.is_empty() {
            self.insert_directory(name);
        }
        Ok(())
    }

    fn file(&mut self, name: &str, mode: u32, size: u64, content: &mut dyn ReadContent) -> Result<(), Error> {
        // The size is only what the archive says: memory is taken as content comes.
        let mut bytes = Vec::with_capacity(usize::try_from(size).map_or(CHUNK, |size| size.min(CHUNK)));
        let mut filled = 0;
        loop {
            if filled == bytes.len() {
                let left = size - filled as u64;
                let more = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK.max(filled)));
                bytes.resize(filled + more, 0);
            }
            match content.read_some(&mut bytes[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        bytes.truncate(filled);
        self.insert_file(name, mode & 0o111 != 0, bytes);
        Ok(())
    }
}

/// A directory that takes its name once it is whole.
pub(super) struct OnDisk {
    place: PathBuf,
    temporary: TempDir,
    buffer: Vec<u8>,
}

impl OnDisk {
    pub(super) fn beside(place: &Path) -> Result<Self, Error> {
        let failed = |path: &Path, source| Error::Write {
            path: path.to_owned(),
            source,
        };
        let taken = match fs::read_dir(place) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(place, error)),
        };
        if taken {
            return Err(Error::NotEmpty {
                path: place.to_owned(),
            });
        }
        let parent = match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        let temporary = tempfile::Builder::new()
            .prefix(".unpack-")
            .tempdir_in(parent)
            .map_err(|error| failed(parent, error))?;
        Ok(OnDisk {
            place: place.to_owned(),
            temporary,
            buffer: vec![0; CHUNK],
        })
    }

    pub(super) fn take_place(self) -> Result<(), Error> {
        fs::rename(self.temporary.path(), &self.place).map_err(|source| Error::Write {
            path: self.place.clone(),
            source,
        })?;
        // There is nothing left to remove at the old place.
        let _ = self.temporary.keep();
        Ok(())
    }

    fn write(&mut self, path: &Path, mode: u32, content: &mut dyn ReadContent) -> Result<(), Error> {
        let failed = |source| Error::Write {
            path: path.to_owned(),
            source,
        };
        let mut file = create(path, mode).map_err(failed)?;
        loop {
            match content.read_some(&mut self.buffer)? {
                0 => return Ok(()),
                read => file.write_all(&self.buffer[..read]).map_err(failed)?,
            }
        }
    }
}

impl Target for OnDisk {
    fn directory(&mut self, name: &str, mode: u32) -> Result<(), Error> {
        let path = self.temporary.path().join(name);
        let made = if name.is_empty() {
            set_mode(&path, mode | 0o700)
        } else {
            make_directory(&path, mode)
        };
        made.map_err(|source| Error::Write { path, source })
    }

    fn file(&mut self, name: &str, mode: u32, _: u64, content: &mut dyn ReadContent) -> Result<(), Error> {
        let path = self.temporary.path().join(name);
        self.write(&path, mode, content)
    }
}

/// A new file. An earlier one of the same name goes first, so that its mode and its content do not stay.
#[cfg(unix)]
fn create(path: &Path, mode: u32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.write(true).create_new(true).mode(mode);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        opened => opened,
    }
}

#[cfg(not(unix))]
fn create(path: &Path, _: u32) -> io::Result<File> {
    File::create(path)
}

#[cfg(unix)]
fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(mode).create(path)
}

#[cfg(not(unix))]
fn make_directory(path: &Path, _: u32) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
