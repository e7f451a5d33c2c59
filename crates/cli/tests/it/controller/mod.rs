//! `sluice controller source` as a process: started, asked, killed, replaced.

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
