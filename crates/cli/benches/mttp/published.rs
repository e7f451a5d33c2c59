//! What Flux's project has published of the same benchmark: version 2.9.0, on 16 cores with a cluster of 3 nodes, concurrency 10 for
//! sources and HelmReleases and 20 for Kustomizations.

use std::time::Duration;

use super::shape::Shape;

/// Of one count.
pub(crate) struct Published {
    pub(crate) count: usize,
    /// Until all were ready; an upgrade took the same.
    pub(crate) took: Duration,
    /// The most memory of the source controller and of the other one, in MiB.
    pub(crate) memory: (u64, u64),
}

const KUSTOMIZATIONS: [Published; 3] = [
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

const RELEASES: [Published; 3] = [
    Published {
        count: 100,
        took: Duration::from_secs(26),
        memory: (63, 286),
    },
    Published {
        count: 500,
        took: Duration::from_secs(134),
        memory: (123, 306),
    },
    Published {
        count: 1000,
        took: Duration::from_secs(279),
        memory: (189, 361),
    },
];

/// What is published of a count.
pub(crate) fn of(shape: Shape, count: usize) -> Option<&'static Published> {
    let all = match shape {
        Shape::Kustomizations => &KUSTOMIZATIONS,
        Shape::Releases => &RELEASES,
    };
    all.iter().find(|one| one.count == count)
}
