//! Helm repositories and charts.
//!
//! ```text
//!   Repository ─▶ Index ─▶ pick ─▶ archive ─┐
//!   Registry (OCI) ───────▶ archive ────────┼─▶ build: values files, version metadata, dependencies ─▶ <name>-<version>.tgz
//!   Tree of a Git or bucket source ─────────┘
//! ```
//!
//! [`repository`] fetches, [`index`] finds versions without holding the index in memory, [`chart`] reads and packs charts, and
//! [`build`] makes of all that what a HelmChart stores. Where no change was asked for, an archive is handed on byte by byte.

pub mod address;
pub mod artifact;
pub mod build;
pub mod chart;
pub mod dependencies;
pub mod fetcher;
pub mod index;
pub mod registry;
pub mod repository;

pub use fetcher::{ChartFetcher, FetchError, Found, NoRepositories, Repositories, Verified};
pub use index::Index;
pub use registry::Registry;
pub use repository::Repository;
