//! How objects name one another.

use std::collections::BTreeMap;

record! {
    /// An object of the same namespace, by its name.
    LocalObjectReference {
        /// The name of the object.
        required name: String {}
    }
}

record! {
    /// From which other namespaces an object may be referred to.
    AccessFrom {
        /// The namespaces: one that matches any of these may refer to the object. An empty selector matches all.
        required namespace_selectors: Vec<NamespaceSelector> {}
    }
}

record! {
    /// Namespaces by their labels.
    NamespaceSelector {
        /// The labels that a namespace must have.
        optional match_labels: BTreeMap<String, String> {}
    }
}
