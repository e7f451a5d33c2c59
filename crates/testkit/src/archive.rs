//! Compressed archives that are the same, byte for byte, on every run.

use std::io::Write;

use flate2::{Compression, GzBuilder};

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// What is in it.
    pub content: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
}

impl File {
    /// A file that anyone may read.
    pub fn new(path: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.to_string(),
            content: content.into(),
            mode: 0o644,
        }
    }
}

/// A gzipped tar archive of these files; see [`tar`].
///
/// # Panics
/// As [`tar`].
pub fn tgz(files: &[File]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::fast());
    encoder.write_all(&tar(files)).expect("a vector takes all bytes");
    encoder.finish().expect("a vector takes all bytes")
}

/// A tar archive of these files, in this order, without times or owners.
///
/// # Panics
/// When a path cannot stand in an archive (it is absolute or has `..` in it): a mistake in the test.
pub fn tar(files: &[File]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.content.len() as u64);
        header.set_mode(file.mode);
        header.set_entry_type(tar::EntryType::Regular);
        let added = archive.append_data(&mut header, &file.path, &file.content[..]);
        added.unwrap_or_else(|error| panic!("{:?} cannot stand in an archive: {error}", file.path));
    }
    archive.into_inner().expect("a vector takes all bytes")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn an_archive_is_read_back_and_is_the_same_each_time() {
        let files = [
            File::new("a.txt", "hello"),
            File {
                mode: 0o755,
                ..File::new("b/run.sh", "#!")
            },
        ];
        let archive = tgz(&files);
        assert_eq!(archive, tgz(&files));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&archive[..]));
        let read = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            let path = entry.path().unwrap().to_str().unwrap().to_string();
            File {
                path,
                content,
                mode: entry.header().mode().unwrap(),
            }
        });
        assert_eq!(read.collect::<Vec<_>>(), files);
    }
}
