//! When a release was made and what became of it.

use super::{Status, Time};

/// What is known about a release beside its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// When the first version was made.
    pub first_deployed: Option<Time>,
    /// When this version was made.
    pub last_deployed: Option<Time>,
    /// When it was uninstalled.
    pub deleted: Option<Time>,
    /// A sentence for people.
    pub description: String,
    /// What became of it.
    pub status: Status,
    /// What `NOTES.txt` says.
    pub notes: String,
}
