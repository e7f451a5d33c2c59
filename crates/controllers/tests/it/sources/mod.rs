//! The source controllers.

mod bed;
mod git_repository;
mod oci_repository;
