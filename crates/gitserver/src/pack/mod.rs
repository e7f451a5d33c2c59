//! Packs: how objects travel.

mod delta;
mod read;
mod scan;
mod write;

pub(crate) use read::{Error, read};
pub(crate) use scan::Scanner;
pub(crate) use write::write;
