//! `apps`: sets of pods that run for good.

mod daemon_set;
mod deployment;
mod replica_set;
mod revision;
mod rollout;
mod stateful_set;

pub(super) use daemon_set::{daemon_set, daemon_set_status, daemon_set_update};
pub(super) use deployment::{deployment, deployment_status, deployment_update};
pub(super) use replica_set::{
    replica_set, replica_set_status, replica_set_update, replication_controller,
    replication_controller_status,
};
pub(super) use revision::{revision, revision_update};
pub(super) use rollout::{not_above_100_percent, number_or_percent};
pub(super) use stateful_set::{stateful_set, stateful_set_status, stateful_set_update};

use super::at::At;
use super::errors::Errors;

/// The counts of a status, none of which is negative.
fn counts(status: &At, names: &[&str], errors: &mut Errors) {
    for name in names {
        errors.not_negative(&status.num(name));
    }
}

/// Counts that are parts of all replicas.
fn parts_of_replicas(status: &At, names: &[&str], errors: &mut Errors) {
    for name in names {
        if status.int_of(name) > status.int_of("replicas") {
            errors.invalid(&status.num(name), "cannot be greater than status.replicas");
        }
    }
}

/// The count of names that were taken only grows.
fn collisions(status: &At, old: &At, errors: &mut Errors) {
    let (count, before) = (status.get("collisionCount"), old.deep("status.collisionCount"));
    if before.is_set() && (!count.is_set() || count.int() < before.int()) {
        errors.invalid_value(&count, count.int(), "cannot be decremented");
    }
}
