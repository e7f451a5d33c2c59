//! Clients, and which servers they trust.

mod clients;
mod forged;
mod openssl;
mod proxy;
mod trust;

use std::error::Error;

use source::http::Options;
use testkit::http::{Builder, Reply, Request};
use testkit::tls::Identity;

/// What a client that is given these authorities says of a server with this certificate.
async fn ask(identity: Identity, authorities: &str) -> Result<(), String> {
    let builder = Builder::new(|_: &Request| Reply::text("ok"));
    let server = builder.identity(identity).start();
    get(&server.url(), authorities).await
}

async fn get(url: &str, authorities: &str) -> Result<(), String> {
    let mut options = Options::default();
    options.tls.authorities = Some(authorities.as_bytes().to_vec());
    let client = options.client().map_err(|error| chain(&error))?;
    let answer = client.get(url).send().await;
    answer.map(drop).map_err(|error| chain(&error))
}

fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}
