//! Tests of the sources on files, archives and servers of the test kit.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod archive;
mod bucket;
mod git;
mod helm;
mod http;
mod identity;
mod kms;
mod oci;
mod store;
mod tenancy;
mod verify;
