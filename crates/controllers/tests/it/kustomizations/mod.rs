//! Kustomizations from a commit to the cluster.

mod applied;
mod bad_input;
pub(crate) mod bed;
mod beyond;
mod built;
mod elsewhere;
mod health;
mod hindered;
mod intervals;
mod nested;
mod server;
mod told;
