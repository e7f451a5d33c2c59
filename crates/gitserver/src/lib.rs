//! Git repositories in memory, and the smart protocol that they are read and pushed by.
//!
//! ```
//! let repositories = gitserver::Repositories::new();
//! let repository = repositories.repository("team/app");
//! repository.commit("main", "Start", [("app.yaml", "replicas: 1\n")]);
//! assert_eq!(repository.read("main", "app.yaml").as_deref(), Some("replicas: 1\n"));
//! ```
//!
//! A [`Session`] is bytes in and bytes out, whatever carries it; [`Repositories::answer`] is the protocol over HTTP, without a
//! connection; [`Repositories::serve`] answers on one.

mod change;
mod fault;
mod object;
mod pack;
mod person;
mod pktline;
mod reach;
mod receive;
mod repositories;
mod repository;
mod serve;
mod session;
mod smart_http;
mod snapshot;
mod store;
mod tag;
mod tree;
mod upload;

pub use change::Change;
pub use fault::PackFault;
pub use object::{Id, Kind, NotAnId, Object};
pub use person::Person;
pub use receive::{Hook, Policy, Push};
pub use repositories::Repositories;
pub use repository::{Repository, Stats};
pub use session::{Service, Session, Span, greeting};
pub use smart_http::Access;
pub use snapshot::{BadPath, File, Snapshot};
pub use tag::Tag;
pub use tree::Mode;
pub use upload::Version;
