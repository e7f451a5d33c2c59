//! The errors of the specification.

use serde_json::json;

use crate::http::Reply;

/// Why a request failed. The names are those of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    BlobUnknown,
    BlobUploadInvalid,
    BlobUploadUnknown,
    DigestInvalid,
    ManifestBlobUnknown,
    ManifestInvalid,
    ManifestUnknown,
    NameInvalid,
    NameUnknown,
    RangeInvalid,
    SizeInvalid,
    TagInvalid,
    Unauthorized,
    Unsupported,
}

impl Failure {
    fn code(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::BlobUnknown => (404, "BLOB_UNKNOWN", "blob unknown to registry"),
            Self::BlobUploadInvalid => (400, "BLOB_UPLOAD_INVALID", "blob upload invalid"),
            Self::BlobUploadUnknown => (404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry"),
            Self::DigestInvalid => (
                400,
                "DIGEST_INVALID",
                "provided digest did not match uploaded content",
            ),
            Self::ManifestBlobUnknown => (
                400,
                "MANIFEST_BLOB_UNKNOWN",
                "manifest references a manifest or blob unknown to registry",
            ),
            Self::ManifestInvalid => (400, "MANIFEST_INVALID", "manifest invalid"),
            Self::ManifestUnknown => (404, "MANIFEST_UNKNOWN", "manifest unknown"),
            Self::NameInvalid => (400, "NAME_INVALID", "invalid repository name"),
            Self::NameUnknown => (404, "NAME_UNKNOWN", "repository name not known to registry"),
            Self::RangeInvalid => (
                416,
                "BLOB_UPLOAD_INVALID",
                "the range does not follow what was uploaded",
            ),
            Self::SizeInvalid => (413, "SIZE_INVALID", "the manifest is too large"),
            Self::TagInvalid => (400, "TAG_INVALID", "invalid tag name"),
            Self::Unauthorized => (401, "UNAUTHORIZED", "authentication required"),
            Self::Unsupported => (405, "UNSUPPORTED", "the operation is unsupported"),
        }
    }

    /// The answer, with what it is about.
    pub(super) fn about(self, detail: &str) -> Reply {
        let (status, code, message) = self.code();
        let body = json!({"errors": [{"code": code, "message": message, "detail": detail}]});
        Reply::json(body.to_string()).with_status(status)
    }
}
