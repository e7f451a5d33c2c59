//! Checks that are parsed when they are needed.

use std::sync::OnceLock;

use jiff::Timestamp;
use model::health::State;
use model::object_key::split_api_version;
use model::{Health, Value};

use super::super::object::Object;
use super::{Check, Checks, Error, Work};

/// Checks that are parsed when the first object is assessed. Parsing takes time: it then happens where expressions are evaluated, and not where
/// somebody only describes what they are.
#[derive(Debug)]
pub struct LazyChecks {
    checks: Vec<Check>,
    parsed: OnceLock<Result<Checks, Error>>,
}

impl LazyChecks {
    /// Creates checks without parsing them.
    pub fn new(checks: Vec<Check>) -> Self {
        LazyChecks {
            checks,
            parsed: OnceLock::new(),
        }
    }

    /// Returns whether a check is for objects of this kind.
    pub fn has(&self, group: &str, kind: &str) -> bool {
        self.checks.iter().any(|check| {
            let is_group = split_api_version(&check.api_version).0 == group;
            is_group && (check.kind == kind || check.kind.is_empty())
        })
    }

    /// Assesses an object like [`Checks::assess_at`]. The health is unknown if the checks cannot be used.
    pub fn assess_at(&self, object: &Value, now: Timestamp) -> Option<Health> {
        self.assess_within(object, now, &mut Work::default())
    }

    /// Assesses an object like [`Checks::assess_within`].
    pub fn assess_within(&self, object: &Value, now: Timestamp, work: &mut Work) -> Option<Health> {
        let (group, kind) = Object(object).group_kind();
        if !self.has(group, kind) {
            return None;
        }
        match self.parsed.get_or_init(|| Checks::new(&self.checks)) {
            Ok(checks) => checks.assess_within(object, now, work),
            Err(error) => Some(Health::because(State::Unknown, error.to_string())),
        }
    }
}
