//! What of Azure sources meet: Blob Storage, with the signatures of account keys really checked, and the directory that gives
//! tokens to applications.
//!
//! ```
//! use testkit::azure::Server;
//!
//! let blobs = Server::builder().sas("sv=2023&sig=abc").start();
//! blobs.put("manifests", "apps/app.yaml", "replicas: 1\n");
//! println!("endpoint {}", blobs.url());
//! ```

mod blobs;
mod directory;
mod shared_key;

pub use blobs::{Blobs, Server};
pub use directory::{Certificate, assertion_of, directory};
