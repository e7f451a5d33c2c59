//! Volumes, claims for them, and `storage.k8s.io`.

mod attachment;
pub(super) mod claim;
mod class;
mod csi;
pub(super) mod disk;
mod volume;

pub(super) use attachment::{attachment, attachment_update};
pub(super) use class::{attributes_class, attributes_class_update, class, class_update};
pub(super) use csi::{capacity, capacity_update, driver, driver_update, node, node_update};
pub(super) use volume::{volume, volume_update};
