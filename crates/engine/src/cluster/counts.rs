//! How many requests were sent.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// What is served.
    Discover,
    /// One object.
    Get,
    /// A page of objects.
    List,
    /// A stream of changes.
    Watch,
    /// A server-side apply.
    Apply,
    /// A server-side apply that changes nothing.
    DryRun,
    /// A new object.
    Create,
    /// A whole object in place of another.
    Replace,
    /// Some fields of an object.
    Patch,
    /// A deletion.
    Delete,
}

impl Verb {
    /// All of them.
    pub const ALL: [Verb; 10] = [
        Verb::Discover,
        Verb::Get,
        Verb::List,
        Verb::Watch,
        Verb::Apply,
        Verb::DryRun,
        Verb::Create,
        Verb::Replace,
        Verb::Patch,
        Verb::Delete,
    ];

    /// How many there are.
    pub(crate) const COUNT: usize = Verb::ALL.len();

    /// Whether how long it takes tells how busy the server is: what is asked is always about the same.
    pub(crate) fn is_even(self) -> bool {
        !matches!(self, Verb::Discover | Verb::List | Verb::Watch)
    }

    /// Whether a request that the server wants to see again later is sent again here. Lists and watches have a loop of
    /// their own around them.
    pub(crate) fn is_repeated(self) -> bool {
        !matches!(self, Verb::List | Verb::Watch)
    }
}

/// As people say it: `dry-run`.
impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Discover => "discover",
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Apply => "apply",
            Verb::DryRun => "dry-run",
            Verb::Create => "create",
            Verb::Replace => "replace",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
        })
    }
}

/// Counts requests as they are sent.
#[derive(Debug, Default)]
pub(super) struct Counters([AtomicU64; Verb::COUNT]);

impl Counters {
    pub(super) fn add(&self, verb: Verb) {
        self.0[verb as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn snapshot(&self) -> Counts {
        Counts(std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed)))
    }
}

/// How many requests there were at one time, or between two times, by verb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Verb::COUNT]);

impl Counts {
    /// Those of one verb.
    pub fn of(&self, verb: Verb) -> u64 {
        self.0[verb as usize]
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that came after an earlier count.
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts(std::array::from_fn(|at| self.0[at].saturating_sub(earlier.0[at])))
    }
}

/// `3 get, 1 apply`, or `none`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = Verb::ALL.into_iter().filter(|verb| self.of(*verb) > 0);
        let texts: Vec<String> = counted.map(|verb| format!("{} {verb}", self.of(verb))).collect();
        match texts.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&texts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_apart_by_verb_and_time() {
        let counters = Counters::default();
        counters.add(Verb::Get);
        let before = counters.snapshot();
        counters.add(Verb::Get);
        counters.add(Verb::DryRun);
        let after = counters.snapshot().since(&before);
        assert_eq!(
            (after.of(Verb::Get), after.of(Verb::Delete), after.total()),
            (1, 0, 2)
        );
        assert_eq!(after.to_string(), "1 get, 1 dry-run");
        assert_eq!(Counts::default().to_string(), "none");
    }
}
