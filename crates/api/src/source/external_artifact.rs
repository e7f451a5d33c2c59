//! ExternalArtifact: an artifact that a controller other than the source controllers made.

use model::Artifact;

use super::{CATEGORIES, GROUP};
use crate::{Column, Condition, Definition, Fields, Names, Object, ReadError, Spec};

/// An artifact that somebody else makes.
pub type ExternalArtifact = Object<ExternalArtifactSpec>;

record! {
    /// Who makes the artifact.
    ExternalArtifactSpec {
        /// The object that the artifact is made for.
        optional source_ref: Option<ExternalArtifactSource> {}
    }
}

record! {
    /// The object that an artifact is made for.
    ExternalArtifactSource {
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

record! {
    /// The artifact.
    ExternalArtifactStatus {
        /// The artifact that was made last.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
    }
}

impl Spec for ExternalArtifactSpec {
    type Status = ExternalArtifactStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "ExternalArtifact",
        plural: "externalartifacts",
        short: &["ea"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("An artifact that another controller makes.", CATEGORIES).columns([
            Column::AGE,
            Column::READY,
            Column::STATUS,
            Column::new("Source", ".spec.sourceRef.name"),
        ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
