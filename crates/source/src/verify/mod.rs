//! Signatures of OCI artifacts.
//!
//! | module | what it checks |
//! |---|---|
//! | [`cosign`] | signatures and bundles of cosign, with public keys or with identities that sigstore vouches for |

pub mod cosign;
mod key;

pub use key::PublicKey;
