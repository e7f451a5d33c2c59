//! A Git server: repositories in memory, served over smart HTTP and over SSH.
//!
//! ```
//! use testkit::git;
//!
//! let server = git::Server::start();
//! let repository = server.repository("team/app");
//! let first = repository.commit("main", "Start", [("app.yaml", "replicas: 1\n")]);
//! repository.tag("v1.0.0", first);
//! println!("git clone {}", server.clone_url("team/app"));
//! assert_eq!(repository.read("main", "app.yaml").as_deref(), Some("replicas: 1\n"));
//! ```
//!
//! Objects, packs and the protocol are those of the crate `gitserver`, so that no `git` program is needed. Where there is one,
//! [`Backend`] serves what it has made.

mod backend;
mod server;
mod ssh;

pub use backend::Backend;
pub use gitserver::{
    Change, Id, Kind, Mode, Object, PackFault, Person, Policy, Push, Repository, Stats, Tag,
};
pub use server::{Git, Server};
pub use ssh::{KeyKind, KeyPair, SshBuilder, SshServer};
