//! A thread with a runtime of its own that ends when it is dropped.

use std::thread::JoinHandle;

use tokio::sync::oneshot;

/// Runs one future on a thread of its own until the future ends or this is dropped.
///
/// A server has its own thread, not a task of the test's runtime, so that a test may block (on a program, on a
/// blocking client) without stopping the server that it waits for.
#[derive(Debug)]
pub(crate) struct Thread {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Thread {
    /// Starts the thread. What the future spawns ends with it.
    pub(crate) fn run<F: Future<Output = ()>>(
        name: &str,
        future: impl FnOnce() -> F + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the system has file descriptors for one more runtime");
        let body = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = future() => {}
                    // An error means that the handle is gone, which is a stop too.
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name(name.to_string()).spawn(body);
        Self {
            stop: Some(stop),
            thread: Some(thread.expect("the system has room for one more thread")),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened and has failed the requests it served.
            let _ = thread.join();
        }
    }
}
