//! Labels and annotations for what is applied.

use std::collections::BTreeMap;

record! {
    /// Labels and annotations that everything gets that is applied.
    CommonMetadata {
        /// The annotations.
        optional annotations: BTreeMap<String, String> {}
        /// The labels.
        optional labels: BTreeMap<String, String> {}
    }
}
