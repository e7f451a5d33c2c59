//! The files of a chart, out of an archive or a tree.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::read::GzDecoder;

use super::ignore::{self, Rules};
use super::tree::FileTree;

/// What may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large a packed chart may be.
    pub archive: u64,
    /// How large one file may be.
    pub file: u64,
    /// How large all files together may be.
    pub unpacked: u64,
    /// How many files there may be.
    pub files: usize,
}

impl Default for Limits {
    /// 10 MiB packed and 5 MiB for a file, as in Flux; 100 MiB unpacked, as in Helm.
    fn default() -> Self {
        Limits {
            archive: 10 << 20,
            file: 5 << 20,
            unpacked: 100 << 20,
            files: 20_000,
        }
    }
}

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path from the root of the chart.
    pub path: String,
    /// What is in it.
    pub content: Bytes,
}

/// Why the files of a chart cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The archive is larger than what is taken.
    #[error("size of the chart exceeds '{0}' bytes limit: list what is not needed in .helmignore")]
    Archive(u64),
    /// It is no archive, or a broken one.
    #[error("the chart is not a gzipped tar archive: make it with 'helm package'")]
    Format(#[source] io::Error),
    /// A file in it is larger than what is taken.
    #[error("file '{path}' of the chart exceeds the limit of {limit} bytes: list it in .helmignore")]
    File {
        /// The file.
        path: String,
        /// How much is taken.
        limit: u64,
    },
    /// All files together are larger than what is taken.
    #[error("the unpacked chart exceeds the limit of {0} bytes: list what is not needed in .helmignore")]
    Unpacked(u64),
    /// There are more files than what is taken.
    #[error("the chart has more than {0} files: list what is not needed in .helmignore")]
    Files(usize),
    /// A path leads elsewhere.
    #[error("chart illegally contains the path '{path}': {problem}: make it with 'helm package'")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is nothing in it.
    #[error("no files in chart archive: make it with 'helm package'")]
    Empty,
    /// A file of the tree cannot be read.
    #[error("failed to read '{path}'")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// `.helmignore` cannot be used.
    #[error("cannot load ignore rules for chart")]
    Ignore(#[source] ignore::Error),
}

/// Reads the files of a packed chart. The top directory is not part of their paths.
pub fn from_archive(archive: &[u8], limits: &Limits) -> Result<Vec<File>, Error> {
    let mut files = Vec::new();
    each_in_archive(archive, limits, &mut |path, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        files.push(File {
            path: path.to_owned(),
            content: without_mark(bytes),
        });
        Ok(())
    })?;
    if files.is_empty() {
        return Err(Error::Empty);
    }
    Ok(files)
}

