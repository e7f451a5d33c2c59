//! What Flux's project has published of the same benchmark: version 2.9.0, on 16 cores with a cluster of 3 nodes, concurrency 10 for
//! sources and 20 for Kustomizations.

use std::time::Duration;

/// Of one count.
pub(crate) struct Published {
    pub(crate) count: usize,
    /// Until all were ready; an upgrade took the same.
    pub(crate) took: Duration,
    /// The most memory of the source controller and of the kustomize controller, in MiB.
    pub(crate) memory: (u64, u64),
}

const PUBLISHED: [Published; 3] = [
    Published {
        count: 100,
        took: Duration::from_secs(26),
        memory: (49, 134),
    },
    Published {
        count: 500,
        took: Duration::from_secs(120),
        memory: (98, 183),
    },
    Published {
        count: 1000,
        took: Duration::from_secs(253),
        memory: (128, 223),
    },
];

/// What is published of a count.
pub(crate) fn of(count: usize) -> Option<&'static Published> {
    PUBLISHED.iter().find(|one| one.count == count)
}
