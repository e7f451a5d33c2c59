//! The bytes of Git objects that a process holds in memory at once.
//!
//! A pack of a megabyte can hold files of gigabytes. So whoever decompresses objects takes their bytes from one budget first.
//! No holder waits for a server, and every wait has a deadline.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::error::Cause;

/// The bytes that all readers of one cache share.
pub(super) const BUDGET: u64 = 384 << 20;
/// How long somebody waits for others to give bytes back.
const PATIENCE: Duration = Duration::from_secs(60);

/// A budget of bytes. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Memory(Arc<State>);

#[derive(Debug)]
struct State {
    free: Mutex<u64>,
    freed: Condvar,
    /// Held by the one who waits for bytes, so that who needs many is not passed by those who need few.
    first: Mutex<()>,
    patience: Duration,
}

/// Bytes that were taken. They are given back when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    memory: Memory,
    bytes: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new(BUDGET, PATIENCE)
    }
}

impl Memory {
    fn new(bytes: u64, patience: Duration) -> Self {
        Memory(Arc::new(State {
            free: Mutex::new(bytes),
            freed: Condvar::new(),
            first: Mutex::default(),
            patience,
        }))
    }

    /// Takes bytes, as soon as others have given back enough. It blocks the thread.
    pub(super) fn take(&self, bytes: u64) -> Result<Held, Cause> {
        let state = &*self.0;
        let first = state.first.try_lock_for(state.patience);
        let _first = first.ok_or(Cause::Busy(state.patience))?;
        let mut free = state.free.lock();
        let waited = state
            .freed
            .wait_while_for(&mut free, |free| *free < bytes, state.patience);
        if waited.timed_out() && *free < bytes {
            return Err(Cause::Busy(state.patience));
        }
        *free -= bytes;
        Ok(Held {
            memory: self.clone(),
            bytes,
        })
    }
}

impl Held {
    /// Gives back all but so many bytes.
    pub(super) fn keep(&mut self, bytes: u64) {
        let kept = self.bytes.min(bytes);
        *self.memory.0.free.lock() += self.bytes - kept;
        self.bytes = kept;
        self.memory.0.freed.notify_one();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keep(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_waited_for_until_a_deadline() {
        let memory = Memory::new(100, Duration::from_millis(50));
        let held = memory.take(60).unwrap();
        let refused = memory.take(41).unwrap_err();
        assert!(matches!(refused, Cause::Busy(_)), "{refused}");
        let small = memory.take(40).unwrap();
        drop(held);
        let again = memory.take(60).unwrap();
        drop((small, again));
        assert_eq!(*memory.0.free.lock(), 100);
    }

    #[test]
    fn who_waits_goes_on_when_bytes_are_given_back() {
        let memory = Memory::new(100, Duration::from_secs(60));
        let held = memory.take(60).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| memory.take(80).map(drop));
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }
}
