//! The work that evaluations may do, counted while they do it.
//!
//! An evaluation pays for each step of a walk over a list or map, and for each value that is copied or handed to a function, by the
//! size of the value. Nothing reads a clock: the same expression on the same object always comes to the same end. All expressions of
//! a tenant about an object pay from one budget, so that many cheap ones cannot take longer than an expensive one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use kube_cel::cel::objects::{Key, OptionalValue};
use kube_cel::cel::{ExecutionError, Value};
use parking_lot::Mutex;
use regex::{Regex, RegexBuilder};

/// The work for one object: some tenths of a second. Expressions that people write need some thousands.
const BUDGET: u64 = 2_000_000;

/// The work of reading a regular expression, for each step of its size.
const READING: u64 = 10_000;

/// The sizes that regular expressions are tried with. Searching costs as much more as the size is larger: nothing else bounds the time of a
/// search in a long text.
const SIZES: [usize; 6] = [1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18];

/// How many regular expressions are kept.
const KEPT: usize = 32;

/// The size of a text that costs as much as a small value.
const TEXT: usize = 16;

/// The work that is left for an object. All evaluations about it in one run share it.
#[derive(Debug)]
pub struct Work(u64);

impl Default for Work {
    fn default() -> Self {
        Work(BUDGET)
    }
}

impl Work {
    /// The work that was done.
    pub(super) fn done(&self) -> u64 {
        BUDGET - self.0
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Work that costs nothing, for each object: what simple expressions need.
const FREE: u64 = 2_000;
/// Work for all objects together, beside what is free.
const ALLOWANCE: u64 = 20_000_000;
/// What is added to it in each second.
const EACH_SECOND: u64 = 1_000_000;

/// The work for all objects that the same expressions are asked about. It grows with time.
pub(super) struct Allowance {
    left: u64,
    since: Timestamp,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance {
            left: ALLOWANCE,
            since: Timestamp::MIN,
        }
    }
}

impl Allowance {
    /// Whether nothing is left at this time.
    pub(super) fn is_used_up(&mut self, now: Timestamp) -> bool {
        let seconds = u64::try_from(now.duration_since(self.since).as_secs()).unwrap_or_default();
        if seconds > 0 {
            self.left = seconds
                .saturating_mul(EACH_SECOND)
                .saturating_add(self.left)
                .min(ALLOWANCE);
            self.since = now;
        }
        self.left == 0
    }

    /// Takes work away that was done.
    pub(super) fn take(&mut self, done: u64) {
        self.left = self.left.saturating_sub(done.saturating_sub(FREE));
    }
}

/// What the functions of an evaluation pay from.
#[derive(Default)]
pub(super) struct Budget {
    left: AtomicU64,
    patterns: Mutex<HashMap<Arc<String>, (Regex, u64)>>,
}

impl Budget {
    /// Evaluates something with the work that is left; whether that was enough, and the result.
    pub(super) fn within<T>(&self, work: &mut Work, evaluate: impl FnOnce() -> T) -> (bool, T) {
        self.left.store(work.0, Ordering::Relaxed);
        let result = evaluate();
        work.0 = self.left.load(Ordering::Relaxed);
        (work.0 > 0, result)
    }

    /// Pays for work. From the first time that nothing is left everything fails: parts of expressions can hide an error from the rest.
    pub(super) fn spend(&self, units: u64) -> Result<(), ExecutionError> {
        let left = self.left.load(Ordering::Relaxed).saturating_sub(units.max(1));
        self.left.store(left, Ordering::Relaxed);
        match left {
            0 => Err(ExecutionError::function_error("", "the budget is spent")),
            _ => Ok(()),
        }
    }

    /// Pays for a value that is copied.
    pub(super) fn weigh(&self, value: &Value) -> Result<(), ExecutionError> {
        self.spend(weight(value))
    }

    /// A regular expression that was paid for, with the work of searching one byte.
    fn pattern(&self, text: &Arc<String>) -> Result<(Regex, u64), ExecutionError> {
        let mut patterns = self.patterns.lock();
        if let Some(known) = patterns.get(text) {
            return Ok(known.clone());
        }
        for size in SIZES {
            let each = (size / SIZES[0]) as u64;
            self.spend(READING * each)?;
            let mut builder = RegexBuilder::new(text);
            match builder.size_limit(size).dfa_size_limit(size).build() {
                Ok(regex) => {
                    if patterns.len() >= KEPT {
                        patterns.clear();
                    }
                    patterns.insert(Arc::clone(text), (regex.clone(), each));
                    return Ok((regex, each));
                }
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => return Err(ExecutionError::function_error("matches", "invalid pattern")),
            }
        }
        Err(ExecutionError::function_error(
            "matches",
            "the pattern is too large",
        ))
    }

    pub(super) fn matches(&self, text: &str, pattern: &Arc<String>) -> Result<bool, ExecutionError> {
        let pattern = self.paid(text, pattern)?;
        Ok(pattern.is_match(text))
    }

    fn paid(&self, text: &str, pattern: &Arc<String>) -> Result<Regex, ExecutionError> {
        let (regex, each) = self.pattern(pattern)?;
        self.spend((text.len() as u64 + 1).saturating_mul(each))?;
        Ok(regex)
    }
}

/// The weight of a text of this length.
pub(super) fn text_weight(length: u64) -> u64 {
    1 + length / TEXT as u64
}

/// The work of copying a value. Optional values are copied with what they hold.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::String(value) => text_weight(value.len() as u64),
        Value::Bytes(bytes) => text_weight(bytes.len() as u64),
        Value::List(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Map(map) => {
            let key = |key: &Key| match key {
                Key::String(key) => text_weight(key.len() as u64),
                _ => 1,
            };
            1 + map
                .map
                .iter()
                .map(|(name, value)| key(name) + weight(value))
                .sum::<u64>()
        }
        Value::Opaque(opaque) => {
            let optional = opaque.downcast_ref::<OptionalValue>();
            1 + optional.and_then(OptionalValue::value).map_or(0, weight)
        }
        _ => 1,
    }
}

/// How much work it is to hand an object to expressions.
pub(super) fn weight_of(value: &model::Value) -> u64 {
    let text = |length: usize| text_weight(length as u64);
    match value {
        model::Value::Str(value) => text(value.len()),
        model::Value::Array(items) => 1 + items.iter().map(weight_of).sum::<u64>(),
        model::Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(name, value)| text(name.len()) + weight_of(value));
            1 + entries.sum::<u64>()
        }
        _ => 1,
    }
}
