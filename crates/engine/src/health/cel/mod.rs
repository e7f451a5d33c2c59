//! Health by expressions in CEL: the `healthCheckExprs` of Flux.
//!
//! A check is for a group and kind, or for all kinds of a group that have none of their own. An object whose controller has
//! not seen its newest generation is in progress; then the expressions `inProgress`, `failed` and `current` are asked, in this
//! order, and the first that holds tells. An object of which none holds is in progress.
//!
//! The object's top-level fields are the variables. An expression that cannot be evaluated leaves the health unknown, and says why in words
//! that hold no value of the object: it may be a Secret.
//!
//! Who writes an expression need not be who runs the process. The work of all expressions about an object together is bounded
//! (see [`Work`]), and evaluating them is still work for a thread that nothing else waits for: see
//! [`Evaluations`](super::Evaluations).

mod budget;
mod evaluator;
mod expression;
mod functions;
mod lazy;
mod lexer;
mod limits;
mod pay;
mod predicate;
mod prepare;
mod value;

use std::collections::HashMap;

use jiff::Timestamp;
use model::health::State;
use model::object_key::split_api_version;
use model::{Health, Value};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

pub use budget::Work;
pub use lazy::LazyChecks;
pub use limits::{TooMany, check_amount};
pub use predicate::Predicate;

use super::object::Object;
use budget::Allowance;
use evaluator::Evaluator;
use expression::Expression;
use limits::on_large_stack;

/// The expressions for objects of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Check {
    /// The group and version; only the group counts.
    pub api_version: String,
    /// The kind; all of the group where it is empty.
    pub kind: String,
    /// Holds where the object is as it should be. Must be there.
    pub current: String,
    /// Holds where the object is on its way. May be empty.
    pub in_progress: String,
    /// Holds where the object has failed. May be empty.
    pub failed: String,
}

impl Check {
    /// The expressions that are there.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.current, &self.in_progress, &self.failed];
        texts
            .into_iter()
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    }
}

/// Checks that were read, by group and kind.
pub struct Checks {
    by_kind: HashMap<(String, String), Expressions>,
    evaluator: Evaluator,
    allowance: Mutex<Allowance>,
}

const USED_UP: &str = "the CEL expressions for objects of this kind take too long: make them simpler";

struct Expressions {
    in_progress: Option<Expression>,
    failed: Option<Expression>,
    current: Expression,
}

/// Why checks cannot be used. The texts are those that Flux reports with the reason `InvalidCELExpression`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are more expressions than an object may have.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    /// Two checks are for the same kind.
    #[error("duplicate custom health check for GroupKind {kind} at healthchecks[{at}]")]
    Duplicate {
        /// The kind, with its group.
        kind: String,
        /// Which check.
        at: usize,
    },
    /// The expression that must be there is not.
    #[error(
        "failed to create custom status evaluator for healthchecks[{at}]: expression Current not specified"
    )]
    NoCurrent {
        /// Which check.
        at: usize,
    },
    /// An expression cannot be read.
    #[error(
        "failed to create custom status evaluator for healthchecks[{at}]: failed to parse the expression {name}: failed to parse the CEL expression '{text}': {problem}"
    )]
    Syntax {
        /// Which check.
        at: usize,
        /// Which of its expressions.
        name: &'static str,
        /// The expression.
        text: String,
        /// What is wrong.
        problem: String,
    },
}

impl Checks {
    /// Reads checks.
    ///
    /// # Errors
    /// The first check that cannot be used.
    pub fn new(checks: &[Check]) -> Result<Self, Error> {
        check_amount(checks.iter().flat_map(Check::texts))?;
        let mut by_kind = HashMap::with_capacity(checks.len());
        for (at, check) in checks.iter().enumerate() {
            let (group, _) = split_api_version(&check.api_version);
            let key = (group.to_owned(), check.kind.clone());
            if by_kind.contains_key(&key) {
                let kind = match group {
                    "" => check.kind.clone(),
                    group => format!("{}.{group}", check.kind),
                };
                return Err(Error::Duplicate { kind, at });
            }
            by_kind.insert(key, on_large_stack(|| Expressions::read(check, at))?);
        }
        Ok(Checks {
            by_kind,
            evaluator: Evaluator::default(),
            allowance: Mutex::default(),
        })
    }

