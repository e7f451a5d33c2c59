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

record! {
    /// An object of the same kind, by its name, and of another namespace if one is given.
    NamespacedObjectReference {
        /// The name of the object.
        required name: String {}
        /// The namespace of the object. If not set, the same one.
        optional namespace: Option<String> {}
    }
}

record! {
    /// An object of the same kind that must be ready first.
    Dependency {
        /// The name of the object.
        required name: String {}
        /// The namespace of the object. If not set, the same one.
        optional namespace: Option<String> {}
        /// A CEL expression over `self` and `dep` that says whether the other is ready, in place of what is checked
        /// otherwise.
        optional ready_expr: Option<String> {}
    }
}

record! {
    /// A value in a Secret of the same namespace.
    SecretKeyReference {
        /// The name of the Secret.
        required name: String {}
        /// The key in the Secret. If not set, `value` or `value.yaml`.
        optional key: Option<String> {}
    }
}

const ONE_OF_BOTH: &str =
    "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";

record! {
    /// Another cluster to work on.
    KubeConfigReference {
        /// A ConfigMap that says how to reach the cluster with the identity of the workload: `provider`, `cluster`,
        /// `address`, `ca.crt`, `audiences`, `serviceAccountName`.
        optional config_map_ref: Option<LocalObjectReference> {}
        /// A Secret with a kubeconfig. It must hold all that it needs: programs that give credentials are not run.
        optional secret_ref: Option<SecretKeyReference> {}
    }
    rules {
        "has(self.configMapRef) || has(self.secretRef)" => ONE_OF_BOTH,
        "!has(self.configMapRef) || !has(self.secretRef)" => ONE_OF_BOTH,
    }
}
