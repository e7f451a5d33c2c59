//! Removes what a test made on a real cluster.

use std::mem;
use std::sync::Arc;
use std::thread;

use kube::{Client, Config};
use parking_lot::Mutex;

use super::real::Real;

/// The paths to delete, and how to reach the cluster when the test's own client is gone.
#[derive(Clone)]
pub(super) struct Cleanup {
    paths: Arc<Mutex<Vec<String>>>,
    config: Option<Config>,
}

impl Cleanup {
    /// Nothing is deleted on a cluster that is thrown away: the deletion of a namespace costs its server some
    /// two hundred requests.
    pub(super) fn of(real: &Real) -> Cleanup {
        Cleanup {
            paths: Arc::default(),
            config: (!real.disposable).then(|| real.config()),
        }
    }

    /// The embedded cluster goes away with its test.
    pub(super) fn none() -> Cleanup {
        Cleanup {
            paths: Arc::default(),
            config: None,
        }
    }

    pub(super) fn add(&self, path: String) {
        self.paths.lock().push(path);
    }

    /// Deletes everything, last made first. What is gone already or cannot be deleted is not the test's concern.
    pub(super) async fn run(&self, client: &Client) {
        let paths = mem::take(&mut *self.paths.lock());
        if self.config.is_none() {
            return;
        }
        for path in paths.iter().rev() {
            let request = http::Request::delete(path)
                .body(Vec::new())
                .expect("the path was used before");
            // Only the deletion has to reach the server; its answer changes nothing.
            let _ = client.request_text(request).await;
        }
    }
}

/// A test that fails, or does not wait for [`Cleanup::run`], still cleans up. Its runtime is ending, so a
/// thread with a runtime of its own sends the deletions.
impl Drop for super::Cluster {
    fn drop(&mut self) {
        let cleanup = self.cleanup.clone();
        let Some(config) = cleanup
            .config
            .clone()
            .filter(|_| !cleanup.paths.lock().is_empty())
        else {
            return;
        };
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a second runtime starts where the first one did");
            runtime.block_on(async {
                if let Ok(client) = Client::try_from(config) {
                    cleanup.run(&client).await;
                }
            });
        });
        // Without the wait the process of the last test would end before its deletions are sent. A panic of the
        // thread has been printed.
        let _ = thread.join();
    }
}
