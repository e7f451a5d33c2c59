//! Why there is no plan.

use model::ObjectKey;

/// Why there is no plan, and nothing is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The server does not accept an object, or could not be asked.
    #[error("{key} {error}")]
    Rejected {
        /// Which.
        key: ObjectKey,
        /// Where it was read.
        origin: Option<String>,
        /// What went wrong, to be read after the object's name.
        error: String,
        /// Whether it is a field that cannot be changed, which `force` would recreate the object for.
        immutable: bool,
    },
    /// More would be pruned than the budget allows.
    #[error(
        "{prunes} of {total} objects would be pruned, but the budget allows {allowed}: raise it if this is meant"
    )]
    Budget {
        /// How many would be pruned.
        prunes: usize,
        /// How many there were.
        total: usize,
        /// How many may be.
        allowed: usize,
    },
    /// Nothing was built, and everything would be pruned.
    #[error(
        "the build is empty and all {prunes} objects would be pruned: allow an empty build if this is meant"
    )]
    Empty {
        /// How many would be pruned.
        prunes: usize,
    },
    /// Another owner has the object, and the unit does not take objects from others.
    #[error("{key} belongs to {owner} already")]
    Shared {
        /// Which.
        key: ObjectKey,
        /// Whose it is.
        owner: String,
    },
}
