//! Helm charts and values to manifests, as Helm renders them; releases, and what to do next with them.
//!
//! ```text
//!   files ─▶ chart ─┐
//!   given values ───┴─▶ dependencies ─▶ values::coalesce ─▶ schema ─▶ render ─▶ manifest ─▶ print
//!                       └───────────────────────── release ──────────────────────────┘
//! ```
//!
//! [`chart`] reads and packs charts, [`release::render`] makes of a chart and values everything a release consists of, and
//! [`print::template`] prints that as `helm template` does. [`record`] has releases as Helm stores them, and [`decision::determine`] and
//! [`decision::decide`] tell what to do next with one. This crate does no I/O and reads no clock: time, randomness and names come
//! from a [`gotemplate::World`], objects of a cluster from a [`render::Lookup`], what is stored is handed in.

mod cache;
pub mod capabilities;
pub mod chart;
pub mod crds;
pub mod decision;
pub mod dependencies;
pub mod digest;
pub mod hooks;
pub mod inventory;
pub mod manifest;
pub mod ownership;
pub mod print;
pub mod ready;
pub mod record;
pub mod release;
pub mod render;
pub mod schema;
pub mod values;
mod version;

pub use version::HelmVersion;
