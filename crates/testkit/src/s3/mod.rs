//! An S3-compatible store: buckets in memory, with signatures (AWS Signature Version 4) really checked.
//!
//! ```
//! use testkit::s3::Server;
//!
//! let store = Server::builder().key("access", "secret").start();
//! let bucket = store.bucket("manifests");
//! bucket.put("apps/app.yaml", "replicas: 1\n");
//! assert_eq!(bucket.keys(), ["apps/app.yaml"]);
//! println!("endpoint {}, region us-east-1", store.url());
//! ```

mod bucket;
mod chunked;
mod failure;
mod identity;
mod list;
mod object;
mod request;
mod signature;
mod store;
mod sts;
mod xml;

pub use bucket::Bucket;
pub use identity::Key;
pub use store::{Server, Store};
