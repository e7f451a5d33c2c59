//! Why there is no plan.

use std::fmt;

use model::ObjectKey;

/// What the refusal of an empty build says to do. Programs with a setting for it can name that instead.
pub const ALLOW_EMPTY: &str = "allow an empty build if this is meant";

/// Why there is no plan, and nothing is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The server does not accept an object, or could not be asked.
    #[error("{}{key} {error}", Place(.origin))]
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
    /// An object has a name that an inventory would take for another's.
    #[error("{}{key} cannot be recorded: its inventory entry {entry:?} would be read as another object; give it another name", Place(.origin))]
    Unrecordable {
        /// Which.
        key: ObjectKey,
        /// Where it was read.
        origin: Option<String>,
        /// What it would be recorded as.
        entry: String,
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
    #[error("the build is empty and all {prunes} objects would be pruned: {ALLOW_EMPTY}")]
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

/// Where an object was read, before what is wrong with it: `apps/web.yaml:12: `.
struct Place<'a>(&'a Option<String>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(origin) => write!(f, "{origin}: "),
            None => Ok(()),
        }
    }
}
