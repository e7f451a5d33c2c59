//! `source.extensions.fluxcd.io`: artifacts made of other artifacts.

mod artifact_generator;

pub use artifact_generator::{
    ArtifactGenerator, ArtifactGeneratorSpec, ArtifactGeneratorStatus, Copy, CopyStrategy, GeneratedArtifact,
    GeneratorSource, GeneratorSourceKind, OutputArtifact,
};

/// The API group of the extensions.
pub const GROUP: &str = "source.extensions.fluxcd.io";
