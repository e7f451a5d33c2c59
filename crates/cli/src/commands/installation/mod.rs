//! `sluice check` and `sluice version`: what is installed in a cluster, and whether it works.

mod check;
mod found;
mod version;

pub(crate) use check::Args as Check;
pub(crate) use check::ready as deployment_ready;
pub(crate) use check::run as check;
pub(crate) use found::{PART_OF_FLUX, installation};
pub(crate) use version::Args as Version;
pub(crate) use version::run as version;
