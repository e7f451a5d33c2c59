//! The files of a commit as the tree of a build.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

use source::archive::{Kind, Tree as _};
use source::git;

use super::allowance::{Allowance, LARGEST_FILE};

/// A commit, whose files are read when they are asked for. Links are not among them.
pub(super) struct Checkout {
    checkout: git::Checkout,
    entries: BTreeMap<String, Kind>,
    url: String,
    allowance: Arc<Allowance>,
    /// The files that were counted: one that is read again is not.
    counted: Mutex<BTreeSet<String>>,
}

impl Checkout {
    pub(super) fn new(
        checkout: git::Checkout,
        url: String,
        allowance: Arc<Allowance>,
    ) -> Result<Self, String> {
        let entries = checkout.entries().map_err(|error| error.to_string())?;
        let entries = entries.into_iter().map(|entry| (entry.path, entry.kind));
        Ok(Checkout {
            entries: entries.collect(),
            checkout,
            url,
            allowance,
            counted: Mutex::default(),
        })
    }

    /// Refuses a file that is too large, or that is more than the build may read of all repositories and URLs.
    fn check_size(&self, path: &str) -> Result<(), String> {
        let size = self.checkout.size(path).map_err(|error| error.to_string())?;
        let size = usize::try_from(size.unwrap_or_default()).unwrap_or(usize::MAX);
        let file = format!("{path} of {}", self.url);
        if size > LARGEST_FILE {
            return Err(format!("{file} is larger than {LARGEST_FILE} bytes"));
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.insert(path.to_owned()) {
            self.allowance.count(&file, size)?;
        }
        Ok(())
    }
}

impl kustomize::Tree for Checkout {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        if !matches!(self.entries.get(path), Some(Kind::File { .. })) {
            return Ok(None);
        }
        self.check_size(path)?;
        let mut content = Vec::new();
        let read = self
            .checkout
            .open(path)
            .and_then(|mut file| file.read_to_end(&mut content));
        read.map_err(|error| error.to_string())?;
        Ok(Some(Cow::Owned(content)))
    }

    fn is_dir(&self, path: &str) -> bool {
        path.is_empty() || self.entries.get(path) == Some(&Kind::Directory)
    }

    fn names_in(&self, directory: &str) -> Result<Option<Vec<String>>, String> {
        if !self.is_dir(directory) {
            return Ok(None);
        }
        let prefix = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        // All that begins with the same text stands together.
        let below = self.entries.range(prefix.clone()..);
        let names = below
            .map_while(|(path, _)| path.strip_prefix(prefix.as_str()))
            .filter(|name| !name.is_empty() && !name.contains('/'));
        Ok(Some(names.map(str::to_owned).collect()))
    }

    fn resolve(&self, path: &str) -> Option<String> {
        (path.is_empty() || self.entries.contains_key(path)).then(|| path.to_owned())
    }
}
