//! What of Google Cloud sources meet: Cloud Storage by its JSON interface, and the servers that give tokens.
//!
//! ```
//! use testkit::gcp::Server;
//!
//! let storage = Server::builder().bearer("good").start();
//! storage.put("manifests", "apps/app.yaml", "replicas: 1\n");
//! println!("endpoint {}", storage.host());
//! ```

mod account;
mod storage;
mod tokens;

pub use account::Account;
pub use storage::{Server, Storage};
pub use tokens::{EMAIL, SCOPES, acting, exchange, metadata};
