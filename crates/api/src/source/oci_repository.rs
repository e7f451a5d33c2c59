//! OCIRepository: files of an artifact in an OCI registry.

use model::Artifact;

use super::oci_verification::{OciProvider, OciVerification};
use super::{CATEGORIES, GROUP};
use crate::{
    Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object, ReadError, Spec,
};

/// Files of an OCI artifact.
pub type OciRepository = Object<OciRepositorySpec>;

record! {
    /// Which artifact to pull, and what of it.
    OciRepositorySpec {
        /// The address of the repository, without a tag: `oci://ghcr.io/org/app`.
        required url: String { .pattern("^oci://.*$") }
        /// What to pull. If not set, the tag `latest`.
        optional r#ref as "ref": Option<OciReference> {}
        /// Which layer is taken, and how. If not set, the first one is unpacked.
        optional layer_selector: Option<LayerSelector> {}
        /// Where credentials come from: `generic` is the Secret, the others use the identity of the workload.
        optional provider: Option<OciProvider> { .default_to("generic") }
        /// A Secret of type `kubernetes.io/dockerconfigjson` with what the registry asks for.
        optional secret_ref: Option<LocalObjectReference> {}
        /// Whose signatures are accepted.
        optional verify: Option<OciVerification> {}
        /// The ServiceAccount whose pull secrets, or whose identity, are used.
        optional service_account_name: Option<String> {}
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection to the registry.
        optional cert_secret_ref: Option<LocalObjectReference> {}
        /// A Secret with the address of a proxy, and `username` and `password` for it.
        optional proxy_secret_ref: Option<LocalObjectReference> {}
        /// How often the registry is asked for changes.
        required interval: Duration {}
        /// How long one operation on the registry may take.
        optional timeout: Option<Duration> { .without_hours().default_to("60s") }
        /// What to leave out of the artifact, as the lines of a `.sourceignore` file.
        optional ignore: Option<String> {}
        /// Lets the registry be reached over plain HTTP.
        optional insecure: bool {}
        /// Stops pulling until it is false again. The last artifact stays served.
        optional suspend: bool {}
    }
}

record! {
    /// What to pull. The first that is set of digest, semver and tag counts.
    OciReference {
        /// The digest of a manifest: `sha256:<hex>`. It goes before the others.
        optional digest: Option<String> {}
        /// A range of versions; the newest tag in it is taken. It goes before the tag.
        optional semver: Option<String> {}
        /// A regular expression; only tags that match it are looked at for the range.
        optional semver_filter: Option<String> {}
        /// A tag.
        optional tag: Option<String> {}
    }
}

record! {
    /// Which layer of an artifact is taken, and how.
    LayerSelector {
        /// The media type of the layer; the first one that has it is taken.
        optional media_type: Option<String> {}
        /// Whether the layer is unpacked (`extract`) or taken as it is (`copy`). If not set, it is unpacked.
        optional operation: Option<LayerOperation> {}
    }
}

choice! {
    /// What is done with a layer.
    LayerOperation { Extract = "extract", Copy = "copy" }
}

record! {
    /// What was pulled last.
    OciRepositoryStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// Where the last artifact is served.
        optional url: Option<String> {}
        /// The packed files of the last revision that was pulled.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// The ignore rules that the artifact was made with.
        optional observed_ignore: Option<String> {}
        /// The layer selector that the artifact was made with.
        optional observed_layer_selector: Option<LayerSelector> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(OciRepositoryStatus);

impl Spec for OciRepositorySpec {
    type Status = OciRepositoryStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "OCIRepository",
        plural: "ocirepositories",
        short: &["ocirepo"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("The files of an artifact in an OCI registry.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta2"])
            .columns([
                Column::new("URL", ".spec.url"),
                Column::READY,
                Column::STATUS,
                Column::AGE,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
