//! Charts of Git repositories and buckets.

use bytes::Bytes;
use model::Value;

use super::{Built, Content, Error, Options, inside, read_values, replace_values};
use crate::archive::{Kind, Tree};
use crate::helm::chart::{
    Chart, ChartTree, LoadError, Metadata, files, metadata_of_archive, metadata_of_tree, values,
};
use crate::helm::dependencies;
use crate::helm::fetcher::{Repositories, Verified};

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::helm) enum Place {
    Directory,
    File,
    Nothing,
}

/// What is at a path of a tree.
pub(in crate::helm) fn place(tree: &dyn Tree, path: &str) -> std::io::Result<Place> {
    if path.is_empty() {
        return Ok(Place::Directory);
    }
    let entry = tree.entries()?.into_iter().find(|entry| entry.path == path);
    Ok(match entry.map(|entry| entry.kind) {
        None => Place::Nothing,
        Some(Kind::Directory) => Place::Directory,
        Some(Kind::File { .. }) => Place::File,
    })
}

/// Builds a chart that lies at a path of a tree: a directory, which is packed with its dependencies, or an archive, which is
/// taken as it is unless other values or version metadata are wanted.
///
/// # Errors
/// As [`Error`] says.
pub async fn from_tree(
    tree: &(dyn Tree + Sync),
    path: &str,
    repositories: &dyn Repositories,
    options: &Options,
) -> Result<Built, Error> {
    if path.is_empty() {
        return Err(Error::Reference(
            "no path set for local chart reference".to_owned(),
        ));
    }
    if path.starts_with('/') {
        return Err(Error::Reference(
            "local chart reference path is expected to be relative".to_owned(),
        ));
    }
    let path = inside("", path);
    let (place, metadata) = find(tree, &path, options)?;
    let version = options.version(&metadata.version)?;
    let is_directory = place == Place::Directory;
    let packaged =
        is_directory || options.version_metadata.is_some() || !options.effective_values_files().is_empty();
    if let Some(built) = options.unchanged(&metadata.name, &version, packaged) {
        return Ok(built);
    }
    let mut built = Built {
        name: metadata.name,
        version,
        values_files: Vec::new(),
        packaged,
        resolved_dependencies: 0,
        verified: Verified::NotAsked,
        content: Content::Stored,
    };
    if !packaged {
        let archive = read_archive(tree, &path, options).map_err(Error::Pulled)?;
        built.content = Content::Archive(Bytes::from(archive));
        return Ok(built);
    }
    let merged = match options.effective_values_files() {
        [] => None,
        _ => Some(merge_files(tree, options)?),
    };
    let loaded = if is_directory {
        Chart::from_tree(&ChartTree(tree), &path, &options.limits)
    } else {
        read_archive(tree, &path, options).and_then(|archive| Chart::from_archive(&archive, &options.limits))
    };
    let mut chart = loaded.map_err(Error::Load)?;
    chart.metadata.version.clone_from(&built.version);
    if let Some((merged, used)) = merged
        && replace_values(&mut chart, &merged)?
    {
        built.values_files = used;
    }
    if is_directory {
        let resolved = dependencies::add(&mut chart, tree, &path, repositories, &options.limits).await;
        built.resolved_dependencies = resolved.map_err(|error| Error::Dependency(Box::new(error)))?;
    }
    built.content = Content::Archive(Bytes::from(chart.pack().map_err(Error::Pack)?));
    Ok(built)
}

/// Finds the chart and reads what it is called.
fn find(tree: &dyn Tree, path: &str, options: &Options) -> Result<(Place, Metadata), Error> {
    let failed = |source| Error::NoChart {
        path: path.to_owned(),
        source,
    };
    let unreadable = |source| files::Error::Read {
        path: path.to_owned(),
        source,
    };
    let place = place(tree, path).map_err(|error| failed(unreadable(error).into()))?;
    let metadata = match place {
        Place::Directory => metadata_of_tree(&ChartTree(tree), path, &options.limits),
        Place::File => read_archive(tree, path, options)
            .and_then(|archive| metadata_of_archive(&archive, &options.limits)),
        Place::Nothing => {
            let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file or directory");
            Err(unreadable(missing).into())
        }
    };
    let mut metadata = metadata.map_err(failed)?;
    metadata
        .validate()
        .map_err(|invalid| failed(LoadError::Metadata(invalid)))?;
    Ok((place, metadata))
}

fn read_archive(tree: &dyn Tree, path: &str, options: &Options) -> Result<Vec<u8>, LoadError> {
    Ok(files::read(&ChartTree(tree), path, path, options.limits.archive)?)
}

/// Merges the values files of a source. Their paths begin at its root.
fn merge_files(tree: &dyn Tree, options: &Options) -> Result<(Value, Vec<String>), Error> {
    let mut merged = Value::object();
    let mut used = Vec::new();
    for reference in &options.values_files {
        let path = inside("", reference);
        let read = |source| Error::ReadValues {
            path: reference.clone(),
            source,
        };
        let place = place(tree, &path).map_err(|source| {
            read(files::Error::Read {
                path: path.clone(),
                source,
            })
        })?;
        match place {
            Place::File => {}
            Place::Nothing if options.ignore_missing_values_files => continue,
            _ => {
                let reference = reference.clone();
                return Err(Error::NoValuesFile {
                    path: format!("/{path}"),
                    reference,
                });
            }
        }
        let text = files::read(&ChartTree(tree), &path, reference, options.limits.file).map_err(read)?;
        values::merge(&mut merged, read_values(reference, &text)?);
        used.push(reference.clone());
    }
    Ok((merged, used))
}
