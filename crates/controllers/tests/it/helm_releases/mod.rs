//! HelmReleases on a cluster.

mod bed;
mod failed;
mod hooks;
mod kept;
mod killed;
mod never_stuck;
mod options;
mod program;
mod released;
mod resting;
