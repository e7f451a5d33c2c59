//! The test kit's servers, seen through their protocols and through programs that no one of us wrote.

// The whole binary is a test, its helpers too.
#![allow(clippy::unwrap_used)]

mod cluster;
mod git;
mod helm;
mod http;
mod oci;
mod s3;
