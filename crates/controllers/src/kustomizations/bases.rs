//! Clears the Git repositories of remote bases.
//!
//! Whoever writes a Kustomization chooses the repositories of its bases, and may name another one each minute. The cache itself limits
//! the bytes of each namespace and of all together.

use std::time::{Duration, SystemTime};

use source::git::Cache;

use crate::kit::blocking;

/// The time that a repository is kept without being used.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The time between two passes.
const CLEARED_EVERY: Duration = Duration::from_secs(10 * 60);

/// Clears the cache from time to time. It never ends.
pub(super) async fn keep_clear(cache: &Cache) {
    loop {
        clear(cache).await;
        tokio::time::sleep(CLEARED_EVERY).await;
    }
}

async fn clear(cache: &Cache) {
    let (cache, since) = (cache.clone(), SystemTime::now() - KEPT);
    blocking(move || cache.remove_unused(since)).await;
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[tokio::test]
    async fn repositories_that_no_build_uses_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let cache = Cache::temporary(parent.path()).unwrap();
        let root = fs::read_dir(parent.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let [stale, fresh] = ["stale", "fresh"].map(|name| root.join(name));
        for directory in [&stale, &fresh] {
            fs::create_dir(directory).unwrap();
        }
        let long_ago = SystemTime::now() - 2 * KEPT;
        File::open(&stale).unwrap().set_modified(long_ago).unwrap();
        clear(&cache).await;
        assert!(!stale.exists());
        assert!(fresh.exists());
    }
}
