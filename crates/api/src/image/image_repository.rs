//! ImageRepository: the tags of an image.

use model::{Time, Value};

use super::{CATEGORIES, GROUP};
use crate::source::OciProvider;
use crate::{
    AccessFrom, Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object,
    ReadError, Spec,
};

/// The tags of an image.
pub type ImageRepository = Object<ImageRepositorySpec>;

record! {
    /// Which image to look at, and how.
    ImageRepositorySpec {
        /// The name of the image, without a tag.
        required image: String {}
        /// How often the registry is asked for tags.
        required interval: Duration {}
        /// How long that may take. If not set, the interval.
        optional timeout: Option<Duration> { .without_hours() }
        /// A Secret of type `kubernetes.io/dockerconfigjson` with what the registry asks for.
        optional secret_ref: Option<LocalObjectReference> {}
        /// A Secret with the address of a proxy, and `username` and `password` for it.
        optional proxy_secret_ref: Option<LocalObjectReference> {}
        /// The ServiceAccount whose pull secrets, or whose identity, are used.
        optional service_account_name: Option<String> { .length(0, 253) }
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection to the registry.
        optional cert_secret_ref: Option<LocalObjectReference> {}
        /// Stops asking until it is false again.
        optional suspend: bool {}
        /// From which namespaces ImagePolicies may refer to this.
        optional access_from: Option<AccessFrom> {}
        /// Regular expressions; tags that match one of them are left out.
        optional exclusion_list: Vec<String> {
            .at_most(25).default_to([r"^.*\.sig$"].into_iter().collect::<Value>())
        }
        /// Where credentials come from: `generic` is the Secret, the others use the identity of the workload.
        optional provider: Option<OciProvider> { .default_to("generic") }
        /// Lets the registry be reached over plain HTTP.
        optional insecure: bool {}
    }
}

record! {
    /// What was found last.
    ImageRepositoryStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The full name of the image, with its registry.
        optional canonical_image_name: Option<String> {}
        /// What was found last.
        optional last_scan_result: Option<ScanResult> {}
        /// The regular expressions that the tags were last left out by.
        optional observed_exclusion_list: Vec<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

record! {
    /// What was found in the registry.
    ScanResult {
        /// A digest of the tags.
        optional revision: Option<String> {}
        /// How many tags there are.
        required tag_count: i64 { .without("format") }
        /// When the registry was asked.
        optional scan_time: Option<Time> {}
        /// Some of the tags, the latest first.
        optional latest_tags: Vec<String> {}
    }
}

reconcile_status!(ImageRepositoryStatus);

impl Spec for ImageRepositorySpec {
    type Status = ImageRepositoryStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "ImageRepository",
        plural: "imagerepositories",
        short: &["imgrepo", "imagerepo"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("The tags of an image.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::new("Image", ".spec.image"),
                Column::new("Tags", ".status.lastScanResult.tagCount"),
                Column::READY,
                Column::STATUS,
                Column::new("Last scan", ".status.lastScanResult.scanTime").wide(),
                Column::AGE,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
