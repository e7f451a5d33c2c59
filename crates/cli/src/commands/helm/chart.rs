//! Charts on disk: directories, whose links are followed as Helm follows them, and archives.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use helm::chart::{Chart, Entry, FileTree, Limits, files};
use rustix::fs::OFlags;

use super::fetch::{self, Wanted};
use super::{template, verify};

/// How deep directories may be nested: links can lead anywhere.
const MAX_DEPTH: usize = 64;

/// A directory.
struct Disk {
    root: PathBuf,
}

impl Disk {
    fn collect(&self, prefix: &str, above: &mut Vec<PathBuf>, found: &mut Vec<Entry>) -> io::Result<()> {
        let directory = self.root.join(prefix);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&directory).map_err(|error| named(&directory, &error))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{name:?} is not UTF-8"))
            })?;
            entries.push((name, entry.file_type()?));
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        above.push(directory);
        for (name, kind) in entries {
            let path = match prefix {
                "" => name,
                prefix => format!("{prefix}/{name}"),
            };
            let is_directory = match kind.is_symlink() {
                true => self.is_directory_behind(&path, above)?,
                false => kind.is_dir(),
            };
            found.push(Entry {
                path: path.clone(),
                is_directory,
            });
            if is_directory {
                self.collect(&path, above, found)?;
            }
        }
        above.pop();
        Ok(())
    }

    /// Whether a link leads to a directory, which none of those above may be: only links can lead in a circle.
    fn is_directory_behind(&self, link: &str, above: &[PathBuf]) -> io::Result<bool> {
        let link = self.root.join(link);
        let wrong = |error: io::Error| named(&link, &error);
        if !fs::metadata(&link).map_err(wrong)?.is_dir() {
            return Ok(false);
        }
        let real = link.canonicalize().map_err(wrong)?;
        let mut is_above = above.len() > MAX_DEPTH;
        for directory in above {
            is_above |= directory.canonicalize()? == real;
        }
        match is_above {
            true => Err(io::Error::other(format!(
                "{}: links lead in a circle",
                link.display()
            ))),
            false => Ok(true),
        }
    }
}

impl Disk {
    /// Opens a file, and tells its size. Pipes and devices, which might never end, are none.
    fn regular(&self, path: &str) -> io::Result<(fs::File, u64)> {
        let mut options = fs::OpenOptions::new();
        // Opening a pipe would wait for somebody who writes into it.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = options
            .read(true)
            .custom_flags(flags)
            .open(self.root.join(path))?;
        let kind = file.metadata()?;
        match kind.is_file() {
            true => Ok((file, kind.len())),
            false => Err(io::Error::other(
                "cannot load irregular file: it is a pipe, a socket or a device",
            )),
        }
    }
}

impl FileTree for Disk {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        self.collect("", &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.regular(path)?.0))
    }

    fn read(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        let (file, size) = self.regular(path)?;
        let size = size.min(limit);
        // One more, so that the end is seen without more room.
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
        file.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }
}

/// An error with the path that it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Packed charts may be as large as what is in them.
pub(in crate::commands) fn limits() -> Limits {
    Limits {
        archive: fetch::MAX_CHART_SIZE,
        ..Limits::default()
    }
}

/// Reads a chart.
pub(super) fn load(path: &Path) -> anyhow::Result<Chart> {
    let kind = fs::metadata(path).with_context(|| {
        format!(
            "path \"{}\" not found: name a directory with a chart or a packed one",
            path.display()
        )
    })?;
    let chart = if kind.is_dir() {
        let tree = Disk {
            root: path.to_owned(),
        };
        Chart::from_tree(&tree, "", &limits())
    } else {
        let archive = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
        return unpack(&archive);
    };
    chart.map_err(|error| super::whole(&error))
}

/// The text of `Chart.yaml`, which charts that were read have no more.
pub(super) fn chart_yaml(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    let shown = || format!("failed to read {}", path.display());
    if path.is_dir() {
        return Ok(Some(fs::read(path.join("Chart.yaml")).with_context(shown)?));
    }
    let archive = fs::read(path).with_context(shown)?;
    let files = files::from_archive(&archive, &limits()).map_err(|error| super::whole(&error))?;
    let found = files.into_iter().find(|file| file.path == "Chart.yaml");
    Ok(found.map(|file| file.content.to_vec()))
}

/// Reads a chart that is named as Helm's commands take it: by a path, by a URL, or by its name in the repository that is wanted.
pub(super) fn locate(name: &str, wanted: &Wanted) -> anyhow::Result<Chart> {
    let name = name.trim();
    let path = Path::new(name);
    let is_here = wanted.repo.is_none() && path.exists();
    if is_here || wanted.repo.is_none() && (path.is_absolute() || name.starts_with('.')) {
        if wanted.verify && path.exists() {
            verify::file(path, wanted.keyring.as_deref())?;
        }
        return load(path);
    }
    let fetched = wanted.get(name, false)?;
    template::write(&fetched.told)?;
    unpack(&fetched.archive)
}

/// Reads a packed chart.
pub(in crate::commands) fn unpack(archive: &[u8]) -> anyhow::Result<Chart> {
    Chart::from_archive(archive, &limits()).map_err(|error| super::whole(&error))
}

/// Refuses charts that cannot be rendered on their own or lack others.
pub(in crate::commands) fn check(chart: &Chart) -> anyhow::Result<()> {
    let kind = chart.metadata.kind.as_str();
    if !matches!(kind, "" | "application") {
        anyhow::bail!("{kind} charts are not installable");
    }
    let missing = helm::dependencies::missing(chart);
    if !missing.is_empty() {
        let names = missing.join(", ");
        anyhow::bail!(
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {names}"
        );
    }
    Ok(())
}
