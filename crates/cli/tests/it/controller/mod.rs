//! `sluice controller source` as a process: started, asked, killed, replaced.

mod bed;
mod deploy;
mod flux_program;
mod kill;
mod program;
mod remotes;
mod shards;
mod start;
mod variables;
