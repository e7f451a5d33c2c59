//! Destinations that URLs of tenants must not lead to.
//!
//! A controller reaches servers that a tenant cannot. One is the artifact server, which asks for no credentials: each request carries
//! [`SOURCE_REQUEST`], by which that server recognises and refuses it under whatever name it was reached. The others are those that
//! [`reach::guard`] refuses: as the host of a URL, as an address of a name, and where a redirect leads to them.

use std::io;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use reach::guard::{Refused, permitted, refused_address};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::HeaderMap;
use reqwest::{ClientBuilder, Proxy};
use tokio::net::TcpStream;

/// The header of all requests to URLs that tenants choose. The artifact server refuses requests that have it.
pub const SOURCE_REQUEST: HeaderName = HeaderName::from_static("sluice-source-request");

/// The names that stand for refused addresses. No name server has them (RFC 6761).
const REFUSED: &str = ".refused.invalid";

/// Keeps a client from the destinations that tenants must not reach.
pub(super) fn guarded(builder: ClientBuilder) -> ClientBuilder {
    let mut headers = HeaderMap::new();
    headers.insert(SOURCE_REQUEST, HeaderValue::from_static("1"));
    // The library resolves no addresses, only names, and shows URLs to nobody but proxies. So a refused address becomes a
    // proxy whose name the resolver refuses. It stands before all other proxies.
    let refused = Proxy::custom(|url| {
        let address = refused_address(url)?;
        Some(format!(
            "http://{}{REFUSED}",
            address.to_string().replace(':', "-")
        ))
    });
    builder
        .default_headers(headers)
        .dns_resolver(Arc::new(Resolver))
        .proxy(refused)
}

/// Resolves names as the system does, without the addresses that are refused.
struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str();
            if let Some(address) = name.strip_suffix(REFUSED) {
                return Err(Refused::new(address.replace('-', ":")).into());
            }
            let found = tokio::net::lookup_host((name, 0)).await?;
            let addresses: Addrs = Box::new(permitted(name, found)?.into_iter());
            Ok(addresses)
        })
    }
}

/// Connects to a host that a tenant chooses, for protocols other than HTTP.
pub(crate) async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host((host, port)).await?;
    let permitted = permitted(host, found).map_err(io::Error::other)?;
    TcpStream::connect(permitted.as_slice()).await
}
