//! ArtifactGenerator: artifacts made of the files of others.

use super::GROUP;
use crate::metadata::CommonMetadata;
use crate::{Column, Condition, Definition, Fields, Names, Object, ReadError, Spec};

/// Artifacts made of the files of others.
pub type ArtifactGenerator = Object<ArtifactGeneratorSpec>;

/// `@alias`
const ALIAS: &str = "^@([a-z0-9]([a-z0-9_-]*[a-z0-9])?)$";
/// `@alias/path`
const ALIAS_PATH: &str = "^@([a-z0-9]([a-z0-9_-]*[a-z0-9])?)/(.*)$";

record! {
    /// Which artifacts to make, of which sources.
    ArtifactGeneratorSpec {
        /// The sources whose files are used.
        required sources: Vec<GeneratorSource> { .at_least(1).at_most(1000) }
        /// The artifacts to make.
        required artifacts: Vec<OutputArtifact> { .at_least(1).at_most(1000) }
        /// Directories of a source, `@alias/path/*`, for each of which the artifacts are made.
        optional path_pattern: Option<String> { .length(0, 1024).pattern(ALIAS_PATH) }
        /// Labels and annotations of the ExternalArtifacts.
        optional common_metadata: Option<CommonMetadata> {}
    }
    rules {
        r"has(self.pathPattern) && size(self.pathPattern) > 0 || self.artifacts.all(a, a.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'))"
            => "artifact names must be valid Kubernetes object names when pathPattern is not set",
    }
}

record! {
    /// A source whose files are used.
    GeneratorSource {
        /// The name that it has here.
        required alias: String { .length(0, 63).pattern("^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$") }
        /// The kind of the source.
        required kind: GeneratorSourceKind {}
        /// The name of the source.
        required name: String { .length(0, 253).pattern("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$") }
        /// The namespace of the source. If not set, the same one.
        optional namespace: Option<String> { .length(1, 63).pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$") }
    }
}

choice! {
    /// A kind of source whose files can be used.
    GeneratorSourceKind {
        Bucket = "Bucket",
        GitRepository = "GitRepository",
        OciRepository = "OCIRepository",
        HelmChart = "HelmChart",
        ExternalArtifact = "ExternalArtifact",
    }
}

record! {
    /// An artifact to make.
    OutputArtifact {
        /// The name of the ExternalArtifact.
        required name: String { .length(1, 253) }
        /// The source whose revision it has, `@alias`. If not set, a digest of its content.
        optional revision: Option<String> { .length(0, 64).pattern(ALIAS) }
        /// The source whose own origin it is said to have, `@alias`.
        optional origin_revision: Option<String> { .length(0, 64).pattern(ALIAS) }
        /// What is copied into it, in this order.
        required copy: Vec<Copy> { .at_least(1) }
    }
}

record! {
    /// Files that are copied.
    Copy {
        /// Which files: `@alias/pattern`.
        required from: String { .length(1, 1024).pattern(ALIAS_PATH) }
        /// Where to: `@artifact/path`.
        required to: String { .length(1, 1024).pattern("^@(artifact)/(.*)$") }
        /// Patterns of files that are left out.
        optional exclude: Vec<String> { .at_most(100) }
        /// What to do with a file that is there already. If not set, it is overwritten.
        optional strategy: Option<CopyStrategy> {}
    }
}

choice! {
    /// What to do with files: overwrite what is there, merge YAML into it, or unpack archives.
    CopyStrategy { Overwrite = "Overwrite", Merge = "Merge", Extract = "Extract" }
}

record! {
    /// What was made last.
    ArtifactGeneratorStatus {
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The artifacts that were made.
        optional inventory: Vec<GeneratedArtifact> {}
        /// A digest of the revisions of the sources.
        optional observed_sources_digest: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

record! {
    /// An artifact that was made.
    GeneratedArtifact {
        /// The name of the ExternalArtifact.
        required name: String {}
        /// The namespace of the ExternalArtifact.
        required namespace: String {}
        /// The digest of the file.
        required digest: String {}
        /// The name of the file.
        required filename: String {}
    }
}

reconcile_status!(ArtifactGeneratorStatus without generation);

impl Spec for ArtifactGeneratorSpec {
    type Status = ArtifactGeneratorStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1beta1",
        kind: "ArtifactGenerator",
        plural: "artifactgenerators",
        short: &["ag"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>(
            "Artifacts made of the files of others.",
            &["all", "fluxcd", "fluxcd-sources"],
        )
        .columns([Column::AGE, Column::READY, Column::STATUS])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
