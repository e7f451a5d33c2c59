//! Fetching what an index names.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{StreamExt, TryStreamExt, stream};
use tokio::io::AsyncWriteExt;

use super::index::Index;
use super::store::{Error, Store};
use crate::archive::ignore;

/// How many objects are fetched at the same time.
pub const PARALLEL: usize = 100;

/// Fetches the objects of an index into a directory, in which its ignore file is put too. Those that have gone by now are taken out of the index, those that have
/// changed get their new tag in it, so that the revision is that of what was fetched.
///
/// All objects together may have `limit` bytes.
///
/// # Errors
/// As [`Error`] says; the directory then holds a part.
pub async fn download(
    store: &dyn Store,
    index: &mut Index,
    directory: &Path,
    limit: u64,
) -> Result<(), Error> {
    let total = Total {
        limit,
        left: AtomicU64::new(limit),
    };
    if let Some(ignore_file) = index.ignore_file() {
        let written = tokio::fs::write(directory.join(ignore::FILE), ignore_file).await;
        written.map_err(|source| Error::Write {
            path: ignore::FILE.to_owned(),
            source,
        })?;
    }
    let wanted: Vec<(String, String)> = index
        .iter()
        .map(|(key, tag)| (key.to_owned(), tag.to_owned()))
        .collect();
    let fetched = stream::iter(wanted)
        .map(|(key, tag)| fetch(store, key, tag, directory, &total))
        .buffer_unordered(PARALLEL)
        .try_collect::<Vec<_>>()
        .await?;
    for (key, outcome) in fetched {
        match outcome {
            Outcome::Same => {}
            Outcome::Changed(tag) => index.insert(key, tag),
            Outcome::Gone => index.remove(&key),
        }
    }
    Ok(())
}

/// The bytes that are still taken.
struct Total {
    limit: u64,
    left: AtomicU64,
}

impl Total {
    fn count(&self, store: &dyn Store, bytes: usize) -> Result<(), Error> {
        let less = |left: u64| left.checked_sub(bytes as u64);
        let counted = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        counted.map(drop).map_err(|_| Error::TooMuch {
            bucket: store.name().to_owned(),
            limit: self.limit,
            what: "bytes",
        })
    }
}

enum Outcome {
    Same,
    Changed(String),
    Gone,
}

async fn fetch(
    store: &dyn Store,
    key: String,
    tag: String,
    directory: &Path,
    total: &Total,
) -> Result<(String, Outcome), Error> {
    let path = path(directory, &key).ok_or_else(|| Error::Key(key.clone()))?;
    let Some(mut object) = store.get(&key, Some(&tag)).await? else {
        return Ok((key, Outcome::Gone));
    };
    let failed = |source| Error::Write {
        path: key.clone(),
        source,
    };
    if let Some(parent) = path.parent() {
        tokio::fs::create_dir_all(parent).await.map_err(failed)?;
    }
    let mut file = tokio::fs::File::create(&path).await.map_err(failed)?;
    while let Some(piece) = object.content.next().await {
        let piece = piece?;
        total.count(store, piece.len())?;
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)?;
    let outcome = if object.tag == tag {
        Outcome::Same
    } else {
        Outcome::Changed(object.tag)
    };
    Ok((key, outcome))
}

/// Where an object goes: below the directory, whatever its key looks like.
fn path(directory: &Path, key: &str) -> Option<PathBuf> {
    let mut parts: Vec<&str> = Vec::new();
    for part in key.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part if part.contains('\0') => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| directory.join(parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_leads_out_of_the_directory() {
        let at = |key| path(Path::new("/d"), key);
        assert_eq!(at("a/b").unwrap(), Path::new("/d/a/b"));
        assert_eq!(at("../../etc/passwd").unwrap(), Path::new("/d/etc/passwd"));
        assert_eq!(at("/a//b").unwrap(), Path::new("/d/a/b"));
        assert_eq!(at(".."), None);
    }
}
