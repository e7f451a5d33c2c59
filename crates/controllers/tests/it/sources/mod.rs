//! The source controllers.

mod bed;
mod bucket;
mod events;
mod follow;
mod git_repository;
mod helm_repository;
mod oci_repository;
mod progress;
mod storage;
