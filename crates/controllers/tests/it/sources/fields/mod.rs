//! What each field of a spec does.

mod bucket;
mod git;
mod git_access;
mod git_signed;
mod helm;
mod oci;
mod oci_access;
mod oci_keyless;
mod oci_signed;
