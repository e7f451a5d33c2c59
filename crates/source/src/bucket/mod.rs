//! Buckets of objects.
//!
//! ```text
//!   list keys and entity tags ─▶ Index ─▶ revision ─▶ changed? ─▶ GET each key ─▶ directory
//! ```
//!
//! [`index`] lists a bucket into an [`Index`], whose digest is the revision: a poll that finds nothing new fetches no object but
//! the ignore file. [`download`] fetches what is listed. What a bucket is, a [`Store`] says; [`s3`], [`gcs`] and [`azure`] are some.

mod answer;
pub mod azure;
mod download;
pub mod gcs;
mod index;
pub mod s3;
mod store;
pub(crate) mod xml;

pub use download::{PARALLEL, download};
pub use index::{Index, index};
pub use store::{Error, Object, Page, Store};
