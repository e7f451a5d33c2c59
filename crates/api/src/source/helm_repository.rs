//! HelmRepository: the index of a Helm repository, or a place in an OCI registry that holds charts.

use model::Artifact;

use super::oci_verification::OciProvider;
use super::{CATEGORIES, GROUP};
use crate::{
    AccessFrom, Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object,
    ReadError, Spec,
};

/// A repository of Helm charts.
pub type HelmRepository = Object<HelmRepositorySpec>;

record! {
    /// Where the charts are.
    HelmRepositorySpec {
        /// The address of the repository: http or https for one with an index, oci for a registry.
        required url: String { .pattern("^(http|https|oci)://.*$") }
        /// A Secret with `username` and `password`; of type `kubernetes.io/dockerconfigjson` for a registry.
        optional secret_ref: Option<LocalObjectReference> {}
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection.
        optional cert_secret_ref: Option<LocalObjectReference> {}
        /// Sends the credentials also to other hosts that the index names for its charts.
        optional pass_credentials: bool {}
        /// How often the index is fetched. It has no effect for a registry.
        optional interval: Option<Duration> {}
        /// Lets a registry be reached over plain HTTP.
        optional insecure: bool {}
        /// How long fetching may take. If not set, a minute.
        optional timeout: Option<Duration> { .without_hours() }
        /// Stops fetching until it is false again. The last index stays served.
        optional suspend: bool {}
        /// From which namespaces this may be referred to. It has no effect.
        optional access_from: Option<AccessFrom> {}
        /// Whether this is a repository with an index (`default`) or a place in a registry (`oci`).
        optional r#type as "type": Option<HelmRepositoryType> {}
        /// Where credentials for a registry come from: `generic` is the Secret, the others use the identity of the
        /// workload.
        optional provider: Option<OciProvider> { .default_to("generic") }
    }
}

choice! {
    /// What kind of Helm repository it is.
    HelmRepositoryType { Default = "default", Oci = "oci" }
}

record! {
    /// What was fetched last.
    HelmRepositoryStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// Where the last index is served.
        optional url: Option<String> {}
        /// The last index that was fetched.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(HelmRepositoryStatus);

impl Spec for HelmRepositorySpec {
    type Status = HelmRepositoryStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "HelmRepository",
        plural: "helmrepositories",
        short: &["helmrepo"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("A repository of Helm charts.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::new("URL", ".spec.url"),
                Column::AGE,
                Column::READY,
                Column::STATUS,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
