//! Kustomizations from a commit to the cluster.

mod applied;
mod bed;
mod elsewhere;
mod hindered;
