//! Writing the output: whole, or not at all.

use std::fs::{self, Permissions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kustomize::Output;
use tempfile::NamedTempFile;

/// Prints all objects.
pub(super) fn print(output: Output<'_>, out: impl Write) -> anyhow::Result<()> {
    let mut out = BufWriter::new(out);
    output.write_yaml(&mut out)?;
    out.flush().context("failed to write the output")
}

/// Writes all objects to a file. If that fails, the file stays as it was.
pub(super) fn to_file(output: Output<'_>, file: &Path) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", file.display());
    // Pipes and devices cannot be replaced.
    if file.exists() && !file.is_file() {
        let out = fs::OpenOptions::new()
            .write(true)
            .open(file)
            .with_context(failed)?;
        return print(output, out).with_context(failed);
    }
    let mut new = Replacement::new(file).with_context(failed)?;
    print(output, &mut new.content).with_context(failed)?;
    new.finish().with_context(failed)
}

/// Writes one file for each object, named by its kind, its name and, if there are several, its namespace. If one cannot be written, none
/// is.
pub(super) fn to_folder(output: &Output<'_>, folder: &Path) -> anyhow::Result<()> {
    let documents = output.documents().collect::<Result<Vec<_>, _>>()?;
    let mut namespaces: Vec<&str> = documents
        .iter()
        .filter_map(|document| document.namespace.as_deref())
        .collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let mut files = Vec::with_capacity(documents.len());
    for document in &documents {
        let mut name = String::new();
        if let Some(namespace) = document.namespace.as_deref().filter(|_| namespaces.len() > 1) {
            name.push_str(namespace);
            name.push('_');
        }
        for part in [&document.group, &document.version, &document.kind] {
            if !part.is_empty() {
                name.push_str(part);
                name.push('_');
            }
        }
        name.push_str(&document.name);
        // A name may hold a slash only in a manifest that no server would take.
        let file = folder.join(format!("{}.yaml", name.to_lowercase().replace('/', "_")));
        let written = Replacement::new(&file).and_then(|mut new| {
            new.content.write_all(document.yaml.as_bytes())?;
            Ok(new.close())
        });
        files.push(written.with_context(|| format!("failed to write {}", file.display()))?);
    }
    files.into_iter().try_for_each(|(content, file)| {
        let done = content.persist(&file).map_err(|error| error.error);
        done.with_context(|| format!("failed to write {}", file.display()))
    })
}

/// What will be in the place of a file.
struct Replacement {
    content: NamedTempFile,
    file: PathBuf,
}

impl Replacement {
    fn new(file: &Path) -> std::io::Result<Replacement> {
        // What a link points to is replaced, not the link.
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let existing = match fs::metadata(&file) {
            Ok(folder) if folder.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // A name may be too long: better known now than when other files are written.
            Err(error) => return Err(error),
        };
        let content = tempfile::Builder::new()
            // The mask of the process applies to new files.
            .permissions(Permissions::from_mode(0o666))
            .prefix(".sluice-")
            .tempfile_in(folder)?;
        if let Some(permissions) = existing {
            content.as_file().set_permissions(permissions)?;
        }
        Ok(Replacement { content, file })
    }

    fn finish(self) -> std::io::Result<()> {
        self.content.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    /// Keeps the file but not its handle: there may be very many.
    fn close(self) -> (tempfile::TempPath, PathBuf) {
        (self.content.into_temp_path(), self.file)
    }
}
