//! Kustomizations from a commit to the cluster.

mod applied;
mod bed;
mod built;
mod elsewhere;
mod health;
mod hindered;
mod server;
mod told;
