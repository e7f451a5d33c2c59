//! Charts that were read, by the digests of their archives: the same archive makes the same chart.

use std::sync::{Arc, Mutex, PoisonError};

use model::Digest;

use super::load::Chart;
use crate::cache::Cache;

/// Charts that were read, up to a limit of bytes. Clones share them.
#[derive(Clone, Debug)]
pub struct Charts {
    known: Arc<Mutex<Cache<Digest, Arc<Chart>>>>,
}

impl Charts {
    /// Charts whose files have so many bytes altogether.
    pub fn new(bytes: usize) -> Self {
        Charts {
            known: Arc::new(Mutex::new(Cache::new(bytes))),
        }
    }

    /// The chart whose archive has a digest, if it is known.
    pub fn known(&self, digest: &Digest) -> Option<Arc<Chart>> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(digest)
    }

    /// The chart whose archive has a digest; it is read if it is not known. Two threads may read the same chart, but none waits for another.
    ///
    /// # Errors
    /// Those of reading it; they are not kept.
    pub fn get<E>(&self, digest: Digest, read: impl FnOnce() -> Result<Chart, E>) -> Result<Arc<Chart>, E> {
        let locked = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chart) = locked().get(&digest) {
            return Ok(chart);
        }
        let chart = Arc::new(read()?);
        locked().insert(digest, Arc::clone(&chart), weight(&chart));
        Ok(chart)
    }
}

/// The bytes of all files. What was read of them is in proportion to that.
fn weight(chart: &Chart) -> usize {
    let files = chart
        .files
        .iter()
        .map(|file| file.path.len() + file.content.len());
    let below = chart.dependencies.iter().map(weight);
    files.chain(below).sum::<usize>() + 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Limits, LoadError, MemoryTree};

    fn chart(size: usize) -> Result<Chart, LoadError> {
        let tree = MemoryTree::new([
            (
                "Chart.yaml",
                "apiVersion: v2\nname: a\nversion: 1.0.0\n".to_owned(),
            ),
            ("big.txt", "x".repeat(size)),
        ]);
        Chart::from_tree(&tree, "", &Limits::default())
    }

    #[test]
    fn a_chart_is_read_once_as_long_as_there_is_room() {
        let charts = Charts::new(1 << 20);
        let digest = |number: u8| Digest::sha256([number; 32]);
        let first = charts.get(digest(0), || chart(10)).unwrap();
        let again = charts.get(digest(0), || -> Result<Chart, LoadError> {
            panic!("it is known")
        });
        assert!(Arc::ptr_eq(&first, &again.unwrap()));
        for number in 1..10 {
            charts.get(digest(number), || chart(400 << 10)).unwrap();
        }
        let anew = charts.get(digest(0), || chart(10)).unwrap();
        assert!(!Arc::ptr_eq(&first, &anew), "others have taken its place");
    }

    #[test]
    fn what_cannot_be_read_is_tried_again() {
        let charts = Charts::new(1 << 20);
        let digest = Digest::sha256([1; 32]);
        assert_eq!(charts.get(digest, || Err("broken")).err(), Some("broken"));
        assert!(charts.get(digest, || chart(1)).is_ok());
    }
}
