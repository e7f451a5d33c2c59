//! HelmReleases on a cluster.

mod applied;
mod bad_input;
mod bed;
mod drifted;
mod elsewhere;
mod failed;
mod hands;
mod hooks;
mod kept;
mod killed;
mod machine;
mod options;
mod origin;
mod program;
mod records;
mod released;
mod rendered;
mod told;
mod values;
