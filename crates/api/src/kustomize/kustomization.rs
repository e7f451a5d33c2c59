//! Kustomization: manifests of a source, built and applied.

use std::collections::BTreeMap;

use model::Value;

use super::{GROUP, KustomizationStatus};
use crate::health::HealthCheckExpr;
use crate::metadata::CommonMetadata;
use crate::patch::{IgnoreRule, Image, Json6902Patch, Patch};
use crate::{
    Column, Definition, Dependency, Duration, Fields, KubeConfigReference, LocalObjectReference, Names,
    Object, ReadError, Spec,
};

/// Manifests of a source, built and applied.
pub type Kustomization = Object<KustomizationSpec>;

record! {
    /// What to build, from where, and how to apply it.
    KustomizationSpec {
        /// Labels and annotations that everything gets that is applied.
        optional common_metadata: Option<CommonMetadata> {}
        /// Kustomizations that must be ready first.
        optional depends_on: Vec<Dependency> {}
        /// How encrypted files are read.
        optional decryption: Option<Decryption> {}
        /// How often the source is applied again, whether it changed or not.
        required interval: Duration {}
        /// How soon a failed attempt is made again. If not set, the interval.
        optional retry_interval: Option<Duration> {}
        /// The cluster to apply to. If not set, this one.
        optional kube_config: Option<KubeConfigReference> {}
        /// The directory in the source that holds `kustomization.yaml` or plain manifests. If not set, the root.
        optional path: Option<String> {}
        /// Values that are put in the place of `${name}` after the build.
        optional post_build: Option<PostBuild> {}
        /// Deletes what is no longer in the source.
        required prune: Option<bool> {}
        /// What happens to the applied objects when this is deleted. If not set, they are deleted if `prune` is true.
        optional deletion_policy: Option<DeletionPolicy> {}
        /// Objects whose health is waited for.
        optional health_checks: Vec<ObjectReference> {}
        /// How the health of kinds is told that are not known.
        optional health_check_exprs: Vec<HealthCheckExpr> {}
        /// Put before the names of all objects.
        optional name_prefix: Option<String> { .length(1, 200) }
        /// Put after the names of all objects.
        optional name_suffix: Option<String> { .length(1, 200) }
        /// Changes to the manifests.
        optional patches: Vec<Patch> {}
        /// Other names, tags or digests for images.
        optional images: Vec<Image> {}
        /// Which origins are noted in annotations of what is built.
        optional build_metadata: Vec<BuildMetadata> {}
        /// The ServiceAccount to act as.
        optional service_account_name: Option<String> {}
        /// The source that holds the manifests.
        required source_ref: KustomizationSource {}
        /// Stops applying until it is false again.
        optional suspend: bool {}
        /// The namespace that all objects get.
        optional target_namespace: Option<String> { .length(1, 63) }
        /// How long building, applying and waiting for health may take. If not set, the interval.
        optional timeout: Option<Duration> {}
        /// Recreates objects whose immutable fields changed.
        optional force: bool { .default_to(false) }
        /// Waits for the health of everything that was applied. `healthChecks` has no effect then.
        optional wait: bool {}
        /// Kustomize components to add, by their paths in the source.
        optional components: Vec<String> {}
        /// Skips components that are not there, instead of failing.
        optional ignore_missing_components: bool {}
        /// Fields that are left as they are in the cluster.
        optional ignore: Vec<IgnoreRule> {}
        /// Patches by JSON operations. `patches` replaces it.
        older patches_json6902 as "patchesJson6902": Vec<Json6902Patch> {}
        /// Patches by merging. `patches` replaces it.
        older patches_strategic_merge: Vec<Value> {}
        /// How manifests were validated. They always are, by the server: it has no effect.
        older validation: Option<Validation> {}
    }
}

record! {
    /// How encrypted files are read.
    Decryption {
        /// The tool that they were encrypted with.
        required provider: DecryptionProvider {}
        /// A Secret with the private keys.
        optional secret_ref: Option<LocalObjectReference> {}
        /// The ServiceAccount whose identity is used for keys of a cloud.
        optional service_account_name: Option<String> {}
    }
}

choice! {
    /// A tool that encrypts files.
    DecryptionProvider { Sops = "sops" }
}

record! {
    /// Values that are put in the place of `${name}` after the build.
    PostBuild {
        /// The values by their names. They go before those of `substituteFrom`.
        optional substitute: BTreeMap<String, String> {}
        /// ConfigMaps and Secrets with values; later ones go before earlier ones.
        optional substitute_from: Vec<SubstituteFrom> {}
        /// Whether to substitute even if there are no values. If not set, only if there are.
        optional substitute_strategy: Option<SubstituteStrategy> {}
    }
}

record! {
    /// A ConfigMap or Secret with values.
    SubstituteFrom {
        /// Which of both.
        required kind: VariablesKind {}
        /// The name of the object.
        required name: String { .length(1, 253) }
        /// Goes on without it if it is not there.
        optional optional: bool { .default_to(false) }
    }
}

choice! {
    /// Where values can come from.
    VariablesKind { Secret = "Secret", ConfigMap = "ConfigMap" }
}

choice! {
    /// When values are substituted.
    SubstituteStrategy { WithVariables = "WithVariables", Always = "Always" }
}

choice! {
    /// What happens to the applied objects when a Kustomization is deleted.
    DeletionPolicy {
        MirrorPrune = "MirrorPrune",
        Delete = "Delete",
        WaitForTermination = "WaitForTermination",
        Orphan = "Orphan",
    }
}

record! {
    /// An object of any kind.
    ObjectReference {
        /// The group and version of the object.
        optional api_version: Option<String> {}
        /// The kind of the object.
        required kind: String {}
        /// The name of the object.
        required name: String {}
        /// The namespace of the object. If not set, the same one.
        optional namespace: Option<String> {}
    }
}

choice! {
    /// What Kustomize notes in annotations.
    BuildMetadata { OriginAnnotations = "originAnnotations", TransformerAnnotations = "transformerAnnotations" }
}

record! {
    /// The source that holds the manifests.
    KustomizationSource {
        /// The group and version of the source.
        optional api_version: Option<String> {}
        /// The kind of the source.
        required kind: KustomizationSourceKind {}
        /// The name of the source.
        required name: String {}
        /// The namespace of the source. If not set, the same one.
        optional namespace: Option<String> {}
    }
}

choice! {
    /// A kind of source that holds manifests.
    KustomizationSourceKind {
        OciRepository = "OCIRepository",
        GitRepository = "GitRepository",
        Bucket = "Bucket",
        ExternalArtifact = "ExternalArtifact",
    }
}

choice! {
    /// How an older version validated manifests.
    Validation { None = "none", Client = "client", Server = "server" }
}

impl Spec for KustomizationSpec {
    type Status = KustomizationStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "Kustomization",
        plural: "kustomizations",
        short: &["ks"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>(
            "Manifests of a source, built and applied.",
            &["all", "fluxcd", "fluxcd-appliers"],
        )
        .unobserved_at_first()
        .older(&["v1beta1", "v1beta2"])
        .columns([Column::AGE, Column::READY, Column::STATUS])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
