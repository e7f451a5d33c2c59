//! The fields that writing one part of an object sets back, and that server-side apply therefore does not own.

use smd::schema::Gvk;

use super::traits;
use crate::strategy::Part;

/// A way through the fields of an object.
pub type FieldPath = &'static [&'static str];

/// The paths that a write of `part` leaves as they were.
pub fn fields(gvk: &Gvk, part: Part) -> &'static [FieldPath] {
    match (part, gvk.group.as_str(), gvk.kind.as_str()) {
        (Part::Main, "certificates.k8s.io", "CertificateSigningRequest") => &[&["spec"], &["status"]],
        (Part::Main, group, kind) if traits::of(group, kind).has_status => &[&["status"]],
        (Part::Main, ..) => &[],
        (Part::Status, "certificates.k8s.io", "CertificateSigningRequest") => {
            &[&["spec"], &["status", "conditions"]]
        }
        (Part::Status, "apps", "Deployment") => &[&["spec"], &["metadata", "labels"]],
        (Part::Status, "", "Pod") => &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        (
            Part::Status,
            "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "apiregistration.k8s.io"
            | "flowcontrol.apiserver.k8s.io"
            | "storage.k8s.io",
            _,
        ) => &[&["metadata"], &["spec"]],
        (Part::Status, ..) => &[&["spec"]],
    }
}
