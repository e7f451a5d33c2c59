//! The source controllers.

mod bed;
mod bucket;
mod git_repository;
mod helm_repository;
mod oci_repository;
