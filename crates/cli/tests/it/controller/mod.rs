//! `sluice controller` and its parts as processes: started, asked, killed, replaced.

mod all;
mod bed;
mod deploy;
mod draining;
mod example;
mod flux_program;
mod kill;
mod kustomize;
mod monorepo;
mod own_client;
mod program;
mod release;
mod release_commands;
mod release_killed;
mod remotes;
mod rollback;
mod shards;
mod start;
mod suite;
mod variables;
