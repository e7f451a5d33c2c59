//! Repositories by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::repository::Repository;

/// Repositories by name. Clones hold the same ones.
#[derive(Clone, Debug, Default)]
pub struct Repositories {
    by_name: Arc<Mutex<BTreeMap<String, Repository>>>,
}

impl Repositories {
    /// No repositories yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The repository of that name, such as `team/app`. It is made when it is asked for first.
    pub fn repository(&self, name: &str) -> Repository {
        self.by_name.lock().entry(plain(name)).or_default().clone()
    }

    /// The repository of that name, if there is one. A client may add `.git`.
    pub fn find(&self, name: &str) -> Option<Repository> {
        self.by_name.lock().get(&plain(name)).cloned()
    }

    /// Removes a repository.
    pub fn remove(&self, name: &str) {
        self.by_name.lock().remove(&plain(name));
    }
}

fn plain(name: &str) -> String {
    let name = name.trim_matches('/');
    name.strip_suffix(".git").unwrap_or(name).to_string()
}
