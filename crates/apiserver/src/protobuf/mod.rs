//! Bodies in protobuf, which kubectl and other Go programs send for built-in kinds.
//!
//! They are only read, never written: every client that sends protobuf also takes JSON for an answer, and objects are
//! kept as JSON. The field numbers come from a committed table (`cargo xtask generate protobuf`).

mod decode;
mod message;
mod wire;

pub(crate) use decode::Reader;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
