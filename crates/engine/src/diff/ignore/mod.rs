//! What of an object may differ without being put right.
//!
//! A rule names fields by JSON pointers, by [expressions](super::expression) in the manner of jq, or by the managers that own
//! them, and the objects it is for. Ignored fields are left out of the comparison. When an object is applied because of
//! something else, [`IgnoreRules::settle`] keeps what the cluster has in them.

mod counterpart;
mod managed;
mod patterns;
mod settle;
mod target;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use model::object_key::split_api_version;
use model::selector;
use model::{Str, Value};
use serde::{Deserialize, Serialize};

use super::expression::{self, Expression};
use super::pointer::{self, Pointer};
use patterns::Budget;
use target::Matcher;
pub use target::Target;

/// How many rules an object may have.
pub const MOST_RULES: usize = 1_000;

/// Fields that are ignored, and of which objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IgnoreRule {
    /// Which objects; all where there is none.
    pub target: Option<Target>,
    /// JSON pointers: `/spec/replicas`.
    pub paths: Vec<String>,
    /// Expressions: `.spec.template.spec.containers[] | select(.name == "sidecar")`.
    pub expressions: Vec<String>,
    /// Managers: what they own and what differs is ignored.
    pub managers: Vec<String>,
}

/// Rules that were read, and are read only once. They are equal if they were written in the same way. They are stored as they
/// were written, without the kind that they are [only for](IgnoreRules::only_for).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<IgnoreRule>", into = "Vec<IgnoreRule>")]
pub struct IgnoreRules {
    rules: Vec<Arc<Rule>>,
}

#[derive(Clone, Debug)]
struct Rule {
    /// What it was read from.
    written: IgnoreRule,
    /// The group and kind that it is for, whatever its target says.
    only: Option<(Str, Str)>,
    matcher: Matcher,
    pointers: Vec<Pointer>,
    expressions: Vec<Expression>,
    managers: Vec<String>,
}

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A field of a target is no regular expression.
    #[error("the {what} {text:?} of an ignore rule is no regular expression")]
    Pattern {
        /// Which field.
        what: &'static str,
        /// What it holds.
        text: String,
        /// Why not.
        source: model::regexp::Error,
    },
    /// There are more rules than an object may have.
    #[error("there are {count} ignore rules, and at most {MOST_RULES} can be used: remove some")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// The patterns of targets take too much memory.
    #[error(
        "the patterns of targets need more memory than an object may use ([{at}].target.{what} is the first beyond that): use fewer or \
         simpler patterns"
    )]
    TooLarge {
        /// Which rule.
        at: usize,
        /// Which field of its target.
        what: &'static str,
    },
    /// A selector of a target cannot be read.
    #[error("the {what} selector {text:?} of an ignore rule cannot be read")]
    Selector {
        /// Of labels or annotations.
        what: &'static str,
        /// What it holds.
        text: String,
        /// Why not.
        source: selector::Error,
    },
    /// A path is no JSON pointer.
    #[error("a path of an ignore rule cannot be used")]
    Pointer(#[from] pointer::Error),
    /// An expression cannot be read.
    #[error("the expression {text:?} of an ignore rule cannot be used")]
    Expression {
        /// The expression.
        text: String,
        /// Why not.
        source: expression::Error,
    },
}

impl Error {
    /// Whether the rules are more than an object may have.
    pub fn is_limit(&self) -> bool {
        matches!(self, Error::TooMany { .. } | Error::TooLarge { .. })
    }
}

impl IgnoreRules {
    /// Reads rules. The time and memory that this takes are bounded, but reading is still work for a thread that nothing else waits
    /// for, where the rules are those of others: see [`Evaluations`](crate::health::Evaluations).
    ///
    /// # Errors
    /// The first thing that cannot be read, and rules that are too many or too large.
    pub fn new(rules: &[IgnoreRule]) -> Result<Self, Error> {
        if rules.len() > MOST_RULES {
            return Err(Error::TooMany { count: rules.len() });
        }
        let mut budget = Budget::default();
        let rules = rules.iter().enumerate();
        let rules: Result<_, _> = rules
            .map(|(at, rule)| Rule::new(at, rule, &mut budget).map(Arc::new))
            .collect();
        Ok(IgnoreRules { rules: rules? })
    }

