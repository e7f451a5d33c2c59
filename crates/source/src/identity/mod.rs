//! Who we are to a cloud, and the credentials that follow from it.
//!
//! ```text
//!   Caller ─▶ access of the cloud (keys of AWS, tokens of Azure and Google) ─▶ registry login
//!   the controller, or a ServiceAccount         │                            ├▶ Git login
//!                                               └────────────────────────────┴▶ bucket
//! ```
//!
//! [`Identities`] is the one thing to ask. It keeps what it was given until 80 % of its lifetime, and has concurrent askers wait
//! for one exchange. Whatever gives credentials, a cloud, a key file or an app, is a [`CredentialSource`], and what it gives is
//! a [`Grant`].
//!
//! Credentials leave only to a [`Destination`] that was checked: an object must not lead them elsewhere.
//!
//! Environment variables have the names that the libraries of the clouds read. Endpoints are fields, so that tests bring
//! their own servers.

mod ask;
pub mod aws;
pub mod azure;
mod cache;
mod caller;
mod destination;
mod environment;
mod error;
pub mod gcp;
mod grant;
mod identities;
pub(crate) mod jwt;
mod tally;

use std::sync::Arc;

use secrecy::SecretString;

pub use cache::Limits;
pub use caller::{Caller, ServiceAccount, ServiceAccountTokens};
pub use destination::{Destination, Endpoint, NoEndpoint};
pub use environment::{Endpoints, Environment};
pub use error::Error;
pub use grant::{CredentialSource, Grant};
pub use identities::{Asker, Cloud, Identities, Settings};
pub use tally::{Events, Involved, Tally};

pub(crate) use ask::why;
pub(crate) use grant::Kept;

/// A token or the like that is in a file, which is read each time because others renew it.
async fn read_file(path: &str) -> Result<SecretString, Error> {
    let text = tokio::fs::read_to_string(path).await;
    let text = text.map_err(|source| Error::File {
        path: path.to_owned(),
        source: Arc::new(source),
    })?;
    Ok(text.trim().into())
}