/// Goes through the files of a packed chart; the callback reads those it wants.
pub(super) fn each_in_archive(
    archive: &[u8],
    limits: &Limits,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), Error> {
    if archive.len() as u64 > limits.archive {
        return Err(Error::Archive(limits.archive));
    }
    // Whatever the headers say, no more than this is unpacked.
    let unpacked = GzDecoder::new(archive).take(limits.unpacked + (limits.files as u64 * 2048));
    let mut tar = tar::Archive::new(unpacked);
    let mut left = limits.unpacked;
    let mut count = 0;
    for entry in tar.entries().map_err(Error::Format)? {
        let mut entry = entry.map_err(Error::Format)?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        count += 1;
        if count > limits.files {
            return Err(Error::Files(limits.files));
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path_in_chart(&name)?;
        let size = entry.size();
        if size > limits.file {
            return Err(Error::File {
                path,
                limit: limits.file,
            });
        }
        left = left.checked_sub(size).ok_or(Error::Unpacked(limits.unpacked))?;
        take(&path, &mut entry).map_err(Error::Format)?;
    }
    Ok(())
}

/// The path of an entry without the top directory.
fn path_in_chart(name: &str) -> Result<String, Error> {
    let refuse = |problem| {
        Err(Error::Path {
            path: name.to_owned(),
            problem,
        })
    };
    // Archives of Windows have the other slash.
    let name_slashed = if name.contains('\\') {
        name.replace('\\', "/")
    } else {
        name.to_owned()
    };
    let Some((top, rest)) = name_slashed.split_once('/') else {
        return refuse("it is outside of the top directory");
    };
    if top == "Chart.yaml" {
        return refuse("Chart.yaml must be in the top directory");
    }
    if rest.starts_with('/') {
        return refuse("it is absolute");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return refuse("it leads out of the chart"),
            ".." => {}
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return refuse("it is outside of the top directory");
    }
    let drive = parts[0].as_bytes();
    if drive.len() == 2 && drive[0].is_ascii_alphabetic() && drive[1] == b':' && parts.len() > 1 {
        return refuse("it names a drive");
    }
    Ok(parts.join("/"))
}

/// Reads the files of a chart that lies unpacked below a directory of a tree, without those that `.helmignore` names.
pub fn from_tree(tree: &dyn FileTree, directory: &str, limits: &Limits) -> Result<Vec<File>, Error> {
    let prefix = if directory.is_empty() {
        String::new()
    } else {
        format!("{directory}/")
    };
    let entries = tree.entries().map_err(|source| Error::Read {
        path: directory.to_owned(),
        source,
    })?;
    let rules_path = format!("{prefix}.helmignore");
    let rules = if entries
        .iter()
        .any(|entry| entry.path == rules_path && !entry.is_directory)
    {
        let text = read(tree, &rules_path, ".helmignore", limits.file)?;
        Rules::parse(&String::from_utf8_lossy(&text)).map_err(Error::Ignore)?
    } else {
        Rules::default()
    };
    let mut files = Vec::new();
    let mut left = limits.unpacked;
    let mut skipped: Option<String> = None;
    for entry in entries {
        let Some(path) = entry.path.strip_prefix(&prefix) else {
            continue;
        };
        if skipped
            .as_ref()
            .is_some_and(|skipped| path.starts_with(skipped.as_str()))
        {
            continue;
        }
        let is_directory = entry.is_directory;
        if rules.ignores(path, is_directory) {
            skipped = is_directory.then(|| format!("{path}/")).or(skipped);
            continue;
        }
        if is_directory {
            continue;
        }
        if files.len() == limits.files {
            return Err(Error::Files(limits.files));
        }
        let content = read(tree, &entry.path, path, limits.file)?;
        left = left
            .checked_sub(content.len() as u64)
            .ok_or(Error::Unpacked(limits.unpacked))?;
        files.push(File {
            path: path.to_owned(),
            content: without_mark(content),
        });
    }
    Ok(files)
}

/// Reads a file of a tree that may not be larger than `limit`.
pub fn read(tree: &dyn FileTree, path: &str, shown: &str, limit: u64) -> Result<Vec<u8>, Error> {
    let content = tree.read(path, limit + 1).map_err(|source| Error::Read {
        path: shown.to_owned(),
        source,
    })?;
    if content.len() as u64 > limit {
        return Err(Error::File {
            path: shown.to_owned(),
            limit,
        });
    }
    Ok(content)
}

/// Without the mark that some editors put before UTF-8.
fn without_mark(content: Vec<u8>) -> Bytes {
    let content = Bytes::from(content);
    if content.starts_with(b"\xef\xbb\xbf") {
        content.slice(3..)
    } else {
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for name in [
            "Chart.yaml",
            "a/../../b",
            "a//b",
            "a/c:/b",
            "a/.",
            "Chart.yaml/x",
            "a\\..\\..\\b",
        ] {
            assert!(path_in_chart(name).is_err(), "{name}");
        }
        assert_eq!(path_in_chart("a/b/../c").unwrap(), "c");
        assert_eq!(path_in_chart("a\\templates\\b").unwrap(), "templates/b");
    }
}
