//! The ground of the servers that speak HTTP: a listener on a thread of its own, TLS, credentials, a log of
//! requests and faults on demand. Any closure becomes a server too, such as the other end of a webhook:
//!
//! ```
//! use testkit::http::{Fault, Reply, Server};
//!
//! let hook = Server::serve(|request: &testkit::http::Request| Reply::text(format!("you asked for {}", request.path())));
//! hook.fail(Fault::status(503).times(2));
//! assert!(hook.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(hook.requests().len(), 0);
//! ```

mod access;
mod body;
mod client;
mod fault;
mod log;
mod range;
mod reply;
mod request;
mod server;
mod socks;
mod thread;
mod tunnel;

pub use access::Credential;
pub use client::{Client, Response};
pub use fault::Fault;
pub use log::Record;
pub use reply::{Content, Reply};
pub use request::Request;
pub use server::{Builder, Server, Service};
pub use socks::Socks;
pub use tunnel::Tunnel;

pub use http::{HeaderMap, Method, StatusCode};

pub(crate) use range::{ByteRange, is_unchanged};
pub(crate) use request::{percent_decode, query_pairs};
pub(crate) use thread::Thread;
