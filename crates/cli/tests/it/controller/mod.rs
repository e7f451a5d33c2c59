//! `sluice controller source` as a process: started, asked, killed, replaced.

mod bed;
mod kill;
mod program;
mod remotes;
mod shards;
mod start;
