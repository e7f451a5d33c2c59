//! The errors of S3.

use super::xml::Xml;
use crate::http::Reply;

/// Why a request failed. The names are those of S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    AccessDenied,
    AuthorizationHeaderMalformed(String),
    BadDigest,
    BucketNotEmpty,
    ContentMismatch,
    Expired,
    IncompleteBody,
    InvalidAccessKeyId,
    InvalidArgument(&'static str),
    InvalidRange,
    InvalidToken,
    NoSuchBucket,
    NoSuchKey,
    NotImplemented,
    PreconditionFailed,
    SignatureDoesNotMatch,
    TimeTooSkewed,
}

impl Failure {
    fn code(&self) -> (u16, &'static str, &str) {
        match self {
            Self::AccessDenied => (403, "AccessDenied", "Access Denied"),
            Self::AuthorizationHeaderMalformed(why) => (400, "AuthorizationHeaderMalformed", why),
            Self::BadDigest => (
                400,
                "BadDigest",
                "The Content-MD5 you specified did not match what we received.",
            ),
            Self::BucketNotEmpty => (
                409,
                "BucketNotEmpty",
                "The bucket you tried to delete is not empty",
            ),
            Self::ContentMismatch => (
                400,
                "XAmzContentSHA256Mismatch",
                "The provided 'x-amz-content-sha256' header does not match what was computed.",
            ),
            Self::Expired => (403, "AccessDenied", "Request has expired"),
            Self::IncompleteBody => (
                400,
                "IncompleteBody",
                "The request body is not what its headers announce.",
            ),
            Self::InvalidAccessKeyId => (
                403,
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records.",
            ),
            Self::InvalidArgument(why) => (400, "InvalidArgument", why),
            Self::InvalidRange => (416, "InvalidRange", "The requested range is not satisfiable"),
            Self::InvalidToken => (
                400,
                "InvalidToken",
                "The provided token is malformed or otherwise invalid.",
            ),
            Self::NoSuchBucket => (404, "NoSuchBucket", "The specified bucket does not exist"),
            Self::NoSuchKey => (404, "NoSuchKey", "The specified key does not exist."),
            Self::NotImplemented => (
                501,
                "NotImplemented",
                "This server does not implement what you asked for.",
            ),
            Self::PreconditionFailed => (
                412,
                "PreconditionFailed",
                "At least one of the pre-conditions you specified did not hold",
            ),
            Self::SignatureDoesNotMatch => (
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided. Check your key and \
                 signing method.",
            ),
            Self::TimeTooSkewed => (
                403,
                "RequestTimeTooSkewed",
                "The difference between the request time and the current time is too large.",
            ),
        }
    }

    /// The answer, with what it is about.
    pub(super) fn about(&self, resource: &str) -> Reply {
        let (status, code, message) = self.code();
        let mut xml = Xml::new();
        xml.element("Error", |xml| {
            xml.text("Code", code);
            xml.text("Message", message);
            xml.text("Resource", resource);
            xml.text("RequestId", "testkit");
        });
        xml.reply().with_status(status)
    }
}
