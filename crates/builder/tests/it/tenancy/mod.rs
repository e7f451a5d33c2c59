//! What the owner of the files of a build must not get from it.

mod deadlines;
mod destinations;
mod identity;
mod sizes;
