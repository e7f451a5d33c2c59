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
        // It is never closed. The turn ends with the work, also where nobody waits for it any more.
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let store = Arc::clone(self);
        let work = move || {
            let _turn = turn;
            work(&store)
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(value) => value,
            // It is not cancelled, so it panicked: so does whoever asked for it.
            Err(error) => resume_unwind(error.into_panic()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::Options;
    use super::*;

    /// Timeouts of objects gave back turns while their threads went on.
    #[tokio::test]
    async fn work_that_nobody_waits_for_keeps_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new("storage.test");
        let store = Store::open(folder.path(), options, Arc::new(jiff::Timestamp::now)).unwrap();
        let store = Arc::new(store);
        let (end, ended) = mpsc::channel::<()>();
        let work = store.aside(move |_| ended.recv().is_ok());
        assert!(
            tokio::time::timeout(Duration::from_millis(50), work)
                .await
                .is_err()
        );
        assert_eq!(store.turns.available_permits(), AT_ONCE - 1);
        end.send(()).unwrap();
        let all = store.turns.acquire_many(AT_ONCE as u32);
        let all = tokio::time::timeout(Duration::from_secs(60), all).await;
        assert!(all.is_ok_and(|all| all.is_ok()));
    }
}
