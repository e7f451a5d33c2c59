//! What tests stand on: real servers of the protocols that Sluice speaks, in this process and on loopback ports, a
//! clock that moves by hand, waiting without sleeping, and snapshot filters. For development only: nothing that ships
//! depends on it.
//!
//! Every server starts in one call, stops when it is dropped, runs on a thread of its own (so that blocking tests can
//! use it too) and counts its requests. Start reading at the module of the protocol you need.

pub mod archive;
pub mod azure;
pub mod clock;
pub mod cluster;
pub mod digest;
pub mod gcp;
pub mod git;
pub mod helm;
pub mod http;
pub mod oci;
pub mod program;
pub mod s3;
pub mod settled;
pub mod sigstore;
pub mod snapshot;
pub mod tls;

/// How long a test waits for what must come. It is no bound on how soon that is: a machine that builds something else beside
/// the tests keeps it, too.
pub const DEADLINE: std::time::Duration = std::time::Duration::from_secs(180);

pub use clock::Clock;
pub use cluster::Cluster;
pub use settled::settled;
