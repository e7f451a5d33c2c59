//! Helm charts and values to manifests, as Helm renders them.
//!
//! ```text
//!   files ─▶ chart ─┐
//!   given values ───┴─▶ dependencies ─▶ values::coalesce ─▶ schema ─▶ render ─▶ manifest ─▶ print
//!                       └───────────────────────── release ──────────────────────────┘
//! ```
//!
//! [`chart`] reads and packs charts, [`release::render`] makes of a chart and values everything a release consists of, and
//! [`print::template`] prints that as `helm template` does. This crate does no I/O and reads no clock: time, randomness and
//! names come from a [`gotemplate::World`], objects of a cluster from a [`render::Lookup`].

mod cache;
pub mod capabilities;
pub mod chart;
pub mod dependencies;
pub mod manifest;
pub mod print;
pub mod release;
pub mod render;
pub mod schema;
pub mod values;
mod version;

pub use version::HelmVersion;
