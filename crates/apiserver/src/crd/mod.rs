//! Custom resources: what a CustomResourceDefinition says, and how objects of such kinds are read, completed, prepared
//! and checked, as the real server (v1.35) does it.
//!
//! Everything here is pure: it works on a [`model::Value`]. A definition that was defaulted is checked by
//! [`Definition::compile`], or by [`check::update`] where there is an old one; [`conditions`] gives it its names. Each
//! [`Version`] of it is the [`Strategy`](crate::strategy::Strategy) of its objects.

pub(crate) mod cel;
pub mod check;
mod columns;
mod default;
mod definition;
mod embedded;
mod lists;
mod path;
mod prune;
mod scale;
mod schema;
mod status;
mod strategy;
mod validate;

pub use definition::{Conversion, Definition, Names, Shared, Version};
pub use scale::Scale;
pub use status::{conditions, is_true};
