//! Looks up the names of servers and proxies.

use std::net::SocketAddr;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use reach::guard;
use tower::{BoxError, Service};

/// How names become addresses.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// As the system does it.
    All,
    /// Without the addresses that tenants must not reach.
    Guarded,
}

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let names = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses = match names {
                Names::All => found.collect(),
                Names::Guarded => guard::permitted(name.as_str(), found)?,
            };
            Ok(addresses.into_iter())
        })
    }
}
