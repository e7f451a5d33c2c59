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
//! Objects, packs and both protocols (versions 0, 1 and 2) are written here, so that no `git` program is needed. Where there is one,
//! [`Backend`] serves what it has made.

mod backend;
mod change;
mod fault;
mod object;
mod pack;
mod person;
mod pktline;
mod reach;
mod receive;
mod repository;
mod server;
mod session;
mod ssh;
mod store;
mod tag;
mod tree;
mod upload;

pub use backend::Backend;
pub use change::Change;
pub use fault::PackFault;
pub use object::{Id, Kind, Object};
pub use person::Person;
pub use receive::{Policy, Push};
pub use repository::{Repository, Stats};
pub use server::{Git, Server};
pub use ssh::{KeyKind, KeyPair, SshBuilder, SshServer};
pub use tag::Tag;
pub use tree::Mode;
