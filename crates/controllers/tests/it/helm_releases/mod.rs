//! HelmReleases on a cluster.

mod applied;
mod as_helm;
mod bad_input;
pub(crate) mod bed;
mod chosen;
mod drifted;
mod elsewhere;
mod failed;
mod hands;
mod hooks;
mod kept;
mod killed;
mod machine;
mod never_stuck;
mod options;
mod origin;
mod posted;
mod program;
mod records;
mod released;
mod rendered;
mod resting;
mod shards;
mod template;
mod told;
mod undeleted;
mod values;
