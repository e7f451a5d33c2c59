//! `networking.k8s.io`.

mod ingress;
mod ingress_class;
mod network_policy;
mod service_network;

pub(super) use ingress::{ingress, ingress_status, ingress_update};
pub(super) use ingress_class::{ingress_class, ingress_class_update};
pub(super) use network_policy::{network_policy, network_policy_update};
pub(super) use service_network::{ip_address, ip_address_update, service_cidr, service_cidr_update};
