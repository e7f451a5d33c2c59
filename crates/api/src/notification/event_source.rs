//! Objects that events are about.

use std::collections::BTreeMap;

record! {
    /// Objects of one kind, by name or labels.
    EventSource {
        /// The group and version of the objects.
        optional api_version: Option<String> {}
        /// The kind of the objects.
        required kind: EventSourceKind {}
        /// The name of the object, or `*` for all.
        required name: String { .length(1, 253) }
        /// The namespace of the objects. If not set, the same one.
        optional namespace: Option<String> { .length(1, 253) }
        /// Labels that the objects must have, if the name is `*`.
        optional match_labels: BTreeMap<String, String> {}
    }
}

choice! {
    /// A kind that events are about.
    EventSourceKind {
        Bucket = "Bucket",
        GitRepository = "GitRepository",
        Kustomization = "Kustomization",
        HelmRelease = "HelmRelease",
        HelmChart = "HelmChart",
        HelmRepository = "HelmRepository",
        ImageRepository = "ImageRepository",
        ImagePolicy = "ImagePolicy",
        ImageUpdateAutomation = "ImageUpdateAutomation",
        OciRepository = "OCIRepository",
        ArtifactGenerator = "ArtifactGenerator",
        ExternalArtifact = "ExternalArtifact",
    }
}
