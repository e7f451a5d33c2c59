//! Kinds of the core group that are neither pods nor volumes.

mod config;
mod endpoints;
mod event;
mod limit_range;
mod namespace;
mod node;
mod quota;
mod service;
mod service_address;

pub(super) use config::{config_map, config_map_update, secret, secret_update};
pub(super) use endpoints::{endpoint_slice, endpoint_slice_update, endpoints, endpoints_update};
pub(super) use event::{event, event_update};
pub(super) use limit_range::limit_range;
pub(super) use namespace::{namespace, namespace_status};
pub(super) use node::{node, node_status, node_update};
pub(super) use quota::{quota, quota_status, quota_update};
pub(super) use service::{Modes, balancer_status, service, service_status, service_update};
