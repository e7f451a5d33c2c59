//! An OCI registry in memory, as the distribution specification 1.1 has it.
//!
//! ```
//! use testkit::oci::{Artifact, Registry, Server};
//!
//! let registry = Server::start();
//! let digest = registry.push("team/app", "1.0.0", &Artifact::files(&[("app.yaml", "replicas: 1\n")]));
//! registry.attach("team/app", &digest, &Artifact::empty("application/example.signature").layer("text/plain", "signed"));
//! assert_eq!(registry.digest("team/app", "1.0.0"), Some(digest));
//! println!("oci://{}/team/app:1.0.0", registry.host());
//! ```

mod artifact;
mod auth;
mod blobs;
mod digest;
mod failure;
mod manifests;
mod name;
mod push;
mod referrers;
mod registry;
mod store;
mod tags;
mod uploads;

pub use artifact::Artifact;
pub use registry::{Referrers, Registry, Server};