    /// These rules and others.
    #[must_use]
    pub fn and(mut self, others: &IgnoreRules) -> Self {
        self.rules.extend(others.rules.iter().cloned());
        self
    }

    /// The same rules for objects of one kind alone.
    #[must_use]
    pub fn only_for(mut self, group: &str, kind: &str) -> Self {
        for rule in &mut self.rules {
            Arc::make_mut(rule).only = Some((group.into(), kind.into()));
        }
        self
    }

    /// Whether nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Removes ignored fields from both objects, so that they do not differ in them. Targets are looked for in `merged`.
    pub fn strip(&self, live: &mut Value, merged: &mut Value) {
        let matching: Vec<&Rule> = self.matching(merged).collect();
        for rule in matching {
            for manager in &rule.managers {
                managed::strip(manager, live, merged);
            }
            for object in [&mut *live, &mut *merged] {
                for pointer in &rule.pointers {
                    pointer.remove(object);
                }
                for expression in &rule.expressions {
                    // From the end, as the places of list elements after a removed one change.
                    for place in expression.paths(object).iter().rev() {
                        place.remove(object);
                    }
                }
            }
        }
    }

    /// Whether all of an object is ignored, so that it may also be missing: a path of its rules is empty.
    pub fn excludes(&self, object: &Value) -> bool {
        let mut matching = self.matching(object);
        matching.any(|rule| {
            rule.pointers
                .iter()
                .any(|pointer| pointer.steps().next().is_none())
        })
    }

    fn matching<'r>(&'r self, object: &Value) -> impl Iterator<Item = &'r Rule> {
        self.rules
            .iter()
            .map(|rule| &**rule)
            .filter(|rule| rule.is_for(object) && rule.matcher.matches(object))
    }
}

impl TryFrom<Vec<IgnoreRule>> for IgnoreRules {
    type Error = Error;

    fn try_from(rules: Vec<IgnoreRule>) -> Result<Self, Error> {
        IgnoreRules::new(&rules)
    }
}

impl From<IgnoreRules> for Vec<IgnoreRule> {
    fn from(rules: IgnoreRules) -> Self {
        rules.rules.iter().map(|rule| rule.written.clone()).collect()
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        (&self.written, &self.only) == (&other.written, &other.only)
    }
}

impl Eq for Rule {}

impl Hash for Rule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.written, &self.only).hash(state);
    }
}

impl Rule {
    fn new(at: usize, rule: &IgnoreRule, budget: &mut Budget) -> Result<Self, Error> {
        let target = rule.target.as_ref();
        let matcher = target
            .map(|target| Matcher::new(at, target, budget))
            .transpose()?;
        let pointers: Result<_, _> = rule.paths.iter().map(|path| Pointer::read(path)).collect();
        let expressions: Result<_, _> = rule
            .expressions
            .iter()
            .map(|text| {
                Expression::read(text).map_err(|source| Error::Expression {
                    text: text.clone(),
                    source,
                })
            })
            .collect();
        Ok(Rule {
            written: rule.clone(),
            only: None,
            matcher: matcher.unwrap_or_default(),
            pointers: pointers?,
            expressions: expressions?,
            managers: rule.managers.clone(),
        })
    }

    fn is_for(&self, object: &Value) -> bool {
        self.only.as_ref().is_none_or(|(group, kind)| {
            let (of, _) = split_api_version(object.str_at(&["apiVersion"]));
            of == *group && object.str_at(&["kind"]) == kind.as_str()
        })
    }
}
