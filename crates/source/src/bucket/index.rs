//! What a bucket holds, by key and entity tag.

use std::collections::BTreeMap;
use std::io::Write as _;

use bytes::BytesMut;
use futures::StreamExt;
use model::Digest;
use model::digest::Algorithm;

use super::store::{Error, Store};
use crate::archive::ignore::{self, Rules};
use crate::archive::{Hasher, Kind};

/// The most keys that are listed.
const MAX_KEYS: usize = 1_000_000;
/// The most bytes of all names and tags of objects together.
const MAX_BYTES: usize = 128 << 20;
/// The largest ignore file.
const MAX_IGNORE: u64 = 1 << 20;

/// Keys with entity tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    tags: BTreeMap<String, String>,
    /// The ignore file in the root of the bucket. It is fetched with what the index names, but is not part of the revision.
    ignore_file: Option<Vec<u8>>,
}

impl Index {
    /// Puts a key in, or replaces its tag.
    pub fn insert(&mut self, key: impl Into<String>, tag: impl Into<String>) {
        self.tags.insert(key.into(), tag.into());
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) {
        self.tags.remove(key);
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// The ignore file in the root of the bucket, if there is one.
    pub fn ignore_file(&self) -> Option<&[u8]> {
        self.ignore_file.as_deref()
    }

    /// The keys with their tags, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tags.iter().map(|(key, tag)| (key.as_str(), tag.as_str()))
    }

    /// The digest of the sorted lines `<key> <tag>`: the revision of the bucket.
    pub fn digest(&self, algorithm: Algorithm) -> Digest {
        let mut hash = Hasher::new(algorithm);
        let mut line = Vec::new();
        for (key, tag) in self.iter() {
            line.clear();
            let _ = writeln!(line, "{key} {tag}");
            hash.update(&line);
        }
        hash.finish()
    }
}

/// Lists a bucket below a prefix, without what its `.sourceignore` and the given patterns name. Nothing else is ignored but
/// that file itself and keys that end with a slash.
///
/// # Errors
/// As [`Error`] says.
pub async fn index(store: &dyn Store, prefix: &str, patterns: Option<&str>) -> Result<Index, Error> {
    if !store.exists().await? {
        return Err(Error::NoBucket(store.name().to_owned()));
    }
    let file = ignore_file(store).await?;
    let texts = [
        file.as_deref().unwrap_or_default(),
        patterns.unwrap_or_default().as_bytes(),
    ];
    let rules = Rules::only(texts).map_err(|source| Error::Ignore {
        bucket: store.name().to_owned(),
        source,
    })?;
    let mut index = Index {
        ignore_file: file,
        ..Index::default()
    };
    let mut next: Option<String> = None;
    let mut bytes = 0;
    loop {
        let page = store.list(prefix, next.as_deref()).await?;
        for (key, tag) in page.objects {
            let kind = Kind::File { executable: false };
            if !key.ends_with('/') && key != ignore::FILE && !rules.ignores(&key, kind) {
                bytes += key.len() + tag.len();
                index.insert(key, tag);
            }
        }
        let too_much = |limit, what| Error::TooMuch {
            bucket: store.name().to_owned(),
            limit,
            what,
        };
        if index.len() > MAX_KEYS {
            return Err(too_much(MAX_KEYS as u64, "objects"));
        }
        if bytes > MAX_BYTES {
            return Err(too_much(MAX_BYTES as u64, "bytes in the names of objects"));
        }
        next = page.next;
        if next.is_none() {
            return Ok(index);
        }
    }
}

/// The ignore file in the root of the bucket, whatever the prefix; nothing if there is none.
async fn ignore_file(store: &dyn Store) -> Result<Option<Vec<u8>>, Error> {
    let Some(mut object) = store.get(ignore::FILE, None).await? else {
        return Ok(None);
    };
    let mut text = BytesMut::new();
    while let Some(piece) = object.content.next().await {
        text.extend_from_slice(&piece?);
        if text.len() as u64 > MAX_IGNORE {
            return Err(Error::TooMuch {
                bucket: store.name().to_owned(),
                limit: MAX_IGNORE,
                what: "bytes of ignore rules",
            });
        }
    }
    Ok(Some(text.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_is_the_digest_of_sorted_lines() {
        let mut index = Index::default();
        index.insert("b", "2");
        index.insert("a/x", "1");
        index.insert("c", "3");
        index.remove("c");
        // printf 'a/x 1\nb 2\n' | sha256sum
        assert_eq!(
            index.digest(Algorithm::Sha256).to_string(),
            "sha256:a649c3c32ada4425a2f31c7e8b3ef8ac83eb8549cd18bd658e50328ab28d274a"
        );
    }
}
