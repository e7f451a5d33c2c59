//! Signatures of OCI artifacts and of packed charts.
//!
//! | module | what it checks |
//! |---|---|
//! | [`cosign`] | signatures and bundles of cosign, with public keys or with identities that sigstore vouches for |
//! | [`notation`] | signatures of notation, judged by a trust policy |
//! | [`provenance`] | provenance files of charts, with the keys of an OpenPGP keyring; only the command line has them |

pub mod cosign;
mod key;
pub mod notation;
pub mod provenance;

pub use key::PublicKey;
