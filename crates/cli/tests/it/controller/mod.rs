//! `sluice controller` and its parts as processes: started, asked, killed, replaced.

mod all;
mod bed;
mod deploy;
mod flux_program;
mod kill;
mod kustomize;
mod own_client;
mod program;
mod remotes;
mod shards;
mod start;
mod variables;
