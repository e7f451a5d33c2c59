//! The bytes that remote files of a build may have.

use std::sync::atomic::{AtomicUsize, Ordering};

/// No manifest is larger.
pub(super) const LARGEST_FILE: usize = 64 << 20;
/// The most bytes that all remote files of one build may have together.
const LARGEST_TOTAL: usize = 256 << 20;

/// The bytes that remote files of one build may still have.
pub(super) struct Allowance {
    left: AtomicUsize,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance {
            left: AtomicUsize::new(LARGEST_TOTAL),
        }
    }
}

impl Allowance {
    /// Counts bytes of a file.
    pub(super) fn count(&self, file: &str, bytes: usize) -> Result<(), String> {
        let less = |left: usize| left.checked_sub(bytes);
        let counted = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        counted.map(drop).map_err(|_| {
            format!(
                "{file} was not fetched: all remote files of a build together may have {LARGEST_TOTAL} bytes: commit the files"
            )
        })
    }

    #[cfg(test)]
    pub(super) fn set_left(&self, left: usize) {
        self.left.store(left, Ordering::Relaxed);
    }
}
