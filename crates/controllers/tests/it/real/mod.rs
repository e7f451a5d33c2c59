//! The controllers with the programs that people use: Git's own servers, the registry of Debian, and what git, oras, flux,
//! cosign, notation and helm have made. What a machine lacks is skipped, with a line that says so;
//! `cargo xtask real-programs exec` brings it and lets nothing be skipped.

mod flux_client;
mod git;
mod git_http;
mod git_ssh;
mod helm;
mod oci;
mod registry;
mod served;
mod server;
mod signed;
mod sshd;
