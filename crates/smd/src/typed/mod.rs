//! What can be done with a value whose type is known: list its fields, check it, compare it, merge another into it,
//! and remove fields from it.
//!
//! All walks go down the value and its type side by side. Depth is bounded by the value's own, which is bounded where
//! it is read ([`model::json::MAX_DEPTH`]).

mod atom;
mod compare;
mod extract;
mod fields;
mod item;
mod merge;
mod merge_list;
mod named;
mod reconcile;
mod remove;
mod validate;
mod zero;

pub use atom::TypeRef;
pub(crate) use atom::{Atom, ListAtom, MapAtom, ScalarKind};
pub use compare::Comparison;
pub use validate::{Duplicates, Problem, Problems};
