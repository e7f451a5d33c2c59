//! Signatures of OCI artifacts.
//!
//! | module | what it checks |
//! |---|---|
//! | [`cosign`] | signatures and bundles of cosign, with public keys or with identities that sigstore vouches for |
//! | [`notation`] | signatures of notation, judged by a trust policy |

pub mod cosign;
mod key;
pub mod notation;

pub use key::PublicKey;
