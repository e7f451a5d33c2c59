//! ImagePolicy: which tag of an image is the latest.

use super::{CATEGORIES, GROUP};
use crate::{
    Column, Condition, Definition, Duration, Fields, Names, NamespacedObjectReference, Object, ReadError,
    Spec,
};

/// Which tag of an image is the latest.
pub type ImagePolicy = Object<ImagePolicySpec>;

record! {
    /// How the latest tag is chosen.
    ImagePolicySpec {
        /// The ImageRepository with the tags.
        required image_repository_ref: NamespacedObjectReference {}
        /// How tags are ordered.
        required policy: Policy {}
        /// Which tags are looked at. If not set, all.
        optional filter_tags: Option<TagFilter> {}
        /// Whether the digest of the latest tag is looked up.
        optional digest_reflection_policy: Option<DigestReflection> { .default_to("Never") }
        /// How often the digest is looked up. Only if it always is.
        optional interval: Option<Duration> {}
        /// Stops choosing until it is false again.
        optional suspend: bool {}
    }
    rules {
        "!has(self.interval) || (has(self.digestReflectionPolicy) && self.digestReflectionPolicy == 'Always')"
            => "spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'",
        "has(self.interval) || !has(self.digestReflectionPolicy) || self.digestReflectionPolicy != 'Always'"
            => "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'",
    }
}

choice! {
    /// When the digest of the latest tag is looked up.
    DigestReflection { Always = "Always", IfNotPresent = "IfNotPresent", Never = "Never" }
}

record! {
    /// How tags are ordered: exactly one of these.
    Policy {
        /// By version.
        optional semver: Option<SemVer> {}
        /// By letters.
        optional alphabetical: Option<Alphabetical> {}
        /// By number.
        optional numerical: Option<Numerical> {}
    }
}

record! {
    /// By version.
    SemVer {
        /// The range that versions must be in; the highest one is taken.
        required range: String {}
    }
}

record! {
    /// By letters.
    Alphabetical {
        /// Whether the last (`asc`) or the first (`desc`) one is taken.
        optional order: Option<Order> { .default_to("asc") }
    }
}

record! {
    /// By number.
    Numerical {
        /// Whether the highest (`asc`) or the lowest (`desc`) one is taken.
        optional order: Option<Order> { .default_to("asc") }
    }
}

choice! {
    /// The order of tags; the last one is taken.
    Order { Ascending = "asc", Descending = "desc" }
}

record! {
    /// Which tags are looked at, and what of them.
    TagFilter {
        /// A regular expression that tags must match.
        optional pattern: Option<String> {}
        /// What of a tag is ordered, made of the groups of the pattern: `$1`.
        optional extract: Option<String> {}
    }
}

record! {
    /// Which tag is the latest.
    ImagePolicyStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The latest image.
        optional latest_ref: Option<ImageReference> {}
        /// The image that was the latest before.
        optional observed_previous_ref: Option<ImageReference> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

record! {
    /// An image.
    ImageReference {
        /// The name of the image.
        required name: String {}
        /// The tag of the image.
        required tag: String {}
        /// The digest of the image.
        optional digest: Option<String> {}
    }
}

reconcile_status!(ImagePolicyStatus);

impl Spec for ImagePolicySpec {
    type Status = ImagePolicyStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "ImagePolicy",
        plural: "imagepolicies",
        short: &["imgpol", "imagepol"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("The choice of the latest tag of an image.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::new("Image", ".status.latestRef.name"),
                Column::new("Tag", ".status.latestRef.tag"),
                Column::READY,
                Column::STATUS,
                Column::AGE,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
