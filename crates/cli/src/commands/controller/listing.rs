//! All that is wrong, told at once.

use std::fmt::Display;

/// What hinders a start.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// What cannot be done.
    pub(super) what: String,
    /// Why, and what to do about it.
    pub(super) why: String,
}

impl Problems {
    /// Takes note of a problem.
    pub(super) fn add(&mut self, what: impl Into<String>, why: impl Display) {
        self.found.push(Problem {
            what: what.into(),
            why: why.to_string(),
        });
    }

    /// The value, or the note that there is none.
    pub(super) fn take<T, E: Display>(&mut self, what: &str, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(what, error);
                None
            }
        }
    }

    /// Whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Logs them all.
    pub(super) fn log(&self) {
        for problem in &self.found {
            tracing::error!(error = problem.why, "{}", problem.what);
        }
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let found = self.found.iter();
        found
            .map(|problem| format!("{}: {}", problem.what, problem.why))
            .collect()
    }
}
