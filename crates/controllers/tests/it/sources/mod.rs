//! The source controllers.

mod bad_input;
mod bed;
mod bucket;
mod events;
mod fields;
mod follow;
mod git_repository;
mod helm_chart;
mod helm_chart_files;
mod helm_repository;
mod oci_repository;
mod progress;
mod storage;
