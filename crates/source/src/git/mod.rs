//! Git repositories: over HTTP and SSH, by branch, tag, version, name or commit, to a tree of files.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use source::git::{Cache, Outcome, Reference, Remote, Request, Settings};
//!
//! let cache = Cache::open("/data/git")?;
//! let settings = Settings::new("https://example.com/team/app.git".parse()?);
//! let request = Request { reference: Reference::branch("main"), ..Request::default() };
//! match Remote::new(settings, cache).fetch(&request).await? {
//!     Outcome::Fetched(checkout) => println!("{}: {}", checkout.revision, checkout.commit.short_message()),
//!     Outcome::Unchanged(revision) => println!("still {revision}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Nothing is checked out: a [`Checkout`] reads files from the object database that is kept in a [`Cache`], and a second
//! fetch transfers only what changed since the first.

mod auth;
mod cache;
mod checkout;
mod commit;
mod error;
pub mod github_app;
mod kept;
mod listing;
mod memory;
mod name;
mod objects;
mod obtain;
mod protocol;
mod quota;
mod receive;
mod reference;
mod refs;
mod remote;
mod scan;
mod settings;
pub mod signature;
mod slot;
mod submodule;
mod transport;
mod url;
mod versions;
mod walk;

pub use auth::{Auth, SshAuth};
pub use cache::{Cache, Mirror};
pub use checkout::Checkout;
pub use commit::{Commit, Person, Tag};
pub use error::{Cause, Error};
pub use gix_hash::ObjectId;
pub use quota::DiskLimits;
pub use reference::{DEFAULT_BRANCH, Reference, Selector, Target};
pub use refs::Ref;
pub use remote::{Outcome, Remote, Request};
pub use settings::{Limits, Settings};
pub use transport::{SshAlgorithms, UnknownAlgorithms};
pub use url::{Scheme, Url, UrlError};
