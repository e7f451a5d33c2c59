//! What a tenant must not reach: credentials of the controller, other namespaces, other tenants' work.

mod builds;
mod clusters;
mod decryption;
mod identities;
mod memory;
mod names;
mod patterns;
mod references;
mod releases;
mod undecodable;
