//! Work on the store beside the workers of an async program.

use std::panic::resume_unwind;
use std::sync::Arc;

use super::Store;

/// How much goes on at once: a disk is not quicker with a thread for each of a thousand objects, and each thread has a heap of its own.
pub(super) const AT_ONCE: usize = 4;

impl Store {
    /// Has work done that blocks. It must wait for nothing but files: whoever waits for a server here holds up all others.
    pub async fn aside<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Store>) -> T + Send + 'static,
    ) -> T {
        // It is never closed.
        let _turn = self.turns.acquire().await;
        let store = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(value) => value,
            // It is not cancelled, so it panicked: so does whoever asked for it.
            Err(error) => resume_unwind(error.into_panic()),
        }
    }
}
