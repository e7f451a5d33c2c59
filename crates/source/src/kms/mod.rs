//! Key management services: what they decrypt for us.
//!
//! Each file is one request to one service, made of plain values. Whoever calls has the credentials, from
//! [`identity`](crate::identity) or from a Secret, and says how clients are made. Addresses can be given, so that tests
//! bring their own servers.
//!
//! | module | service |
//! |---|---|
//! | [`aws`] | AWS KMS, and the token service that gives a role |
//! | [`azure`] | Azure Key Vault |
//! | [`gcp`] | Google Cloud KMS |
//! | [`vault`] | the transit engine of Vault or OpenBao, and its login with a token of a ServiceAccount |

mod ask;
pub mod aws;
pub mod azure;
mod error;
pub mod gcp;
pub mod vault;

pub use error::Error;