    /// Whether a check is for objects of this kind.
    pub fn has(&self, group: &str, kind: &str) -> bool {
        let has = |kind: &str| self.by_kind.contains_key(&(group.to_owned(), kind.to_owned()));
        has(kind) || has("")
    }

    /// How an object is doing, if a check is for it.
    pub fn assess(&self, object: &Value) -> Option<Health> {
        let expressions = self.find(object)?;
        Some(expressions.assess(object, &self.evaluator, &mut Work::default()))
    }

    /// The same for one of many objects. All of a kind are assessed one after another, also those of others: expressions that take long for
    /// many of them are not evaluated for the rest until some time has passed.
    pub fn assess_at(&self, object: &Value, now: Timestamp) -> Option<Health> {
        self.assess_within(object, now, &mut Work::default())
    }

    /// The same with the work that is left for the object: others of the same tenant are asked about it too.
    pub fn assess_within(&self, object: &Value, now: Timestamp, work: &mut Work) -> Option<Health> {
        let expressions = self.find(object)?;
        if self.allowance.lock().is_used_up(now) {
            return Some(Health::because(State::Unknown, USED_UP));
        }
        let before = work.done();
        let health = expressions.assess(object, &self.evaluator, work);
        self.allowance.lock().take(work.done() - before);
        Some(health)
    }

    fn find(&self, object: &Value) -> Option<&Expressions> {
        let (group, kind) = Object(object).group_kind();
        let find = |kind: &str| self.by_kind.get(&(group.to_owned(), kind.to_owned()));
        find(kind).or_else(|| find(""))
    }
}

impl Expressions {
    fn read(check: &Check, at: usize) -> Result<Self, Error> {
        if check.current.is_empty() {
            return Err(Error::NoCurrent { at });
        }
        let read = |name, text: &str| {
            Expression::read(text).map_err(|problem| Error::Syntax {
                at,
                name,
                text: text.to_owned(),
                problem,
            })
        };
        let optional = |name, text: &str| match text {
            "" => Ok(None),
            text => read(name, text).map(Some),
        };
        Ok(Expressions {
            current: read("Current", &check.current)?,
            failed: optional("Failed", &check.failed)?,
            in_progress: optional("InProgress", &check.in_progress)?,
        })
    }

    fn assess(&self, object: &Value, evaluator: &Evaluator, work: &mut Work) -> Health {
        let generation = Object(object).int(&["metadata", "generation"]);
        let observed = Object(object).int(&["status", "observedGeneration"]);
        if let (Some(generation), Some(observed)) = (generation, observed)
            && generation != observed
        {
            return Health::new(State::Progressing);
        }
        on_large_stack(|| self.ask(object, evaluator, work))
    }

    /// Asks the expressions, in the order of Flux.
    fn ask(&self, object: &Value, evaluator: &Evaluator, work: &mut Work) -> Health {
        let about = evaluator.about(object, work);
        let order = [
            (self.in_progress.as_ref(), State::Progressing),
            (self.failed.as_ref(), State::Degraded),
            (Some(&self.current), State::Healthy),
        ];
        for (expression, state) in order {
            match expression.map(|expression| about.holds(expression, work)) {
                Some(Ok(true)) => return Health::new(state),
                Some(Err(message)) => return Health::because(State::Unknown, message),
                Some(Ok(false)) | None => {}
            }
        }
        Health::new(State::Progressing)
    }
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_set().entries(self.by_kind.keys()).finish()
    }
}
